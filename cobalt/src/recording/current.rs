//! The execution of the agent whose task or thread the caller runs in.

use std::future::Future;
use std::sync::Arc;

/// The header by which a client says to which execution a request belongs.
pub const EXECUTION_HEADER: &str = "x-cobalt-execution";

tokio::task_local! {
    static TOKEN: Arc<str>;
}

/// Runs an agent's future as the execution with this token.
pub fn within<F: Future>(token: Arc<str>, future: F) -> impl Future<Output = F::Output> {
    TOKEN.scope(token, future)
}

/// The same for a plain function, on its thread.
pub fn within_sync<R>(token: Arc<str>, function: impl FnOnce() -> R) -> R {
    TOKEN.sync_scope(token, function)
}

/// The header that attributes a request to the item whose agent sends it: name and value. `None` outside of an agent, or if no traffic is
/// recorded.
///
/// It is found by the tokio task, or by the thread of a plain function. A task that an agent spawns does not inherit it: pass the header
/// on, or wrap the task with [`in_current_execution`]. The header is removed before a request leaves the machine.
///
/// ```
/// # fn example(mut request: std::collections::BTreeMap<&'static str, String>) {
/// if let Some((name, value)) = cobalt::recording::current_header() {
///     request.insert(name, value);
/// }
/// # }
/// ```
#[must_use]
pub fn current_header() -> Option<(&'static str, String)> {
    TOKEN.try_with(|token| (EXECUTION_HEADER, token.to_string())).ok()
}

/// Runs a future as a part of the current execution, so that [`current_header`] works in a task that an agent spawns.
///
/// ```
/// # async fn search() {}
/// # async fn agent() {
/// let task = tokio::spawn(cobalt::recording::in_current_execution(search()));
/// # }
/// ```
pub fn in_current_execution<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let token = TOKEN.try_with(Arc::clone).ok();
    async move {
        match token {
            Some(token) => TOKEN.scope(token, future).await,
            None => future.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_header_is_that_of_the_task() {
        let value = || current_header().map(|(_, value)| value);
        assert_eq!(value(), None);
        let one = within("one".into(), async {
            let lost = tokio::spawn(async move { value() }).await.unwrap();
            let kept = tokio::spawn(in_current_execution(async move { value() })).await.unwrap();
            (value(), lost, kept)
        });
        assert_eq!(one.await, (Some("one".to_owned()), None, Some("one".to_owned())));
        assert_eq!(within_sync("two".into(), value), Some("two".to_owned()));
    }
}
