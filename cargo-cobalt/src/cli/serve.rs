//! Command-line definition of `cargo cobalt serve` and `mcp`, and of the commands about the command itself: `completions`, `man` and
//! `update`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::Settings;

#[derive(Debug, Args)]
pub struct Serve {
    /// The port to listen on; 0 takes any that is free [default: `dashboard.port` of cobalt.toml, or 4000 or the next that is free]
    #[arg(short, long, value_name = "PORT")]
    pub port: Option<u16>,

    /// The address to listen on; one that other machines reach is served to those who have the token alone
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: IpAddr,

    /// Does not open the browser
    ///
    /// Nor is it opened where `dashboard.open` of cobalt.toml is false, where stderr is no terminal, in CI, or where a token is
    /// needed. The variable `BROWSER` names another browser.
    #[arg(long)]
    pub no_open: bool,

    /// Prints the OpenAPI description of what is served, and serves nothing
    #[arg(long, exclusive = true)]
    pub openapi: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Mcp {
    /// The folder of a project; may be given more than once [default: the current folder]
    ///
    /// The roots that the assistant tells of are projects, too, where they are in one of cargo's.
    #[arg(long, value_name = "DIR")]
    pub project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Writes a page for each command into this folder, as into ~/.local/share/man/man1 [default: prints that of `cargo cobalt`]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Prints all of it as Markdown instead
    #[arg(long, conflicts_with = "dir")]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct Update {
    /// Writes nothing, and exits with 1 if something is out of date
    #[arg(long)]
    pub check: bool,
}
