//! What may be typed of `cargo cobalt serve`.

use std::net::IpAddr;

use clap::Args;

use super::Settings;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The port to listen on; 0 takes any that is free [default: `dashboard.port` of cobalt.toml, or 4000 or the next that is free]
    #[arg(short, long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// The address to listen on; one that other machines reach is served to those who have the token alone
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,

    /// Does not open the browser
    ///
    /// Nor is it opened where `dashboard.open` of cobalt.toml is false, where stderr is no terminal, in CI, or where a token is
    /// needed. The variable `BROWSER` names another browser.
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Prints the OpenAPI description of what is served, and serves nothing
    #[arg(long, exclusive = true)]
    pub(crate) openapi: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
