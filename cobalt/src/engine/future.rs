//! Futures that cannot bring down what waits for them.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use tokio::task::{JoinError, JoinHandle};

/// A task that ends with whoever waits for it.
pub(super) struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    pub(super) fn new(task: JoinHandle<T>) -> Self {
        Self(task)
    }

    pub(super) async fn join(&mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for a future; a panic in it is handed over rather than passed on.
pub(super) async fn catch_panic<F: Future + Unpin>(mut future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}
