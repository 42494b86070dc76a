//! `Pool`: the processes of a program, busy and idle.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::wording::count;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::process::{
    Framing, IdleState, Process, ProgramOutput, describe_exit, exited_early, extra_output, timed_out,
    too_long, with_stderr,
};
use super::program::CommandConfig;
use super::protocol::{self, InvalidResponse, Request};
use crate::evaluators::{EvalError, Score};

/// The time for programs to exit on their own.
const GRACE: Duration = Duration::from_secs(2);
/// The same when dropped, as the caller has to wait.
const GRACE_AT_DROP: Duration = Duration::from_millis(200);
/// The maximum number of consecutive failures before a first response; then the program is not started again.
const MAX_FAILED_STARTS: usize = 5;

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
    failed_starts: usize,
    /// The error of the last one.
    last_error: String,
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
        program: &CommandConfig<'_>,
        request: Request,
        limit: Duration,
    ) -> Result<Score, EvalError> {
        let _turn = self.acquire_slot().await;
        let mut process = self.idle_or_new(program)?;
        process.send(request.line);
        let Ok(heard) = timeout(limit, process.next_output()).await else {
            return Err(self.fail(&timed_out(limit, true, process.response_count == 0), &process));
        };
        let Some(heard) = heard else {
            let status = process.wait_for_exit_and_messages().await;
            return Err(self.fail(&exited_early(status, process.response_count), &process));
        };
        let answer = match heard {
            ProgramOutput::Response { bytes, more: false } => protocol::parse_response(&bytes, request.id),
            more => return Err(self.fail(&extra_output(&more), &process)),
        };
        match answer {
            Ok(score) => {
                process.response_count += 1;
                let mut state = self.state();
                state.failed_starts = 0;
                state.idle.push(process);
                score
            }
            // Its next line may belong to this request or to the next one: use a new process.
            Err(InvalidResponse(problem)) => Err(self.fail(&problem, &process)),
        }
    }

    /// Starts a process for a single request.
    pub async fn ask_once(
        &self,
        program: &CommandConfig<'_>,
        request: Request,
        limit: Duration,
    ) -> Result<Score, EvalError> {
        let _turn = self.acquire_slot().await;
        let mut process = Process::start(program, Framing::WholeStream).map_err(EvalError::new)?;
        process.send(request.line);
        process.close_stdin();
        let answer = async {
            match process.next_output().await {
                Some(ProgramOutput::Response { bytes, .. }) => Ok((Some(bytes), process.ended().await)),
                None => Ok((None, process.ended().await)),
                // Do not wait for it any longer.
                Some(ProgramOutput::TooLong) => Err(too_long()),
            }
        };
        let problem = match timeout(limit, answer).await {
            Err(_) => return Err(with_stderr(&timed_out(limit, false, true), &process)),
            Ok(Err(too_long)) => too_long,
            Ok(Ok((None, status))) => {
                format!("the program {} without an answer", describe_exit(Some(status)))
            }
            Ok(Ok((_, status))) if !status.success() => {
                format!("the program {}, so its answer does not count", describe_exit(Some(status)))
            }
            Ok(Ok((Some(bytes), _))) => match protocol::parse_response(&bytes, request.id) {
                Ok(score) => return score,
                Err(InvalidResponse(problem)) => problem,
            },
        };
        process.wait_for_exit_and_messages().await;
        Err(with_stderr(&problem, &process))
    }

    /// Waits for a free slot.
    async fn acquire_slot(&self) -> SemaphorePermit<'_> {
        self.free.acquire().await.expect("the semaphore is never closed")
    }

    fn idle_or_new(&self, program: &CommandConfig<'_>) -> Result<Process, EvalError> {
        let waiting = self.state().idle.pop();
        if let Some(mut process) = waiting {
            match process.idle_state() {
                IdleState::Quiet => return Ok(process),
                IdleState::UnexpectedOutput(heard) => {
                    return Err(with_stderr(&extra_output(&heard), &process));
                }
                IdleState::Exited if process.response_count == 1 => {
                    return Err(with_stderr(&exited_early(process.status(), 1), &process));
                }
                IdleState::Exited => {}
            }
        }
        let state = self.state();
        if state.failed_starts >= MAX_FAILED_STARTS {
            return Err(EvalError::new(format!(
                "skipped: the program failed {} in a row before its first answer and is not started again; last \
                 failure: {}",
                count(state.failed_starts, "time"),
                state.last_error
            )));
        }
        drop(state);
        Process::start(program, Framing::Lines).map_err(EvalError::new)
    }

    /// The error of a process that cannot be used again. It counts as a failed start if the process never responded.
    fn fail(&self, problem: &str, process: &Process) -> EvalError {
        let error = with_stderr(problem, process);
        if process.response_count == 0 {
            let mut state = self.state();
            state.failed_starts += 1;
            state.last_error = error.to_string();
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
