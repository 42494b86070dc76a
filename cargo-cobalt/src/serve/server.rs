//! The server itself: its routes, what lies around all of them, and its life.

use std::any::Any;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::handler::Handler as _;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
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
use super::{api, page};
use crate::error::Error;
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
pub(super) fn run(listener: TcpListener, store: Arc<Store>, guard: Guard) -> Result<(), Error> {
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
        .fallback(page::file.layer(CompressionLayer::new().quality(PAGE_COMPRESSION)))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
}

/// What is answered where a handler panics, which stderr has told of by then.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::broken().into_response()
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
}
