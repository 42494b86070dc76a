//! Which port the server listens on: the one that is asked for, or the next to the usual one that is free.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};

use cobalt::config::{Config, DashboardSettings};

use super::running;
use crate::error::Error;

/// How many ports are tried above the usual one.
const FURTHER: u16 = 9;

/// Who listens.
#[derive(Debug)]
pub(super) enum Listening {
    /// This process.
    Here(TcpListener),
    /// The server of this project that runs already, at this address.
    Already(String),
}

/// Listens on a host: on the port that was asked for, else on the usual one or another near it, which is told.
pub(super) fn listen(settings: &Config, host: IpAddr, port: Option<u16>) -> Result<Listening, Error> {
    match port {
        Some(port) => on(settings, SocketAddr::new(host, port)),
        None => near_the_usual(settings, host),
    }
}

fn on(settings: &Config, address: SocketAddr) -> Result<Listening, Error> {
    if let Some(listener) = bind(address)? {
        return Ok(Listening::Here(listener));
    }
    let url = format!("http://{address}");
    match address.ip().is_loopback() && running::answers(settings, &url) {
        true => Ok(Listening::Already(url)),
        false => Err(Error::PortTaken(address)),
    }
}

fn near_the_usual(settings: &Config, host: IpAddr) -> Result<Listening, Error> {
    if let Some(url) = running::find(settings).filter(|_| host.is_loopback()) {
        return Ok(Listening::Already(url));
    }
    let usual = DashboardSettings::DEFAULT_PORT;
    for port in usual..=usual + FURTHER {
        if let Some(listener) = bind(SocketAddr::new(host, port))? {
            if port != usual {
                eprintln!("port {usual} is taken by another program; this is on {port}");
            }
            return Ok(Listening::Here(listener));
        }
    }
    Err(Error::PortTaken(SocketAddr::new(host, usual)))
}

/// Listens, unless another program does.
fn bind(address: SocketAddr) -> Result<Option<TcpListener>, Error> {
    match TcpListener::bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
        Err(source) => Err(Error::Listen { address, source }),
    }
}
