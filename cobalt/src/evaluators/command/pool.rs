//! `Pool`: the processes of a program, busy and idle.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::wording::count;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::answer::{self, NoAnswer, Request};
use super::process::{
    Between, Ends, Heard, Process, ended, ended_unasked, too_long, too_much, too_slow, with_messages,
};
use super::program::Program;
use crate::evaluators::{EvalError, Score};

/// The time for programs to exit on their own.
const GRACE: Duration = Duration::from_secs(2);
/// The same when dropped, as the caller has to wait.
const GRACE_AT_DROP: Duration = Duration::from_millis(200);
/// The maximum number of consecutive failures before a first response; then the program is not started again.
const MOST_STARTS: usize = 5;

/// The processes of a program.
#[derive(Debug)]
pub struct Pool {
    free: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Process>,
    /// The number of consecutive processes that failed before their first response.
    in_vain: usize,
    /// The error of the last one.
    why: String,
}

impl Pool {
    /// Creates a pool with a maximum number of parallel processes.
    pub fn new(processes: usize) -> Self {
        let free = Semaphore::new(processes.clamp(1, Semaphore::MAX_PERMITS));
        Self { free, state: Mutex::default() }
    }

    /// Sends a request to a kept process.
    pub async fn ask_kept(
        &self,
        program: &Program<'_>,
        request: Request,
        limit: Duration,
    ) -> Result<Score, EvalError> {
        let _turn = self.turn().await;
        let mut process = self.waiting_or_new(program)?;
        process.ask(request.line);
        let Ok(heard) = timeout(limit, process.hear()).await else {
            return Err(self.failed(&too_slow(limit, true, process.answered == 0), &process));
        };
        let Some(heard) = heard else {
            let status = process.ending().await;
            return Err(self.failed(&ended_unasked(status, process.answered), &process));
        };
        let answer = match heard {
            Heard::Answer { bytes, more: false } => answer::read(&bytes, request.id),
            more => return Err(self.failed(&too_much(&more), &process)),
        };
        match answer {
            Ok(score) => {
                process.answered += 1;
                let mut state = self.state();
                state.in_vain = 0;
                state.idle.push(process);
                score
            }
            // Its next line may belong to this request or to the next one: use a new process.
            Err(NoAnswer(problem)) => Err(self.failed(&problem, &process)),
        }
    }

    /// Starts a process for a single request.
    pub async fn ask_once(
        &self,
        program: &Program<'_>,
        request: Request,
        limit: Duration,
    ) -> Result<Score, EvalError> {
        let _turn = self.turn().await;
        let mut process = Process::start(program, Ends::WithStream).map_err(EvalError::new)?;
        process.ask(request.line);
        process.close_stdin();
        let answer = async {
            match process.hear().await {
                Some(Heard::Answer { bytes, .. }) => Ok((Some(bytes), process.ended().await)),
                None => Ok((None, process.ended().await)),
                // Do not wait for it any longer.
                Some(Heard::TooLong) => Err(too_long()),
            }
        };
        let problem = match timeout(limit, answer).await {
            Err(_) => return Err(with_messages(&too_slow(limit, false, true), &process)),
            Ok(Err(too_long)) => too_long,
            Ok(Ok((None, status))) => format!("the program {} without an answer", ended(Some(status))),
            Ok(Ok((_, status))) if !status.success() => {
                format!("the program {}, so its answer does not count", ended(Some(status)))
            }
            Ok(Ok((Some(bytes), _))) => match answer::read(&bytes, request.id) {
                Ok(score) => return score,
                Err(NoAnswer(problem)) => problem,
            },
        };
        process.ending().await;
        Err(with_messages(&problem, &process))
    }

    /// Waits for a free slot.
    async fn turn(&self) -> SemaphorePermit<'_> {
        self.free.acquire().await.expect("the semaphore is never closed")
    }

    fn waiting_or_new(&self, program: &Program<'_>) -> Result<Process, EvalError> {
        let waiting = self.state().idle.pop();
        if let Some(mut process) = waiting {
            match process.between() {
                Between::Quiet => return Ok(process),
                Between::Spoke(heard) => return Err(with_messages(&too_much(&heard), &process)),
                Between::Ended if process.answered == 1 => {
                    return Err(with_messages(&ended_unasked(process.status(), 1), &process));
                }
                Between::Ended => {}
            }
        }
        let state = self.state();
        if state.in_vain >= MOST_STARTS {
            return Err(EvalError::new(format!(
                "skipped: the program failed {} in a row before its first answer and is not started again; last \
                 failure: {}",
                count(state.in_vain, "time"),
                state.why
            )));
        }
        drop(state);
        Process::start(program, Ends::WithLine).map_err(EvalError::new)
    }

    /// The error of a process that cannot be used again. It counts as a failed start if the process never responded.
    fn failed(&self, problem: &str, process: &Process) -> EvalError {
        let error = with_messages(problem, process);
        if process.answered == 0 {
            let mut state = self.state();
            state.in_vain += 1;
            state.why = error.to_string();
        }
        error
    }

    /// Shuts down the idle processes. Blocks until they have exited or the grace period is over.
    pub fn finish(&self) {
        let idle = std::mem::take(&mut self.state().idle);
        finish(idle, GRACE);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Processes are left if a run was interrupted.
impl Drop for Pool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.state().idle);
        finish(idle, GRACE_AT_DROP);
    }
}

fn finish(mut processes: Vec<Process>, grace: Duration) {
    processes.iter_mut().for_each(Process::close_stdin);
    let deadline = Instant::now() + grace;
    processes.into_iter().for_each(|process| process.finish(deadline));
}
