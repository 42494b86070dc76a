//! Which port the server listens on: the one that is asked for, or the next to the usual one that is free.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};

use cobalt::config::{Config, DashboardSettings};

use super::running;
use crate::error::{CommandError, Error};

/// How many ports are tried above the usual one.
const FURTHER: u16 = 9;

#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error(
        "failed to listen on {address}: {source}; name another port with `--port` or `dashboard.port`, or 0 for any that is \
         free"
    )]
    Failed { address: SocketAddr, source: io::Error },

    #[error(
        "failed to listen on {0}, as another program does; name another port with `--port` or `dashboard.port`, or 0 for \
         any that is free"
    )]
    PortTaken(SocketAddr),
}

impl CommandError for ListenError {}

/// Who listens.
#[derive(Debug)]
pub(super) enum Listening {
    /// This process.
    Here(TcpListener),
    /// The server of this project that runs already, at this address.
    Already(String),
}

/// Listens on a host: on the port that was asked for, else on the usual one or another near it, which is told. Where the project's
/// own server will do that this machine asks without a token, that is named.
pub(super) fn listen(
    settings: &Config,
    host: IpAddr,
    port: Option<u16>,
    another_will_do: bool,
) -> Result<Listening, Error> {
    let another_will_do = another_will_do && host.is_loopback();
    match port {
        Some(port) => on(settings, SocketAddr::new(host, port), another_will_do),
        None => near_the_usual(settings, host, another_will_do),
    }
}

fn on(settings: &Config, address: SocketAddr, another_will_do: bool) -> Result<Listening, Error> {
    if let Some(listener) = bind(address)? {
        return Ok(Listening::Here(listener));
    }
    let url = format!("http://{address}");
    match another_will_do && running::answers(settings, &url) {
        true => Ok(Listening::Already(url)),
        false => Err(ListenError::PortTaken(address).into()),
    }
}

fn near_the_usual(settings: &Config, host: IpAddr, another_will_do: bool) -> Result<Listening, Error> {
    if another_will_do && let Some(url) = running::find(settings) {
        return Ok(Listening::Already(url));
    }
    let usual = SocketAddr::new(host, DashboardSettings::DEFAULT_PORT);
    let listener = from(usual)?.ok_or(ListenError::PortTaken(usual))?;
    let port = listener.local_addr().map_err(Error::Server)?.port();
    if port != usual.port() {
        eprintln!("port {} is taken by another program; this is on {port}", usual.port());
    }
    Ok(Listening::Here(listener))
}

/// Listens on a port or one of the next, the first that is free.
fn from(usual: SocketAddr) -> Result<Option<TcpListener>, ListenError> {
    for port in usual.port()..=usual.port().saturating_add(FURTHER) {
        if let Some(listener) = bind(SocketAddr::new(usual.ip(), port))? {
            return Ok(Some(listener));
        }
    }
    Ok(None)
}

/// Listens, unless another program does.
fn bind(address: SocketAddr) -> Result<Option<TcpListener>, ListenError> {
    match TcpListener::bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
        Err(source) => Err(ListenError::Failed { address, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_port_is_taken_the_next_that_is_free_is_listened_on() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let usual = taken.local_addr().unwrap();
        let next = from(usual).unwrap().unwrap().local_addr().unwrap();
        let further = usual.port()..=usual.port().saturating_add(FURTHER);
        assert!(next.ip() == usual.ip() && next != usual && further.contains(&next.port()), "{next}");
        drop(taken);
        assert_eq!(from(usual).unwrap().unwrap().local_addr().unwrap(), usual);
    }
}
