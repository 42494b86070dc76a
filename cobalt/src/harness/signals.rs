//! Ctrl-C and the request to terminate: the first stops the run and keeps what is finished, the second ends at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tokio::runtime::Handle;

use super::INTERRUPTED;
use crate::session::Interrupter;

/// Whether the process was asked to stop.
#[derive(Clone, Debug, Default)]
pub(super) struct Stopped(Arc<AtomicBool>);

impl Stopped {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Interrupts the session when the process is asked to stop.
pub(super) fn listen(runtime: &Handle, session: Interrupter) -> Stopped {
    let stopped = Stopped::default();
    let set = stopped.clone();
    runtime.spawn(async move {
        asked_to_stop().await;
        set.0.store(true, Ordering::Release);
        session.interrupt();
        asked_to_stop().await;
        std::process::exit(INTERRUPTED);
    });
    stopped
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
