//! The dashboard server, from start to shutdown, and the embedded files of its page.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use cobalt::command::config::Config;
use cobalt_core::hash::hex;
use cobalt_core::reporters::escape_control;
use cobalt_core::wording::count;
use rust_embed::{EmbeddedFile, RustEmbed};

use super::guard::{Guard, Token};
use super::jobs::Jobs;
use super::server;
use super::store::{Store, TeamRuns};
use super::writes::{WriteAccess, WriteContext, WriteMode};
use crate::dashboard_link::DashboardLink;
use crate::dashboard_link::{Advertisement, project_name, remove_redirect};
use crate::error::Error;
use cobalt_runner::extensions::DashboardProject;

/// A listening server, which responds once it runs.
pub struct Dashboard {
    listener: TcpListener,
    address: SocketAddr,
    context: Arc<WriteContext>,
    guard: Guard,
    access: Access,
    settings: Config,
}

/// What clients may do, and the project whose experiments its jobs run.
#[derive(Clone, Debug, Default)]
pub struct DashboardOptions {
    pub writes: WriteMode,
    pub project: DashboardProject,
}

impl Dashboard {
    /// A server for the project's runs. Clients need a token if one is given, or if other machines can connect.
    pub fn new(
        settings: &Config,
        listener: TcpListener,
        given: Option<&str>,
        options: DashboardOptions,
    ) -> Result<Self, Error> {
        let address = listener.local_addr().map_err(Error::Server)?;
        let token = |text: &str| Some(Token::new(text, address.port()));
        let (token, asked) = match given {
            Some(text) => (token(text), Access::UserToken),
            None if address.ip().is_loopback() => (None, Access::Open),
            None => {
                let text = Token::random()?;
                (token(&text), Access::GeneratedToken(text))
            }
        };
        let team = match options.writes {
            WriteMode::Remote => Some(Arc::new(TeamRuns::open(settings)?)),
            _ => None,
        };
        let store = Arc::new(Store::open(settings, team, matches!(asked, Access::Open))?);
        let writes = WriteAccess::new(options.writes, matches!(asked, Access::Open))?;
        let guard = Guard::new(address, token, writes.clone());
        let jobs = Arc::new(Jobs::new(settings, options.project, store.live())?);
        let context = Arc::new(WriteContext { store, access: writes, jobs });
        Ok(Self { listener, address, context, guard, access: asked, settings: settings.clone() })
    }

    /// The link to it, if no access token is required.
    pub fn link(&self) -> Option<DashboardLink> {
        let token = self.context.access.link_token().map(str::to_owned);
        matches!(self.access, Access::Open).then(|| DashboardLink { url: url(self.address), token })
    }

    /// Prints its URL.
    pub fn announce(&self) -> Result<(), Error> {
        let runs = self.context.store.run_count()?;
        let open_link = self.link().map(|link| link.printed());
        eprintln!("{}", announcement(&self.settings, runs, self.address, &self.access, open_link));
        Ok(())
    }

    /// Serves until the program is interrupted.
    pub fn run(self) -> Result<(), Error> {
        let link = self.link().filter(|_| self.context.store.team().is_none());
        let advertised = link.map(|link| Advertisement::publish(&self.settings, link));
        if let Some(Err(error)) = &advertised {
            eprintln!("warning: `cargo cobalt run` will not find this dashboard: {error}");
        }
        let served = server::run(self.listener, self.context, self.guard);
        remove_redirect(&self.settings);
        served
    }
}

/// What clients need.
#[derive(Debug)]
enum Access {
    /// Nothing.
    Open,
    /// The token from the environment, which the user knows.
    UserToken,
    /// A token generated for this server.
    GeneratedToken(String),
}

/// The line with the URL and the number of runs.
fn announcement(
    settings: &Config,
    runs: usize,
    address: SocketAddr,
    asked: &Access,
    open_link: Option<String>,
) -> String {
    let runs = match runs {
        0 => "no runs yet, create one with `cargo cobalt run`".to_owned(),
        runs => count(runs, "run"),
    };
    let link = match asked {
        Access::Open => open_link.unwrap_or_else(|| url(address)),
        Access::UserToken => format!("{}/?token=… with the value of COBALT_TOKEN", external_url(address)),
        Access::GeneratedToken(token) => format!("{}/?token={token}", external_url(address)),
    };
    let name = project_name(settings);
    format!("dashboard: {link} ({}, {runs}); press Ctrl-C to stop", escape_control(&name))
}

/// The address as a URL.
fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// The URL for other machines, if the server listens on all addresses.
fn external_url(address: SocketAddr) -> String {
    let ip = if address.ip().is_unspecified() { outbound_address(address.ip()) } else { address.ip() };
    url(SocketAddr::new(ip, address.port()))
}

/// The outbound address of this machine, or else the loopback address.
fn outbound_address(all: IpAddr) -> IpAddr {
    // Addresses reserved for documentation. No packet is sent: the system only selects a route.
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

/// The output of `npm run build` in `dashboard`.
#[derive(RustEmbed)]
#[cfg_attr(not(page_beside_package), folder = "dist")]
#[cfg_attr(page_beside_package, folder = "../dashboard/dist")]
struct Files;

/// The folder of files whose names contain a content hash.
const ASSETS: &str = "assets/";
const INDEX: &str = "index.html";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// Browsers revalidate on each request.
const REVALIDATE: &str = "no-cache";

/// The file at a path; any path that cannot be a file is a client-side route of the page.
pub async fn serve_file(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    match Files::get(if is_file_path(path) { path } else { INDEX }) {
        Some(file) => file_response(file, path.starts_with(ASSETS), request.headers()),
        None => (StatusCode::NOT_FOUND, "file not found\n").into_response(),
    }
}

/// Whether a path can be a file: in the assets folder, or a top-level name with an extension. Deeper paths are routes of the page,
/// where item names may contain dots.
fn is_file_path(path: &str) -> bool {
    path.starts_with(ASSETS) || (path.contains('.') && !path.contains('/'))
}

fn file_response(file: EmbeddedFile, is_asset: bool, asked: &HeaderMap) -> Response {
    // Weak: the same file is sent with different compressions.
    let tag = format!("W/\"{}\"", hex(&file.metadata.sha256_hash()[..16]));
    let age = if is_asset { IMMUTABLE } else { REVALIDATE };
    let known = asked.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    if known.split(',').any(|known| known.trim() == tag || known.trim() == "*") {
        return (StatusCode::NOT_MODIFIED, [(ETAG, &*tag), (CACHE_CONTROL, age)]).into_response();
    }
    let head = [(CONTENT_TYPE, file.metadata.mimetype()), (CACHE_CONTROL, age), (ETAG, &tag)];
    (head, file.data).into_response()
}

#[cfg(test)]
mod tests {
    use super::is_file_path;

    #[test]
    fn what_has_an_ending_is_a_file_and_an_item_with_a_dot_in_its_name_is_none() {
        for file in ["favicon.svg", "foo.js", "assets/index-abc.js", "assets/"] {
            assert!(is_file_path(file), "{file}");
        }
        for page in ["", "runs", "runs/abc/items/version-4.1", "compare"] {
            assert!(!is_file_path(page), "{page}");
        }
    }
}
