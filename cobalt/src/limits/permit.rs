//! A permit to send a request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::waiting_line::{End, Grant, WaitingLine};

/// The requests of all permits, shared by them.
#[derive(Clone, Debug)]
pub struct SharedLine(Arc<Mutex<WaitingLine>>);

impl SharedLine {
    pub fn new(line: WaitingLine) -> Self {
        Self(Arc::new(Mutex::new(line)))
    }

    pub fn lock(&self) -> MutexGuard<'_, WaitingLine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The permit to send one request. Keep it until the response has been read, and say then how the request ended. Dropped, for example
/// because the client went away, it makes room for another request.
#[derive(Debug)]
#[must_use = "a permit that is dropped makes room for another request"]
pub struct Permit {
    line: SharedLine,
    /// Set until the end.
    grant: Option<Grant>,
}

impl Permit {
    pub fn new(line: SharedLine, grant: Grant) -> Self {
        Self { line, grant: Some(grant) }
    }

    /// Ends a request that was answered. The response reports its tokens, input and output together; if it does not, the estimate
    /// remains.
    pub fn settle(mut self, tokens: Option<u64>) {
        self.end(End::Answered(tokens));
    }

    /// Ends a request that got a 429, with the wait that the server asks for. Until then, or for a short while if it asks for none, no
    /// request for this provider and model starts; after that, half as many at a time.
    pub fn throttled(mut self, retry_after: Option<Duration>) {
        self.end(End::Throttled(retry_after));
    }

    fn end(&mut self, end: End) {
        if let Some(grant) = self.grant.take() {
            self.line.lock().end(grant, end, Instant::now());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.end(End::Unknown);
    }
}
