//! A server that listens, from its first word to its end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use cobalt::config::Config;
use cobalt::reporters::printable;
use cobalt::wording::count;

use super::guard::{Guard, Token};
use super::running::{Advertised, project_name};
use super::server;
use super::store::Store;
use crate::error::Error;

/// A server that listens, and answers once it runs.
pub(crate) struct Dashboard {
    listener: TcpListener,
    address: SocketAddr,
    store: Arc<Store>,
    guard: Guard,
    asked: Asked,
    settings: Config,
}

impl Dashboard {
    /// A server of the project's runs. Whoever asks needs a token where one is given, or where other machines can ask.
    pub(crate) fn of(settings: &Config, listener: TcpListener, given: Option<&str>) -> Result<Self, Error> {
        let address = listener.local_addr().map_err(Error::Server)?;
        let token = |text: &str| Some(Token::of(text, address.port()));
        let (token, asked) = match given {
            Some(text) => (token(text), Asked::GivenToken),
            None if address.ip().is_loopback() => (None, Asked::Nothing),
            None => {
                let text = Token::random()?;
                (token(&text), Asked::Token(text))
            }
        };
        let store = Arc::new(Store::open(settings)?);
        let guard = Guard::of(address, token);
        Ok(Self { listener, address, store, guard, asked, settings: settings.clone() })
    }

    /// Its address, where a browser needs no more than that. A token is never handed to a browser: other users of this machine
    /// can read what programs are started with.
    pub(crate) fn url(&self) -> Option<String> {
        matches!(self.asked, Asked::Nothing).then(|| url(self.address))
    }

    /// Says where it is to be found.
    pub(crate) fn announce(&self) -> Result<(), Error> {
        let runs = self.store.count()?;
        eprintln!("{}", announcement(&self.settings, runs, self.address, &self.asked));
        Ok(())
    }

    /// Answers until this program is asked to end.
    pub(crate) fn run(self) -> Result<(), Error> {
        let advertised = self.url().map(|url| Advertised::at(&self.settings, &url));
        if let Some(Err(error)) = &advertised {
            eprintln!("warning: `cargo cobalt run` will not find this dashboard: {error}");
        }
        server::run(self.listener, self.store, self.guard)
    }
}

/// What is asked of whoever comes.
#[derive(Debug)]
enum Asked {
    /// Nothing.
    Nothing,
    /// The token that the environment gives, which whoever starts the server knows.
    GivenToken,
    /// A token that was made for this server.
    Token(String),
}

/// The line that names the address, and how many runs are to be seen there.
fn announcement(settings: &Config, runs: usize, address: SocketAddr, asked: &Asked) -> String {
    let runs = match runs {
        0 => "no runs yet: `cargo cobalt run` makes one".to_owned(),
        runs => count(runs, "run"),
    };
    let link = match asked {
        Asked::Nothing => url(address),
        Asked::GivenToken => format!("{}/?token=… with the token of COBALT_TOKEN", reachable(address)),
        Asked::Token(token) => format!("{}/?token={token}", reachable(address)),
    };
    let name = project_name(settings);
    format!("dashboard: {link} ({}, {runs}); Ctrl-C ends it", printable(&name))
}

/// The address as a browser knows it.
fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// The same by which other machines reach it, where the server listens on all addresses of this one.
fn reachable(address: SocketAddr) -> String {
    let ip = if address.ip().is_unspecified() { own_address(address.ip()) } else { address.ip() };
    url(SocketAddr::new(ip, address.port()))
}

/// The address that this machine has towards others, or else the one that it has for itself.
fn own_address(all: IpAddr) -> IpAddr {
    // Addresses that are kept for documentation. No packet is sent: the system only says which way it would go.
    let (elsewhere, itself): (IpAddr, IpAddr) = match all {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(_) => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(), Ipv6Addr::LOCALHOST.into()),
    };
    let towards = |elsewhere| {
        let socket = UdpSocket::bind(SocketAddr::new(all, 0))?;
        socket.connect(SocketAddr::new(elsewhere, 9))?;
        socket.local_addr()
    };
    towards(elsewhere).map_or(itself, |address| address.ip())
}
