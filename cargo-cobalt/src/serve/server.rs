//! The server itself: its routes, what lies around all of them, and its life.

use std::net::TcpListener;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::runtime::Builder;
use tower_http::compression::CompressionLayer;

use super::guard::{self, Guard};
use super::store::Store;
use super::{api, page};
use crate::error::Error;

/// Serves until Ctrl-C is pressed.
pub(super) fn run(listener: TcpListener, store: Arc<Store>, guard: Guard) -> Result<(), Error> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Server)?;
    runtime.block_on(async {
        listener.set_nonblocking(true).map_err(Error::Server)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Server)?;
        let live = store.live();
        tokio::spawn(live.clone().tell());
        let served = axum::serve(listener, router(store, guard));
        tokio::select! {
            served = served => served.map_err(Error::Server),
            _ = tokio::signal::ctrl_c() => {
                live.end();
                Ok(())
            }
        }
    })
}

/// All that is served.
pub(super) fn router(store: Arc<Store>, guard: Guard) -> Router {
    Router::new()
        .nest("/api", api::routes(store))
        .fallback(page::file)
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
}
