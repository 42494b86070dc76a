//! What the server says of itself when it begins.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use cobalt::config::Config;
use cobalt::reporters::printable;
use cobalt::wording::count;

use super::project;

/// What is asked of whoever comes.
#[derive(Debug)]
pub(super) enum Asked {
    /// Nothing.
    Nothing,
    /// The token that the environment gives, which whoever starts the server knows.
    GivenToken,
    /// A token that was made for this server.
    Token(String),
}

/// The line that names the address, and how many runs are to be seen there.
pub(super) fn line(settings: &Config, runs: usize, address: SocketAddr, asked: &Asked) -> String {
    let runs = match runs {
        0 => "no runs yet: `cargo cobalt run` makes one".to_owned(),
        runs => count(runs, "run"),
    };
    let link = match asked {
        Asked::Nothing => url(address),
        Asked::GivenToken => format!("{}/?token=… with the token of COBALT_TOKEN", reachable(address)),
        Asked::Token(token) => format!("{}/?token={token}", reachable(address)),
    };
    let name = project::name(settings);
    format!("dashboard: {link} ({}, {runs}); Ctrl-C ends it", printable(&name))
}

/// The address as a browser knows it.
pub(super) fn url(address: SocketAddr) -> String {
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
