//! What may be typed, told in other forms than `--help`: completions of shells, pages for `man`, and Markdown.

mod completions;
mod man;
mod markdown;

use clap::{Command, CommandFactory};

pub(crate) use self::completions::completions;
pub(crate) use self::man::man;

use crate::cli::Cargo;

/// The command as a user sees it: `cargo cobalt`, with its subcommands below it.
pub(crate) fn command() -> Command {
    let cargo = Cargo::command();
    let cobalt = cargo.get_subcommands().next().expect("`cargo` has the one command `cobalt`");
    cobalt.clone().name("cargo-cobalt").bin_name("cargo cobalt").display_name("cargo-cobalt")
}
