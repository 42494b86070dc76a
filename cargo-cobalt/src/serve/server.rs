//! The server: its port, routes, middleware and shutdown.

use std::any::Any;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler as _;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use cobalt::command::config::{Config, DashboardSettings};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::{CompressionLayer, CompressionLevel};

use super::error::ApiError;
use super::guard::{self, Guard};
use super::writes::{MAX_BODY, WriteContext};
use super::{api, dashboard, writes};
use crate::dashboard_link;
use crate::dashboard_link::DashboardLink;
use crate::error::{CommandError, Error};
use crate::interrupt;

/// How long a connection may take to send a request header.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of connections; further ones wait until one closes. Leaves room for open files, of which some systems allow
/// only 256.
const MAX_CONNECTIONS: usize = 200;
/// How long in-flight responses may take when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);
/// The number of blocking threads: each has its own memory.
const WORKERS: usize = 4;
/// The compression level of the page's files: a few percent smaller than Brotli's usual 4, and still within milliseconds.
const PAGE_COMPRESSION: CompressionLevel = CompressionLevel::Precise(6);

/// Serves until the program is interrupted.
pub fn run(listener: TcpListener, context: Arc<WriteContext>, guard: Guard) -> Result<(), Error> {
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(2).max_blocking_threads(WORKERS).enable_all();
    let runtime = runtime.build().map_err(Error::Server)?;
    let served = runtime.block_on(async {
        listener.set_nonblocking(true).map_err(Error::Server)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Server)?;
        let live = context.store.live();
        tokio::spawn(live.clone().run());
        if let Some(team) = context.store.team() {
            Arc::clone(team).follow(live.clone());
        }
        let jobs = Arc::clone(&context.jobs);
        accept_connections(listener, router(context, guard), || live.shut_down()).await;
        jobs.shut_down().await;
        Ok(())
    });
    // Do not wait for threads that still read files.
    runtime.shutdown_background();
    served
}

/// Accepts connections until the program is interrupted, then shuts down gracefully.
async fn accept_connections(mut listener: tokio::net::TcpListener, router: Router, end: impl FnOnce()) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let connections = GracefulShutdown::new();
    let service = TowerToHyperService::new(router);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (axum::serve::Listener::accept(&mut listener).await.0, place)
        };
        let (stream, place) = tokio::select! {
            next = next => next,
            () = interrupt::received() => break,
        };
        // Send small responses at once; if this fails, they are only slower.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // Broken connections are not an error of the server.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    end();
    let _ = timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await;
}

/// All routes.
fn router(context: Arc<WriteContext>, guard: Guard) -> Router {
    // Brotli needs several megabytes per in-flight response: too much for large ones.
    let answers = CompressionLayer::new().no_br();
    let api = api::routes(Arc::clone(&context.store), writes::routes(context));
    let api = api.layer(answers).layer(DefaultBodyLimit::max(MAX_BODY));
    Router::new()
        .nest("/api", api)
        // Not covered by `nest`.
        .route("/api/", any(api::endpoint_not_found))
        .fallback(dashboard::serve_file.layer(CompressionLayer::new().quality(PAGE_COMPRESSION)))
        .layer(CatchPanicLayer::custom(panic_response))
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
}

/// The response if a handler panics; the panic is on stderr already.
fn panic_response(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal().into_response()
}

/// How many ports to try above the default one.
const EXTRA_PORTS: u16 = 9;

#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error(
        "failed to listen on {address}: {source}; choose another port with `--port` or `dashboard.port`, or 0 for any free \
         port"
    )]
    Failed { address: SocketAddr, source: io::Error },

    #[error(
        "failed to listen on {0}: the port is in use; choose another one with `--port` or `dashboard.port`, or 0 for any free \
         port"
    )]
    PortTaken(SocketAddr),
}

impl CommandError for ListenError {}

/// The process that listens.
#[derive(Debug)]
pub enum ListenOutcome {
    /// This process.
    Bound(TcpListener),
    /// The project's server that is already running.
    AlreadyRunning(DashboardLink),
}

/// Listens on the requested port, else on the default port or one of the next, which is reported. If `another_will_do`, a running
/// local server of the project without a token is returned instead.
pub fn listen(
    settings: &Config,
    host: IpAddr,
    port: Option<u16>,
    another_will_do: bool,
) -> Result<ListenOutcome, Error> {
    let another_will_do = another_will_do && host.is_loopback();
    match port {
        Some(port) => listen_on(settings, SocketAddr::new(host, port), another_will_do),
        None => listen_near_default(settings, host, another_will_do),
    }
}

fn listen_on(settings: &Config, address: SocketAddr, another_will_do: bool) -> Result<ListenOutcome, Error> {
    if let Some(listener) = bind(address)? {
        return Ok(ListenOutcome::Bound(listener));
    }
    let url = format!("http://{address}");
    let running = another_will_do.then(|| dashboard_link::find_running_at(settings, &url)).flatten();
    running.map(ListenOutcome::AlreadyRunning).ok_or_else(|| ListenError::PortTaken(address).into())
}

fn listen_near_default(
    settings: &Config,
    host: IpAddr,
    another_will_do: bool,
) -> Result<ListenOutcome, Error> {
    if another_will_do && let Some(link) = dashboard_link::find_running(settings) {
        return Ok(ListenOutcome::AlreadyRunning(link));
    }
    let usual = SocketAddr::new(host, DashboardSettings::DEFAULT_PORT);
    let listener = first_free_port(usual)?.ok_or(ListenError::PortTaken(usual))?;
    let port = listener.local_addr().map_err(Error::Server)?.port();
    if port != usual.port() {
        eprintln!("port {} is in use; using port {port}", usual.port());
    }
    Ok(ListenOutcome::Bound(listener))
}

/// Listens on the first free port from the given one on.
fn first_free_port(usual: SocketAddr) -> Result<Option<TcpListener>, ListenError> {
    for port in usual.port()..=usual.port().saturating_add(EXTRA_PORTS) {
        if let Some(listener) = bind(SocketAddr::new(usual.ip(), port))? {
            return Ok(Some(listener));
        }
    }
    Ok(None)
}

/// Listens, unless the port is in use.
fn bind(address: SocketAddr) -> Result<Option<TcpListener>, ListenError> {
    match TcpListener::bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
        Err(source) => Err(ListenError::Failed { address, source }),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    #[test]
    fn a_panic_is_answered_in_json() {
        let answer = panic_response(Box::new("a reason"));
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/json");
    }

    #[test]
    fn where_a_port_is_taken_the_next_that_is_free_is_listened_on() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let usual = taken.local_addr().unwrap();
        let next = first_free_port(usual).unwrap().unwrap().local_addr().unwrap();
        let further = usual.port()..=usual.port().saturating_add(EXTRA_PORTS);
        assert!(next.ip() == usual.ip() && next != usual && further.contains(&next.port()), "{next}");
        drop(taken);
        assert_eq!(first_free_port(usual).unwrap().unwrap().local_addr().unwrap(), usual);
    }
}
