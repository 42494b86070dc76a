//! Time limits that waits for a provider's limits do not count against.

use std::time::{Duration, Instant};

use tokio::time::timeout;

/// Waits for a future up to a limit, which the time in which it waited for a provider's limits does not count against.
///
/// # Errors
///
/// The limit was reached.
pub async fn timeout_without_waits<F: Future>(
    limit: Duration,
    started: Instant,
    waited: impl Fn() -> Duration,
    future: F,
) -> Result<F::Output, ()> {
    let mut future = std::pin::pin!(future);
    loop {
        let left = (limit + waited()).saturating_sub(started.elapsed());
        match timeout(left, &mut future).await {
            Ok(output) => return Ok(output),
            Err(_) if started.elapsed() < limit + waited() => {}
            Err(_) => return Err(()),
        }
    }
}
