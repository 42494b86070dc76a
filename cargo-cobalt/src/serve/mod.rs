//! `cargo cobalt serve`: the dashboard, and the API that it reads.
//!
//! A request passes the [`guard`], then goes to the [`page`] or to the [`api`], which asks the [`store`].

mod api;
mod guard;
mod live;
mod page;
mod server;
mod store;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use cobalt::config::Flags;

use self::guard::Guard;
use self::store::Store;
use crate::cli::Serve;
use crate::config::settings;
use crate::error::Error;
use crate::terminal::print_json;

/// The port, where nothing else is said.
const PORT: u16 = 4000;

pub(crate) fn serve(arguments: &Serve, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.openapi {
        print_json(&api::description())?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings = settings(flags)?;
    let address = SocketAddr::new(arguments.host, arguments.port.unwrap_or(PORT));
    let listener =
        std::net::TcpListener::bind(address).map_err(|source| Error::Listen { address, source })?;
    let address = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
    let store = Arc::new(Store::open(&settings)?);
    let url = format!("http://{address}");
    eprintln!("dashboard: {url}; Ctrl-C ends it");
    if !arguments.no_open {
        // Whoever has no browser reads the address.
        let _ = opener::open_browser(&url);
    }
    server::run(listener, store, Guard::of(address))?;
    Ok(ExitCode::SUCCESS)
}
