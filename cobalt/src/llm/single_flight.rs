//! Requests in flight: identical requests are sent once, and all callers share the result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::OnceCell;

/// Requests in flight, by key.
#[derive(Debug)]
pub(super) struct SingleFlight<T>(Mutex<HashMap<String, Weak<OnceCell<T>>>>);

/// The result of a request.
#[derive(Debug)]
pub(super) struct Shared<T> {
    pub(super) outcome: T,
    /// Whether another caller sent the request.
    pub(super) from_other_caller: bool,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> SingleFlight<T> {
    /// Waits for the request with this key, and sends it unless another caller does. If that caller is cancelled, one of the
    /// waiters sends it.
    pub(super) async fn run(&self, key: &str, send: impl Future<Output = T>) -> Shared<T> {
        let seat = Waiter { flights: self, key, flight: Some(self.enter(key)) };
        let mut shared = true;
        let lead = || {
            shared = false;
            send
        };
        let outcome = seat.flight().get_or_init(lead).await.clone();
        Shared { outcome, from_other_caller: shared }
    }
}

impl<T> SingleFlight<T> {
    fn enter(&self, key: &str) -> Arc<OnceCell<T>> {
        let mut flights = self.lock();
        if let Some(flight) = flights.get(key).and_then(Weak::upgrade) {
            return flight;
        }
        let flight = Arc::new(OnceCell::new());
        flights.insert(key.to_owned(), Arc::downgrade(&flight));
        flight
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<OnceCell<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller that waits for a request. On drop, removes the request if it is done or has no other waiters.
struct Waiter<'a, T> {
    flights: &'a SingleFlight<T>,
    key: &'a str,
    flight: Option<Arc<OnceCell<T>>>,
}

impl<T> Waiter<'_, T> {
    fn flight(&self) -> &OnceCell<T> {
        self.flight.as_ref().expect("set until drop")
    }
}

impl<T> Drop for Waiter<'_, T> {
    fn drop(&mut self) {
        let mut flights = self.flights.lock();
        let flight = self.flight.take();
        // The key may already belong to a newer request.
        let is_ours = |listed: &Weak<_>| {
            flight.as_ref().is_some_and(|flight| std::ptr::eq(listed.as_ptr(), Arc::as_ptr(flight)))
        };
        let is_over =
            flight.as_ref().is_some_and(|flight| flight.initialized() || Arc::strong_count(flight) == 1);
        if is_over && flights.get(self.key).is_some_and(is_ours) {
            flights.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::sync::Notify;
    use tokio::time::{sleep, timeout};

    use super::*;

    #[tokio::test]
    async fn the_same_request_is_sent_once_and_another_one_beside_it() {
        let (flights, sent) = (SingleFlight::default(), AtomicUsize::new(0));
        let send = async || {
            sent.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(5)).await;
            Err::<(), _>("no")
        };
        let (one, two, three) =
            tokio::join!(flights.run("a", send()), flights.run("a", send()), flights.run("b", send()));
        assert_eq!(sent.load(Ordering::Relaxed), 2);
        assert_eq!((one.outcome, two.outcome), (Err("no"), Err("no")), "errors are shared, too");
        assert_eq!(
            (one.from_other_caller, two.from_other_caller, three.from_other_caller),
            (false, true, false)
        );
        assert!(flights.lock().is_empty());
        flights.run("a", send()).await;
        assert_eq!(sent.load(Ordering::Relaxed), 3, "a finished request is not shared");
    }

    #[tokio::test]
    async fn one_who_waits_takes_over_from_one_who_is_cancelled() {
        let flights = Arc::new(SingleFlight::default());
        let begun = Arc::new(Notify::new());
        let leader = tokio::spawn({
            let (flights, begun) = (Arc::clone(&flights), Arc::clone(&begun));
            async move {
                let forever = async {
                    begun.notify_one();
                    std::future::pending().await
                };
                flights.run("a", forever).await.outcome
            }
        });
        begun.notified().await;
        let waiter = flights.run("a", async { 2 });
        let cancel = async {
            leader.abort();
            leader.await.unwrap_err()
        };
        let (landed, _) =
            timeout(Duration::from_secs(5), async { tokio::join!(waiter, cancel) }).await.unwrap();
        assert_eq!((landed.outcome, landed.from_other_caller), (2, false));
        assert!(flights.lock().is_empty());
    }

    #[tokio::test]
    async fn nothing_stays_of_a_request_that_everyone_has_left() {
        let flights = SingleFlight::<()>::default();
        let cancelled = timeout(Duration::from_millis(1), flights.run("a", std::future::pending())).await;
        assert!(cancelled.is_err() && flights.lock().is_empty());
    }
}
