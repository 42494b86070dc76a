//! What may be typed of the commands about the command itself: `cargo cobalt completions`, `man` and `update`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Writes a page for each command into this folder, as into ~/.local/share/man/man1 [default: prints that of `cargo cobalt`]
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Prints all of it as Markdown instead
    #[arg(long, conflicts_with = "dir")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Update {
    /// Writes nothing, and exits with 1 if something is out of date
    #[arg(long)]
    pub(crate) check: bool,
}
