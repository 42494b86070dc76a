//! A thread pool for plain functions, and helpers that catch panics of functions and futures.
//!
//! A call whose future is dropped cannot be stopped: its thread is *abandoned*, and its late result is dropped. Threads are detached, so
//! abandoned ones do not delay the end of the process. The number of abandoned threads is limited; beyond it, further calls are refused
//! with the reason.
//!
//! Most plain functions are quick, and waking a thread costs more than calling them. So at most one thread per core is woken, unless
//! running calls take longer: such calls probably wait for something and leave their core idle.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

/// The maximum number of abandoned threads.
pub const MAX_ABANDONED: usize = 64;
/// The maximum number of parallel calls; further ones wait for a thread.
const MAX_RUNNING: usize = 512;
/// How long an idle thread is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// After this time, a call is assumed to wait rather than compute.
const QUICK_CALL: Duration = Duration::from_millis(1);

static POOL: Pool = Pool { state: Mutex::new(State::new()), work: Condvar::new(), backlog: Condvar::new() };
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, Into::into));

/// Why a call returned no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{0}")]
    Panicked(String),
    #[error(
        "not called: {MAX_ABANDONED} threads are still running plain functions that timed out; make the function async, \
         or add a timeout to what it waits for"
    )]
    Exhausted,
}

/// Calls `work` on a thread of the pool. The call starts at once; dropping the future abandons it.
pub fn run<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Call<R> {
    let (sender, result) = oneshot::channel();
    let stage = Arc::new(JobStage::default());
    let job = Job {
        stage: Arc::clone(&stage),
        work: Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            // The receiver is gone if the call was abandoned.
            let _ = sender.send(result.map_err(|payload| CallError::Panicked(describe_panic(&*payload))));
        }),
    };
    let refused = POOL.submit(job).is_err();
    Call { result, stage, refused }
}

/// The current number of abandoned threads.
pub fn abandoned_threads() -> usize {
    POOL.lock().abandoned()
}

/// A running call; resolves to the function's result.
#[derive(Debug)]
pub struct Call<R> {
    result: oneshot::Receiver<Result<R, CallError>>,
    stage: Arc<JobStage>,
    refused: bool,
}

impl<R> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.refused {
            return Poll::Ready(Err(CallError::Exhausted));
        }
        // The sender is dropped unused only with the job, which requires the call itself to be dropped.
        Pin::new(&mut self.result).poll(cx).map(|result| result.unwrap_or(Err(CallError::Exhausted)))
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        if self.stage.give_up() {
            POOL.lock().abandoned += 1;
        }
    }
}

/// The stage of a job. Through it, worker and caller agree on who counts the thread.
#[derive(Debug, Default)]
struct JobStage(AtomicU8);

impl JobStage {
    const QUEUED: u8 = 0;
    const RUNNING: u8 = 1;
    const DONE: u8 = 2;
    const GIVEN_UP: u8 = 3;

    /// Marks that the caller no longer waits. Returns whether the call is running, which abandons its thread.
    fn give_up(&self) -> bool {
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |stage| {
            (stage != Self::DONE).then_some(Self::GIVEN_UP)
        });
        before == Ok(Self::RUNNING)
    }

    /// Returns whether the job may start.
    fn start(&self) -> bool {
        self.0.compare_exchange(Self::QUEUED, Self::RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Returns whether the caller had given up, so that the thread was counted as abandoned.
    fn finish(&self) -> bool {
        self.0.swap(Self::DONE, Ordering::AcqRel) == Self::GIVEN_UP
    }
}

struct Job {
    stage: Arc<JobStage>,
    work: Box<dyn FnOnce() + Send>,
}

struct Pool {
    state: Mutex<State>,
    /// Signals a job for an idle thread.
    work: Condvar,
    /// Signals jobs for which no thread was woken.
    backlog: Condvar,
}

struct State {
    queue: VecDeque<Job>,
    /// The start times of the running calls.
    running: Vec<Instant>,
    idle: usize,
    /// Idle threads that were woken but have not taken a job yet.
    woken: usize,
    threads: usize,
    /// Briefly negative if a call ends before its caller has counted it as abandoned.
    abandoned: isize,
    /// Whether a thread watches the queue, and whether it is awake.
    has_watcher: bool,
    watcher_is_awake: bool,
}

impl State {
    const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            running: Vec::new(),
            idle: 0,
            woken: 0,
            threads: 0,
            abandoned: 0,
            has_watcher: false,
            watcher_is_awake: false,
        }
    }

    fn abandoned(&self) -> usize {
        usize::try_from(self.abandoned).unwrap_or(0)
    }

    /// How many calls started just now, and so may need a core.
    fn busy(&self) -> usize {
        let now = Instant::now();
        self.running.iter().filter(|began| now.duration_since(**began) < QUICK_CALL).count() + self.woken
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(&'static self, job: Job) -> Result<(), CallError> {
        let mut state = self.lock();
        if state.abandoned() >= MAX_ABANDONED {
            return Err(CallError::Exhausted);
        }
        state.queue.push_back(job);
        if state.busy() < *CORES {
            self.wake_one(&mut state);
        } else if !state.watcher_is_awake {
            state.watcher_is_awake = true;
            self.backlog.notify_one();
        }
        if state.threads == 0 {
            // No thread could be started, and none exists that could take the job later.
            state.queue.pop_back();
            return Err(CallError::Exhausted);
        }
        Ok(())
    }

    /// Wakes or starts a thread for the next job in the queue, if possible.
    fn wake_one(&'static self, state: &mut State) {
        if state.idle > state.woken {
            state.woken += 1;
            self.work.notify_one();
        } else if state.threads.saturating_sub(state.abandoned()) < MAX_RUNNING {
            if !state.has_watcher {
                // Without it, queued jobs would wait for the calls before them.
                state.has_watcher = thread::Builder::new()
                    .name("cobalt-watch".to_owned())
                    .spawn(|| self.run_watcher())
                    .is_ok();
            }
            let thread = thread::Builder::new().name("cobalt-plain".to_owned());
            if thread.spawn(|| self.run_worker()).is_ok() {
                state.threads += 1;
            }
        }
    }

    /// Starts threads for jobs that are queued behind waiting calls.
    fn run_watcher(&'static self) {
        let mut state = self.lock();
        loop {
            if state.queue.len() <= state.woken {
                state.watcher_is_awake = false;
                state = self.backlog.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state =
                    self.backlog.wait_timeout(state, QUICK_CALL).unwrap_or_else(PoisonError::into_inner).0;
                // If many calls wait, the next ones probably will, too: this doubles the threads each time.
                let busy = state.busy();
                let waiting = state.running.len().saturating_sub(busy);
                let left_behind = state.queue.len() - state.woken.min(state.queue.len());
                for _ in 0..left_behind.min((*CORES + waiting).saturating_sub(busy)) {
                    self.wake_one(&mut state);
                }
            }
        }
    }

    /// A thread's main loop: runs jobs until there has been none for a while.
    fn run_worker(&self) {
        let mut state = self.lock();
        while let Some((job, mut held)) = self.next(state) {
            if job.stage.start() {
                let began = Instant::now();
                held.running.push(began);
                drop(held);
                (job.work)();
                held = self.lock();
                if let Some(place) = held.running.iter().position(|start| *start == began) {
                    held.running.swap_remove(place);
                }
                if job.stage.finish() {
                    held.abandoned -= 1;
                }
            }
            state = held;
        }
    }

    /// Waits for a job; `None` if there was none for so long that the thread should end.
    fn next<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Option<(Job, MutexGuard<'a, State>)> {
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some((job, state));
            }
            state.idle += 1;
            let (guard, waited) =
                self.work.wait_timeout(state, IDLE_TIMEOUT).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            state.woken = state.woken.saturating_sub(1);
            if waited.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }
}

/// A task that is aborted when this handle is dropped.
pub struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    pub fn new(task: JoinHandle<T>) -> Self {
        Self(task)
    }

    pub async fn join(&mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for a future; returns a panic as an error.
pub async fn catch_panic<F: Future + Unpin>(mut future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Waits for all futures in parallel.
pub async fn join_all<'a, T>(futures: Vec<Pin<Box<dyn Future<Output = T> + Send + 'a>>>) -> Vec<T> {
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

thread_local! {
    /// The location of this thread's last panic, until it is taken.
    static LAST_PANIC_LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Records the location of each panic from now on, in addition to the existing hook.
pub fn record_panic_locations() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string);
        // While the thread ends, the location cannot be stored.
        let _ = LAST_PANIC_LOCATION.try_with(|kept| kept.replace(place));
        hook(info);
    }));
}

/// Describes a panic caught on this thread: its location, if known, and its message.
pub fn describe_panic(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text =
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    match LAST_PANIC_LOCATION.try_with(RefCell::take) {
        Ok(Some(place)) => format!("panicked at {place}: {text}"),
        _ => format!("panicked: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_call_resolves_to_what_the_function_returned() {
        assert_eq!(run(|| 6 * 7).await.unwrap(), 42);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_message() {
        let error = run(|| -> () { panic!("broke {}", 7) }).await.unwrap_err();
        assert_eq!(error.to_string(), "panicked: broke 7");
    }

    #[tokio::test]
    async fn a_call_given_up_leaves_its_thread_behind_until_it_returns() {
        let (release, held) = mpsc::channel::<()>();
        let (started, running) = mpsc::channel();
        let call = run(move || {
            started.send(()).unwrap();
            let _ = held.recv();
        });
        running.recv().unwrap();
        let before = abandoned_threads();
        drop(call);
        assert_eq!(abandoned_threads(), before + 1);
        release.send(()).unwrap();
        while abandoned_threads() > before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
