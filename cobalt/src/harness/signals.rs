//! Ctrl-C and the request to terminate: the first stops the run and keeps what is finished, the second ends at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Handle;

use super::INTERRUPTED;

/// Calls `stop`, on a thread of its own, when the process is first asked to end.
pub(super) fn listen(runtime: &Handle, stop: impl FnOnce() + Send + 'static) {
    runtime.spawn(async move {
        asked_to_stop().await;
        std::thread::spawn(stop);
        asked_to_stop().await;
        std::process::exit(INTERRUPTED);
    });
}

async fn asked_to_stop() {
    let mut interrupted = pin!(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    let mut terminated = pin!(terminated());
    poll_fn(|cx| {
        if interrupted.as_mut().poll(cx).is_ready() || terminated.as_mut().poll(cx).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending::<()>().await;
}
