//! Many requests against limits, in paused time.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use glob::Pattern;
use tokio::task::{JoinSet, LocalSet, yield_now};
use tokio::time::{Instant, sleep, timeout};

use super::clock::Clock;
use super::{LimitRule, Limits, Permit};

const SECOND: Duration = Duration::from_secs(1);
/// Any time that is long, but over at once in paused time.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

fn requests(per_minute: u64) -> LimitRule {
    LimitRule { requests_per_minute: Some(per_minute), ..LimitRule::default() }
}

fn tokens(per_minute: u64) -> LimitRule {
    LimitRule { tokens_per_minute: Some(per_minute), ..LimitRule::default() }
}

fn concurrent(requests: usize) -> LimitRule {
    LimitRule { concurrent_requests: Some(requests), ..LimitRule::default() }
}

fn of_model(pattern: &str, rule: LimitRule) -> LimitRule {
    LimitRule { model: Some(Pattern::new(pattern).unwrap()), ..rule }
}

fn limits(rules: impl Into<Vec<LimitRule>>) -> Limits {
    Limits::new(rules.into(), None)
}

async fn acquire(limits: &Limits) -> Permit {
    limits.acquire("openai", Some("gpt-4o"), 10).await
}

/// How long a future takes, and its output.
async fn timed<T>(future: impl Future<Output = T>) -> (Duration, T) {
    let began = Instant::now();
    let output = future.await;
    (began.elapsed(), output)
}

/// What was seen of requests: when they started, and how many there were at a time.
#[derive(Debug, Default)]
struct Seen {
    starts: RefCell<Vec<Instant>>,
    current: Cell<usize>,
    most: Cell<usize>,
}

impl Seen {
    /// Sends a request that takes some time.
    async fn send(&self, limits: &Limits, takes: Duration) -> Duration {
        let (waited, permit) = timed(acquire(limits)).await;
        self.starts.borrow_mut().push(Instant::now());
        self.current.set(self.current.get() + 1);
        self.most.set(self.most.get().max(self.current.get()));
        sleep(takes).await;
        self.current.set(self.current.get() - 1);
        permit.settle(Some(10));
        waited
    }

    /// The most requests that started in any minute.
    fn most_in_a_minute(&self) -> usize {
        let starts = self.starts.borrow();
        let in_minute = |first: &Instant| {
            starts.iter().filter(|start| *start >= first && **start < *first + SECOND * 60).count()
        };
        starts.iter().map(in_minute).max().unwrap_or_default()
    }
}

/// Sends requests at once, alternating between limits, and waits for all of them.
async fn send_all(limits: &[Rc<Limits>], count: usize, takes: Duration) -> Seen {
    let (tasks, seen) = (LocalSet::new(), Rc::new(Seen::default()));
    for turn in 0..count {
        let (limits, seen) = (Rc::clone(&limits[turn % limits.len()]), Rc::clone(&seen));
        tasks.spawn_local(async move { seen.send(&limits, takes).await });
    }
    timeout(LONG, tasks).await.expect("all requests end");
    Rc::into_inner(seen).expect("all requests ended")
}

#[tokio::test(start_paused = true)]
async fn requests_a_minute_are_held_and_used() {
    for limit in [7, 60, 300] {
        let began = Instant::now();
        let seen = send_all(&[limits([requests(limit)]).into()], 900, SECOND * 3).await;
        let most = seen.most_in_a_minute();
        assert!(most <= usize::try_from(limit).unwrap(), "{most} of {limit}");
        let minutes = began.elapsed().as_secs_f64() / 60.0;
        assert!(minutes <= 900.0 / limit as f64 * 1.03, "{minutes} minutes at {limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_a_time_are_held_and_used() {
    let began = Instant::now();
    let seen = send_all(&[limits([concurrent(4)]).into()], 40, SECOND).await;
    assert_eq!((seen.most.get(), began.elapsed().as_secs()), (4, 10));
}

#[tokio::test(start_paused = true)]
async fn all_rules_that_match_hold_together() {
    let began = Instant::now();
    let other = of_model("claude*", concurrent(1));
    let rules = [requests(120), of_model("gpt-*", concurrent(5)), other];
    let seen = send_all(&[limits(rules).into()], 60, SECOND * 10).await;
    // 5 at a time, each for 10 s, are 30 a minute.
    assert_eq!((seen.most.get(), seen.most_in_a_minute()), (5, 30));
    assert_eq!(began.elapsed().as_secs(), 121);
}

#[tokio::test(start_paused = true)]
async fn tokens_a_minute_count_as_the_responses_report_them() {
    let limits = limits([tokens(600)]);
    acquire(&limits).await.settle(Some(610));
    let (waited, late) = timed(acquire(&limits)).await;
    assert!((60..=62).contains(&waited.as_secs()), "{waited:?}");
    late.settle(Some(0));
    assert!(timed(acquire(&limits)).await.0.is_zero());
}

#[tokio::test(start_paused = true)]
async fn without_a_rule_nothing_waits() {
    let limits = limits([of_model("claude*", concurrent(1))]);
    let mut permits = Vec::new();
    for _ in 0..1000 {
        permits.push(timeout(Duration::ZERO, acquire(&limits)).await.unwrap());
    }
}

/// A server that serves some requests at a time, and refuses the others.
#[derive(Debug, Default)]
struct Server {
    current: Cell<usize>,
    refused: Cell<usize>,
    asks_for: Option<Duration>,
}

impl Server {
    /// Sends a request until it is served, and returns the number of attempts.
    async fn serve(&self, limits: &Limits, at_a_time: usize) -> u32 {
        for attempt in 1.. {
            let permit = acquire(limits).await;
            self.current.set(self.current.get() + 1);
            let is_served = self.current.get() <= at_a_time;
            sleep(Duration::from_millis(if is_served { 900 } else { 30 })).await;
            self.current.set(self.current.get() - 1);
            if is_served {
                permit.settle(None);
                return attempt;
            }
            self.refused.set(self.refused.get() + 1);
            permit.throttled(self.asks_for);
        }
        unreachable!("attempts are not limited")
    }
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_429s_settles() {
    for asks_for in [None, Some(SECOND)] {
        let limits = Rc::new(limits([]));
        let server = Rc::new(Server { asks_for, ..Server::default() });
        let tasks = LocalSet::new();
        let attempts = Rc::new(RefCell::new(Vec::new()));
        for _ in 0..64 {
            let (limits, server, attempts) = (Rc::clone(&limits), Rc::clone(&server), Rc::clone(&attempts));
            tasks.spawn_local(async move {
                let needed = server.serve(&limits, 6).await;
                attempts.borrow_mut().push(needed);
            });
        }
        timeout(SECOND * 60, tasks).await.expect("all requests are served");
        assert_eq!(attempts.borrow().len(), 64);
        // The first 58, and then fewer each time: 32 at a time, 16, …
        let refused = server.refused.get();
        assert!(refused <= 58 + 26 + 30, "{refused} refused");
        let most = attempts.borrow().iter().copied().max();
        assert!(most <= Some(8), "{most:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_429_nothing_starts_for_this_model_before_the_time_that_the_server_asks_for() {
    let limits = limits([]);
    acquire(&limits).await.throttled(Some(SECOND * 20));
    assert!(timed(limits.acquire("openai", Some("gpt-4o-mini"), 0)).await.0.is_zero());
    assert!(timed(limits.acquire("azure", Some("gpt-4o"), 0)).await.0.is_zero());
    let (waited, _) = timed(acquire(&limits)).await;
    assert!(waited >= SECOND * 20 && waited < SECOND * 21, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn requests_are_served_in_the_order_of_their_arrival() {
    let limits = Rc::new(limits([concurrent(3), tokens(60_000)]));
    let (tasks, order) = (LocalSet::new(), Rc::new(RefCell::new(Vec::new())));
    for number in 0..50_u64 {
        let (limits, order) = (Rc::clone(&limits), Rc::clone(&order));
        tasks.spawn_local(async move {
            // Large and small requests.
            let permit = limits.acquire("openai", None, number % 5 * 400).await;
            order.borrow_mut().push(number);
            sleep(Duration::from_millis(number % 7 * 100 + 1)).await;
            drop(permit);
        });
    }
    timeout(LONG, tasks).await.unwrap();
    assert!(order.borrow().is_sorted() && order.borrow().len() == 50, "{order:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_waits_does_not_block_another_one() {
    let limits = limits([concurrent(10), of_model("gpt-4o", requests(1))]);
    let _first = acquire(&limits).await;
    let mut waiting = Box::pin(timed(acquire(&limits)));
    assert!(timeout(SECOND, &mut waiting).await.is_err());
    assert!(timed(limits.acquire("openai", Some("o3"), 0)).await.0.is_zero());
    assert_eq!(waiting.await.0.as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_is_dropped_makes_room() {
    let limits = limits([concurrent(1)]);
    let permit = acquire(&limits).await;
    let mut next = Box::pin(timed(acquire(&limits)));
    assert!(timeout(SECOND, &mut next).await.is_err());
    drop(permit);
    assert_eq!(timeout(Duration::ZERO, next).await.unwrap().0, SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_gives_up_makes_room_for_those_behind_it() {
    let limits = limits([tokens(60)]);
    acquire(&limits).await.settle(Some(31));
    let mut large = Box::pin(limits.acquire("openai", None, 1));
    let mut small = Box::pin(timed(limits.acquire("openai", None, 0)));
    assert!(timeout(SECOND, &mut large).await.is_err());
    assert!(timeout(SECOND, &mut small).await.is_err());
    drop(large);
    assert_eq!(small.await.0.as_secs(), 29);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_not_taken_goes_to_the_next_request() {
    let limits = limits([concurrent(1), requests(1), tokens(60)]);
    let first = acquire(&limits).await;
    let mut second = Box::pin(acquire(&limits));
    assert!(timeout(SECOND * 100, &mut second).await.is_err());
    let mut third = Box::pin(timed(acquire(&limits)));
    assert!(timeout(SECOND, &mut third).await.is_err());
    // Now it is the turn of the second request, which does not see it any more.
    drop(first);
    drop(second);
    assert_eq!(timeout(Duration::ZERO, third).await.unwrap().0, SECOND);
}

#[tokio::test(start_paused = true)]
async fn requests_that_give_up_at_any_time_lose_no_wake_up() {
    let limits = Arc::new(limits([concurrent(3), requests(1200)]));
    let mut tasks = JoinSet::new();
    for number in 0..300_u64 {
        let limits = Arc::clone(&limits);
        tasks.spawn(async move {
            sleep(Duration::from_millis(number % 11)).await;
            let patience = Duration::from_millis(if number % 3 == 0 { number % 40 } else { 100_000 });
            let permit = timeout(patience, acquire(&limits)).await;
            sleep(Duration::from_millis(number % 13)).await;
            match (permit, number % 4) {
                (Ok(permit), 0) => permit.settle(Some(10)),
                (Ok(permit), 1) if number < 20 => permit.throttled(Some(Duration::from_millis(5))),
                _ => {}
            }
        });
    }
    timeout(SECOND * 60, tasks.join_all()).await.expect("all requests end");
    yield_now().await;
    assert!(timed(acquire(&limits)).await.0 < SECOND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_of_a_process_hold_the_limits_together() {
    let limits = Arc::new(limits([concurrent(8)]));
    let current = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for number in 0..2000_u64 {
        let (limits, current) = (Arc::clone(&limits), Arc::clone(&current));
        tasks.spawn(async move {
            let patience = if number % 5 == 0 { Duration::from_micros(number) } else { LONG };
            let Ok(permit) = timeout(patience, acquire(&limits)).await else { return 0 };
            let now = current.fetch_add(1, Ordering::SeqCst) + 1;
            yield_now().await;
            current.fetch_sub(1, Ordering::SeqCst);
            permit.settle(None);
            now
        });
    }
    let seen = timeout(SECOND * 60, tasks.join_all()).await.expect("all requests end");
    let most = seen.into_iter().max();
    assert!(most <= Some(8), "{most:?}");
}

/// Limits of two processes that share a folder.
fn two_processes(folder: &Path, rules: &[LimitRule]) -> [Rc<Limits>; 2] {
    let clock = Clock::Since(Instant::now());
    [(); 2].map(|()| Limits::with_clock(rules.to_vec(), Some(folder.join("limits")), Some(clock)).into())
}

#[tokio::test(start_paused = true)]
async fn two_processes_hold_the_limits_together() {
    let folder = tempfile::tempdir().unwrap();
    let rules = [requests(300), concurrent(5)];
    let began = Instant::now();
    let seen = send_all(&two_processes(folder.path(), &rules), 200, Duration::from_millis(500)).await;
    assert!(seen.most.get() <= 5 && seen.most_in_a_minute() <= 300, "{seen:?}");
    // As in one process, 40 s, and the polls.
    assert!(began.elapsed() < SECOND * 48, "{:?}", began.elapsed());
}

#[test]
fn threads_with_limits_of_their_own_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let process = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let limits = Limits::new(vec![requests(6000)], Some(folder.path().to_owned()));
        let all = async {
            for _ in 0..60 {
                acquire(&limits).await.settle(None);
            }
        };
        runtime.block_on(async { timeout(SECOND * 60, all).await.expect("all requests start") });
        assert!(limits.take_sharing_error().is_none());
    };
    let began = std::time::Instant::now();
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(process))));
    // A burst of 100, and the others at 98 a second.
    let took = began.elapsed();
    assert!(took > Duration::from_millis(750), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_requests_of_a_process_that_dies_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let [dying, living] = two_processes(folder.path(), &[concurrent(2)]);
    let permits = [acquire(&dying).await, acquire(&dying).await];
    assert!(timeout(SECOND * 5, acquire(&living)).await.is_err());
    drop((dying, permits));
    let [first, second] = [timed(acquire(&living)).await, timed(acquire(&living)).await];
    assert!(first.0 < SECOND && second.0 < SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_written_is_reported_once_and_limits_hold_in_each_process() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("limits"), "").unwrap();
    let [limits, other] = two_processes(folder.path(), &[concurrent(1)]);
    let error = limits.take_sharing_error().unwrap().to_string();
    assert!(error.starts_with("failed to share limits between processes in `"), "{error}");
    assert!(limits.take_sharing_error().is_none());
    let _permits = [acquire(&limits).await, acquire(&other).await];
    assert!(timeout(SECOND, acquire(&limits)).await.is_err());
}

#[test]
fn the_smallest_number_of_retries_applies() {
    let retries = |retries| LimitRule { retries: Some(retries), ..LimitRule::default() };
    let limits = limits([of_model("gpt-4o*", retries(2)), of_model("gpt-*", retries(6)), requests(5)]);
    let of = |model| limits.retries("openai", Some(model));
    assert_eq!((of("gpt-4o"), of("gpt-5"), of("o3")), (2, 6, 4));
}
