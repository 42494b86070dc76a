//! Threads for plain functions, futures that cannot bring down their caller, and the panics of both.
//!
//! A call that its caller gives up (its future is dropped) cannot be stopped: its thread is *abandoned*, its late
//! result dropped. The threads are detached, so an abandoned one does not hold up the end of the process either.
//! Only so many may be abandoned at a time; beyond that, further calls are refused with the reason.
//!
//! Most plain functions are quick, and waking a thread costs more than they do. So no more threads are woken than
//! there are cores to run them, unless those that run have been at it for a while: such calls wait for something, and
//! leave their core to others.

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

/// How many threads may be held by calls that nobody waits for any more.
pub const MOST_ABANDONED: usize = 64;
/// How many calls may run at a time; further ones wait for a thread.
const MOST_RUNNING: usize = 512;
/// How long a thread without work is kept.
const IDLE_FOR: Duration = Duration::from_secs(5);
/// After this time a call is taken to wait rather than to compute.
const QUICK: Duration = Duration::from_millis(1);

static POOL: Pool = Pool { state: Mutex::new(State::new()), work: Condvar::new(), backlog: Condvar::new() };
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, Into::into));

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{0}")]
    Panicked(String),
    #[error(
        "not called: {MOST_ABANDONED} threads are still held by plain functions that ran past their timeout; \
         make the function async, or give what it waits for a timeout of its own"
    )]
    Exhausted,
}

/// Calls `work` on a thread of the pool. The call starts at once; dropping the future abandons it.
pub fn run<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Call<R> {
    let (sender, result) = oneshot::channel();
    let stage = Arc::new(Stage::default());
    let job = Job {
        stage: Arc::clone(&stage),
        work: Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            // Nobody listens any more when the call was abandoned.
            let _ = sender.send(result.map_err(|payload| CallError::Panicked(describe(&*payload))));
        }),
    };
    let refused = POOL.submit(job).is_err();
    Call { result, stage, refused }
}

/// How many threads are held at this moment by calls that were given up.
pub fn abandoned() -> usize {
    POOL.lock().abandoned()
}

/// A call on its way; resolves to what the function returned.
#[derive(Debug)]
pub struct Call<R> {
    result: oneshot::Receiver<Result<R, CallError>>,
    stage: Arc<Stage>,
    refused: bool,
}

impl<R> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.refused {
            return Poll::Ready(Err(CallError::Exhausted));
        }
        // The sender is dropped unused only where the job was, which takes the call itself to be dropped.
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

/// How far a job is; the worker and the caller agree through it on who counts the thread.
#[derive(Debug, Default)]
struct Stage(AtomicU8);

impl Stage {
    const QUEUED: u8 = 0;
    const RUNNING: u8 = 1;
    const DONE: u8 = 2;
    const GIVEN_UP: u8 = 3;

    /// The caller no longer waits. True if the call runs at this moment, which leaves its thread behind.
    fn give_up(&self) -> bool {
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |stage| {
            (stage != Self::DONE).then_some(Self::GIVEN_UP)
        });
        before == Ok(Self::RUNNING)
    }

    /// True if the job may start.
    fn start(&self) -> bool {
        self.0.compare_exchange(Self::QUEUED, Self::RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// True if the caller had given up, so that the thread was counted as abandoned.
    fn finish(&self) -> bool {
        self.0.swap(Self::DONE, Ordering::AcqRel) == Self::GIVEN_UP
    }
}

struct Job {
    stage: Arc<Stage>,
    work: Box<dyn FnOnce() + Send>,
}

struct Pool {
    state: Mutex<State>,
    /// There is a job for an idle thread.
    work: Condvar,
    /// There are jobs for which no thread was woken.
    backlog: Condvar,
}

struct State {
    queue: VecDeque<Job>,
    /// When each of the running calls began.
    running: Vec<Instant>,
    idle: usize,
    /// Idle threads that were woken and have not yet taken a job.
    woken: usize,
    threads: usize,
    /// Below zero for the moment in which a call ends before the one who gave it up has counted it.
    abandoned: isize,
    /// Whether there is a thread that watches over the queue, and whether it is awake.
    has_watch: bool,
    watched: bool,
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
            has_watch: false,
            watched: false,
        }
    }

    fn abandoned(&self) -> usize {
        usize::try_from(self.abandoned).unwrap_or(0)
    }

    /// How many calls have begun just now, so that they may need a core.
    fn busy(&self) -> usize {
        let now = Instant::now();
        self.running.iter().filter(|began| now.duration_since(**began) < QUICK).count() + self.woken
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(&'static self, job: Job) -> Result<(), CallError> {
        let mut state = self.lock();
        if state.abandoned() >= MOST_ABANDONED {
            return Err(CallError::Exhausted);
        }
        state.queue.push_back(job);
        if state.busy() < *CORES {
            self.wake_one(&mut state);
        } else if !state.watched {
            state.watched = true;
            self.backlog.notify_one();
        }
        if state.threads == 0 {
            // No thread is to be had, and none is there that could take the job later.
            state.queue.pop_back();
            return Err(CallError::Exhausted);
        }
        Ok(())
    }

    /// Gets a thread going for the next job in the queue, if one is to be had.
    fn wake_one(&'static self, state: &mut State) {
        if state.idle > state.woken {
            state.woken += 1;
            self.work.notify_one();
        } else if state.threads.saturating_sub(state.abandoned()) < MOST_RUNNING {
            if !state.has_watch {
                // Without it, queued jobs wait for the calls before them.
                state.has_watch =
                    thread::Builder::new().name("cobalt-watch".to_owned()).spawn(|| self.watch()).is_ok();
            }
            let thread = thread::Builder::new().name("cobalt-plain".to_owned());
            if thread.spawn(|| self.serve()).is_ok() {
                state.threads += 1;
            }
        }
    }

    /// Gets threads going for jobs that were left in the queue behind calls that turn out to wait.
    fn watch(&'static self) {
        let mut state = self.lock();
        loop {
            if state.queue.len() <= state.woken {
                state.watched = false;
                state = self.backlog.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state = self.backlog.wait_timeout(state, QUICK).unwrap_or_else(PoisonError::into_inner).0;
                // Where many calls wait, the next ones will, too: that doubles the threads at each look.
                let busy = state.busy();
                let waiting = state.running.len().saturating_sub(busy);
                let left_behind = state.queue.len() - state.woken.min(state.queue.len());
                for _ in 0..left_behind.min((*CORES + waiting).saturating_sub(busy)) {
                    self.wake_one(&mut state);
                }
            }
        }
    }

    /// A thread's life: takes jobs until there has been none for a while.
    fn serve(&self) {
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

    /// Waits for a job; `None` when there was none for long enough to end the thread.
    fn next<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Option<(Job, MutexGuard<'a, State>)> {
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some((job, state));
            }
            state.idle += 1;
            let (guard, waited) =
                self.work.wait_timeout(state, IDLE_FOR).unwrap_or_else(PoisonError::into_inner);
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

/// A task that ends with whoever waits for it.
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

/// Waits for a future; a panic in it is handed over rather than passed on.
pub async fn catch_panic<F: Future + Unpin>(mut future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Waits for all futures side by side.
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
    /// Where the last panic of this thread was, while it has not been asked for.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of each panic from now on, besides what the hook that is there does.
pub fn note_places() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string);
        // A panic while the thread ends has no place to be kept in.
        let _ = PLACE.try_with(|kept| kept.replace(place));
        hook(info);
    }));
}

/// A panic that was caught on this thread, in a sentence: its place, where it is known, and its message.
pub fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text =
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    match PLACE.try_with(RefCell::take) {
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
        let before = abandoned();
        drop(call);
        assert_eq!(abandoned(), before + 1);
        release.send(()).unwrap();
        while abandoned() > before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
