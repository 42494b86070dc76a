//! Command-line definition of `cargo cobalt serve`, `mcp`, `completions`, `man` and `update`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::Settings;

#[derive(Debug, Args)]
pub struct Serve {
    /// Port to listen on; 0 picks a free port [default: `dashboard.port` in cobalt.toml, otherwise 4000 or the next free port]
    #[arg(short, long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Address to listen on; any address other than localhost requires a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: IpAddr,

    /// Do not open the browser
    ///
    /// The browser also stays closed if `dashboard.open` in cobalt.toml is false, if stderr is not a terminal, in CI, or if a token is
    /// needed. Set `BROWSER` to use another browser.
    #[arg(long)]
    pub no_open: bool,

    /// Let clients with the access token make changes and start runs
    ///
    /// On localhost without an access token, the page that `serve` opens, or whose link it prints, can always do so.
    #[arg(long, conflicts_with = "read_only")]
    pub allow_writes: bool,

    /// Let no client make changes or start runs
    #[arg(long)]
    pub read_only: bool,

    /// Show the runs of the team's remote store, read-only: that of cobalt.toml or COBALT_REMOTE, or the one at URL
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, conflicts_with = "allow_writes")]
    pub remote: Option<Option<String>>,

    /// Print the OpenAPI description of the API and exit
    #[arg(long, exclusive = true)]
    pub openapi: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Mcp {
    /// Project folder; can be repeated [default: the current folder]
    ///
    /// Roots sent by the assistant are added if they are in a Cargo project.
    #[arg(long, value_name = "DIR")]
    pub project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write one page per command into this folder, e.g. ~/.local/share/man/man1 [default: print the page of `cargo cobalt`]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Print the reference of all commands as Markdown instead
    #[arg(long, conflicts_with = "dir")]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct Update {
    /// Write nothing; exit with 1 if a file is out of date
    #[arg(long)]
    pub check: bool,
}
