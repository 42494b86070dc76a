//! The server: its port, its routes, what surrounds all of them, and its shutdown.

use std::any::Any;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
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
use super::store::Store;
use super::{api, dashboard, running};
use crate::error::{CommandError, Error};
use crate::interrupt;

/// How long a connection may take to say what it asks.
const LONGEST_HEADER: Duration = Duration::from_secs(10);
/// How many connections there may be at a time; further ones wait until one ends. Files can be opened then still, of which some
/// systems allow 256.
const MOST_CONNECTIONS: usize = 200;
/// How long answers may take that are on their way when the server ends.
const LONGEST_END: Duration = Duration::from_millis(500);
/// How many answers are worked on at a time: each thread keeps some memory for itself.
const WORKERS: usize = 4;
/// How hard the files of the page are compressed: a few percent smaller than Brotli's usual 4, and still within milliseconds.
const PAGE_COMPRESSION: CompressionLevel = CompressionLevel::Precise(6);

/// Serves until this program is asked to end.
pub fn run(listener: TcpListener, store: Arc<Store>, guard: Guard) -> Result<(), Error> {
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(2).max_blocking_threads(WORKERS).enable_all();
    let runtime = runtime.build().map_err(Error::Server)?;
    let served = runtime.block_on(async {
        listener.set_nonblocking(true).map_err(Error::Server)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Server)?;
        let live = store.live();
        tokio::spawn(live.clone().tell());
        answer(listener, router(store, guard), || live.end()).await;
        Ok(())
    });
    // What still reads files is not waited for.
    runtime.shutdown_background();
    served
}

/// Answers on each connection until this program is asked to end, and lets those end that are on their way.
async fn answer(mut listener: tokio::net::TcpListener, router: Router, end: impl FnOnce()) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(LONGEST_HEADER);
    let connections = GracefulShutdown::new();
    let service = TowerToHyperService::new(router);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (axum::serve::Listener::accept(&mut listener).await.0, place)
        };
        let (stream, place) = tokio::select! {
            next = next => next,
            () = interrupt::heard() => break,
        };
        // Small answers are not held back; where that cannot be had, they come later.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks off is no concern of ours.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    end();
    let _ = timeout(LONGEST_END, connections.shutdown()).await;
}

/// All that is served.
fn router(store: Arc<Store>, guard: Guard) -> Router {
    // Brotli takes several megabytes for each answer that is on its way: too many for those that are large themselves.
    let answers = CompressionLayer::new().no_br();
    Router::new()
        .nest("/api", api::routes(store).layer(answers))
        // Nesting leaves this one out.
        .route("/api/", any(api::no_endpoint))
        .fallback(dashboard::file.layer(CompressionLayer::new().quality(PAGE_COMPRESSION)))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
}

/// What is answered where a handler panics, which stderr has told of by then.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::broken().into_response()
}

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
pub enum Listening {
    /// This process.
    Here(TcpListener),
    /// The server of this project that runs already, at this address.
    Already(String),
}

/// Listens on a host: on the port that was asked for, else on the usual one or another near it, which is told. Where the project's
/// own server will do that this machine asks without a token, that is named.
pub fn listen(
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
    use axum::http::StatusCode;
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    #[test]
    fn a_panic_is_answered_in_json() {
        let answer = panicked(Box::new("a reason"));
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/json");
    }

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
