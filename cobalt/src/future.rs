//! Futures that cannot bring down what waits for them.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use tokio::task::{JoinError, JoinHandle};

/// A task that ends with whoever waits for it.
pub(crate) struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    pub(crate) fn new(task: JoinHandle<T>) -> Self {
        Self(task)
    }

    pub(crate) async fn join(&mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for a future; a panic in it is handed over rather than passed on.
pub(crate) async fn catch_panic<F: Future + Unpin>(mut future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Waits for all futures side by side.
pub(crate) async fn join_all<'a, T>(futures: Vec<Pin<Box<dyn Future<Output = T> + Send + 'a>>>) -> Vec<T> {
    let mut results: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    let mut waiting: Vec<_> = futures.into_iter().enumerate().collect();
    poll_fn(|cx| {
        waiting.retain_mut(|(index, future)| match future.as_mut().poll(cx) {
            Poll::Ready(result) => {
                results[*index] = Some(result);
                false
            }
            Poll::Pending => true,
        });
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
