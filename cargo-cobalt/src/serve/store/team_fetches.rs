//! Fetches runs of a remote store for the page: each once at a time, and none for a moment after the connection was lost.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use crate::remote::{Problem, RemoteError};
use crate::serve::error::ApiError;
use crate::sized_cache::lock;

/// How long after a lost connection fetches fail at once: each would wait for a timeout of its own.
const OFFLINE_FOR: Duration = Duration::from_secs(5);

/// The result file of a run, or why it cannot be fetched.
type Outcome = Result<PathBuf, ApiError>;

/// The fetches in progress.
#[derive(Debug, Default)]
pub struct TeamFetches {
    /// By run id. All requests for a run that is being fetched get the same outcome.
    ongoing: Mutex<HashMap<String, Arc<OnceLock<Outcome>>>>,
    /// When the connection was lost, and the error.
    offline: Mutex<Option<(Instant, ApiError)>>,
}

impl TeamFetches {
    /// Fetches a run, unless it is being fetched.
    pub fn fetch(&self, id: &str, fetch: impl FnOnce() -> Result<PathBuf, RemoteError>) -> Outcome {
        if let Some((_, error)) = lock(&self.offline).as_ref().filter(|(at, _)| at.elapsed() < OFFLINE_FOR) {
            return Err(error.clone());
        }
        let flight = Arc::clone(lock(&self.ongoing).entry(id.to_owned()).or_default());
        let outcome = flight.get_or_init(|| fetch().map_err(|error| self.note(&error))).clone();
        let mut ongoing = lock(&self.ongoing);
        if ongoing.get(id).is_some_and(|other| Arc::ptr_eq(other, &flight)) {
            ongoing.remove(id);
        }
        outcome
    }

    fn note(&self, error: &RemoteError) -> ApiError {
        let status = match error {
            RemoteError::Gone { .. } => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_GATEWAY,
        };
        let answer = ApiError::new(status, error.to_string());
        let is_offline =
            error.problem() == Some(Problem::Connection) || matches!(error, RemoteError::NoStore { .. });
        if is_offline {
            *lock(&self.offline) = Some((Instant::now(), answer.clone()));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    fn lost() -> RemoteError {
        RemoteError::NoStore { url: "s3://team/evals".to_owned() }
    }

    fn gone() -> RemoteError {
        RemoteError::Gone { url: "s3://team/evals".to_owned(), run: "a".to_owned(), object: "b".to_owned() }
    }

    #[test]
    fn a_run_that_several_want_is_fetched_once_and_other_runs_do_not_wait_for_it() {
        let (fetches, count) = (TeamFetches::default(), AtomicUsize::new(0));
        let (begun, end) = (Barrier::new(2), Barrier::new(2));
        let slow = || {
            count.fetch_add(1, Ordering::SeqCst);
            begun.wait();
            end.wait();
            Ok(PathBuf::from("a.json"))
        };
        thread::scope(|scope| {
            let first = scope.spawn(|| fetches.fetch("a", slow));
            begun.wait();
            let second = scope.spawn(|| fetches.fetch("a", || unreachable!("it is being fetched")));
            assert_eq!(fetches.fetch("b", || Ok("b.json".into())).unwrap(), PathBuf::from("b.json"));
            // The map, the first and the second have it.
            while Arc::strong_count(&lock(&fetches.ongoing)["a"]) < 3 {
                thread::yield_now();
            }
            end.wait();
            for fetched in [first, second] {
                assert_eq!(fetched.join().unwrap().unwrap(), PathBuf::from("a.json"));
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(lock(&fetches.ongoing).is_empty());
    }

    #[test]
    fn after_a_lost_connection_fetches_fail_at_once_for_a_moment() {
        let fetches = TeamFetches::default();
        assert_eq!(fetches.fetch("a", || Err(gone())).unwrap_err().status(), StatusCode::NOT_FOUND);
        fetches.fetch("a", || Ok("a.json".into())).unwrap();
        assert_eq!(fetches.fetch("a", || Err(lost())).unwrap_err().status(), StatusCode::BAD_GATEWAY);
        fetches.fetch("b", || unreachable!("the store is not there")).unwrap_err();
        lock(&fetches.offline).as_mut().unwrap().0 -= OFFLINE_FOR;
        fetches.fetch("b", || Ok("b.json".into())).unwrap();
    }
}
