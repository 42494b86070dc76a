//! A dashboard that listens, from start to end, and the embedded files of its page.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use cobalt::command::config::Config;
use cobalt_core::hash::hex;
use cobalt_core::reporters::printable;
use cobalt_core::wording::count;
use rust_embed::{EmbeddedFile, RustEmbed};

use super::guard::{Guard, Token};
use super::running::{Advertised, project_name};
use super::server;
use super::store::Store;
use crate::error::Error;

/// A server that listens, and answers once it runs.
pub struct Dashboard {
    listener: TcpListener,
    address: SocketAddr,
    store: Arc<Store>,
    guard: Guard,
    asked: Asked,
    settings: Config,
}

impl Dashboard {
    /// A server of the project's runs. Whoever asks needs a token where one is given, or where other machines can ask.
    pub fn of(settings: &Config, listener: TcpListener, given: Option<&str>) -> Result<Self, Error> {
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
    pub fn url(&self) -> Option<String> {
        matches!(self.asked, Asked::Nothing).then(|| url(self.address))
    }

    /// Says where it is to be found.
    pub fn announce(&self) -> Result<(), Error> {
        let runs = self.store.count()?;
        eprintln!("{}", announcement(&self.settings, runs, self.address, &self.asked));
        Ok(())
    }

    /// Answers until this program is asked to end.
    pub fn run(self) -> Result<(), Error> {
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

/// What `npm run build` makes of the sources of the page.
#[derive(RustEmbed)]
#[folder = "../dashboard/dist"]
struct Files;

/// Where the parts of the page lie whose names change with their content.
const ASSETS: &str = "assets/";
const INDEX: &str = "index.html";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Each time it is asked whether the file is still the same.
const ASKED_AGAIN: &str = "no-cache";

/// The file of an address, or the page, whose own addresses are all those that no file can have.
pub async fn file(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    match Files::get(if may_be_file(path) { path } else { INDEX }) {
        Some(file) => answer(file, path.starts_with(ASSETS), request.headers()),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

/// Whether a path is that of a file: within the folder of the assets, or with an ending beside it. Further below, the names of
/// items stand in addresses of the page, which may have dots.
fn may_be_file(path: &str) -> bool {
    path.starts_with(ASSETS) || (path.contains('.') && !path.contains('/'))
}

fn answer(file: EmbeddedFile, is_asset: bool, asked: &HeaderMap) -> Response {
    // Weak, as the same file is sent compressed in several ways.
    let tag = format!("W/\"{}\"", hex(&file.metadata.sha256_hash()[..16]));
    let age = if is_asset { FOR_EVER } else { ASKED_AGAIN };
    let known = asked.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    if known.split(',').any(|known| known.trim() == tag || known.trim() == "*") {
        return (StatusCode::NOT_MODIFIED, [(ETAG, &*tag), (CACHE_CONTROL, age)]).into_response();
    }
    let head = [(CONTENT_TYPE, file.metadata.mimetype()), (CACHE_CONTROL, age), (ETAG, &tag)];
    (head, file.data).into_response()
}

#[cfg(test)]
mod tests {
    use super::may_be_file;

    #[test]
    fn what_has_an_ending_is_a_file_and_an_item_with_a_dot_in_its_name_is_none() {
        for file in ["favicon.svg", "foo.js", "assets/index-abc.js", "assets/"] {
            assert!(may_be_file(file), "{file}");
        }
        for page in ["", "runs", "runs/abc/items/version-4.1", "compare"] {
            assert!(!may_be_file(page), "{page}");
        }
    }
}
