//! Requests and items within a budget.

use super::ledger::Totals;
use super::quote::Quote;
use super::spending::Decision;
use super::*;

const MODEL: &str = "m";

fn quote(estimate: f64) -> Quote {
    Quote { provider: "openai".to_owned(), model: Some(MODEL.to_owned()), estimate, is_free: false }
}

/// Sends requests at once, each of which costs $1 after an estimate. Returns how many were sent.
async fn send_at_once(budget: &Arc<Budget>, requests: usize, estimate: f64) -> usize {
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..requests {
        let budget = Arc::clone(budget);
        sent.spawn(async move {
            let Ok(reservation) = budget.reserve(quote(estimate)).await else { return false };
            tokio::task::yield_now().await;
            reservation.settle(Some(1.0));
            true
        });
    }
    sent.join_all().await.into_iter().filter(|sent| *sent).count()
}

#[tokio::test]
async fn concurrent_requests_stay_within_the_budget() {
    for (max, estimate, sent) in
        [(2.0, 0.0, 2), (2.5, 0.0, 2), (20.0, 0.00001, 20), (20.0, 1.0, 20), (20.0, 7.0, 20), (0.1, 0.0, 1)]
    {
        let budget = Budget::new(max, None);
        assert_eq!(send_at_once(&budget, 64, estimate).await, sent, "{max} {estimate}");
        let state = budget.lock();
        assert_eq!((state.totals.spent, state.totals.reserved, state.in_flight), (sent as f64, 0.0, 0));
    }
}

#[tokio::test]
async fn only_sent_requests_are_charged() {
    let budget = Budget::new(10.0, None);
    let reserve = |estimate| budget.reserve(quote(estimate));
    drop(reserve(3.0).await.unwrap());
    assert_eq!(budget.lock().totals, Totals::default(), "it waited for a limit and was cancelled");
    let sent = || async {
        let mut reservation = reserve(3.0).await.unwrap();
        reservation.note_sent();
        reservation
    };
    drop(sent().await);
    assert_eq!(budget.lock().totals.spent, 3.0, "it may have been paid");
    sent().await.release();
    assert_eq!(sent().await.settle(None), 3.0);
    assert_eq!(reserve(1.0).await.unwrap().settle(None), 3.0, "as much as before");
    let state = budget.lock();
    assert_eq!((state.totals.spent, state.totals.reserved, state.in_flight), (9.0, 0.0, 0));
}

#[tokio::test]
async fn unanswered_requests_teach_nothing() {
    let budget = Budget::new(2.0, None);
    let mut unanswered = budget.reserve(quote(0.0)).await.unwrap();
    unanswered.note_sent();
    drop(unanswered);
    assert_eq!(send_at_once(&budget, 64, 0.0).await, 2);
}

/// A first request that takes very long does not release all that wait for it.
#[tokio::test]
async fn stale_requests_start_one_by_one() {
    let budget = Budget::new(2.0, None);
    let _unanswered = budget.reserve(quote(0.0)).await.unwrap();
    let stale = Some(budget.lock().totals);
    assert_eq!(budget.try_reserve(&quote(0.0), None).0, Decision::Wait);
    assert_eq!(budget.try_reserve(&quote(0.0), stale).0, Decision::Start(0.0));
    assert_eq!(budget.try_reserve(&quote(0.0), stale).0, Decision::Wait);
}

#[tokio::test]
async fn messages_name_what_does_not_fit() {
    let budget = Budget::new(1.5, None);
    budget.reserve(quote(0.0)).await.unwrap().settle(Some(1.0));
    let expected = "budget of $1.50 exhausted: $1.00 spent, and the next request may cost $1.00; no further requests are sent";
    assert_eq!(budget.refusal(), None);
    assert_eq!(budget.reserve(quote(0.0)).await.unwrap_err(), expected);
    assert_eq!(budget.refusal().as_deref(), Some(expected));
    let spent = Budget::new(1.0, None);
    spent.spend(1.25);
    let expected = "budget of $1.00 exhausted: $1.25 spent; no further requests are sent";
    assert_eq!(spent.refusal().as_deref(), Some(expected));
}

#[tokio::test]
async fn items_start_only_if_the_rest_pays_for_them() {
    let budget = Budget::new(7.0, None);
    let first = budget.start_item(0, false).await.unwrap();
    assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "nothing is known of the cost");
    let replayed = budget.start_item(0, true).await.unwrap();
    budget.spend(3.0);
    first.finish(3.0, false);
    let second = budget.start_item(0, false).await.unwrap();
    assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "two would cost $9");
    budget.spend(3.0);
    second.finish(3.0, false);
    drop(replayed);
    assert!(budget.start_item(0, false).await.is_none());
    let message = budget.refusal().unwrap();
    assert!(message.contains("$6.00 spent, and the next item may cost $3.00"), "{message}");
}

#[tokio::test]
async fn processes_share_a_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Some(dir.path().join("spent"));
    let [first, second] = [1, 2].map(|_| Budget::new(2.0, ledger.clone()));
    first.reserve(quote(0.0)).await.unwrap().settle(Some(1.0));
    let in_flight = first.reserve(quote(0.0)).await.unwrap();
    let (decision, ..) = second.try_reserve(&quote(1.0), None);
    assert_eq!(decision, Decision::Wait, "the request of the other process may cost the rest");
    in_flight.settle(Some(1.0));
    assert!(second.reserve(quote(1.0)).await.is_err());
    assert!(Budget::new(1.0, ledger.clone()).refusal().is_some());
    std::fs::write(ledger.as_ref().unwrap(), "much").unwrap();
    let refusal = Budget::new(1.0, ledger).refusal().unwrap();
    assert!(refusal.contains("spent`: `much` is not an amount in USD; "), "{refusal}");
}

#[tokio::test]
async fn processes_share_request_costs() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Some(dir.path().join("spent"));
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let process = Budget::new(2.0, ledger.clone());
        sent.spawn(async move { send_at_once(&process, 4, 0.0).await });
    }
    assert_eq!(sent.join_all().await.into_iter().sum::<usize>(), 2);
}

#[tokio::test]
async fn first_items_start_one_by_one() {
    let budget = Budget::new(3.0, None);
    let failed = budget.start_item(0, false).await.unwrap();
    failed.finish(0.0, true);
    let first = budget.start_item(0, false).await.unwrap();
    for experiment in [0, 1] {
        assert_eq!(budget.try_start_item(experiment, false), Err(Decision::Wait), "{experiment}");
    }
    budget.spend(2.0);
    first.finish(2.0, false);
    let of_other = budget.start_item(1, false).await.unwrap();
    assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "the other one may cost the rest");
    of_other.finish(0.0, false);
    assert_eq!(budget.try_start_item(0, false), Err(Decision::Refuse));
    assert_eq!(budget.try_start_item(1, false), Err(Decision::Refuse), "the run ends");
}

#[tokio::test]
async fn items_that_only_fail_start_together() {
    let budget = Budget::new(3.0, None);
    for number in 0..3 {
        let failing = budget.start_item(0, false).await.unwrap();
        assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "{number}");
        failing.finish(0.0, true);
    }
    let _item = budget.start_item(0, false).await.unwrap();
    assert!(budget.try_start_item(0, false).is_ok());
}

#[tokio::test]
async fn trials_need_the_rest_of_the_budget() {
    let budget = Budget::new(2.5, None);
    let _item = budget.start_item(0, false).await.unwrap();
    budget.spend(1.0);
    assert!(budget.pays_for_trial(1.0));
    budget.spend(1.0);
    assert!(!budget.pays_for_trial(1.0));
    let message = budget.refusal().unwrap();
    assert!(message.contains("$2.00 spent, and the next trial may cost $1.00"), "{message}");
}
