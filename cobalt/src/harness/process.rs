//! What a process that runs experiments needs around them: threads, and ears for signals.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

use super::signals::Signals;
use crate::session::Run;

/// The most threads of the runtime.
const MOST_WORKERS: usize = 512;

/// A runtime that whoever ends the process can take, or nobody has taken yet.
pub(super) type SharedRuntime = Arc<Mutex<Option<Runtime>>>;

/// A process that is ready to run experiments.
pub(super) struct Process {
    pub(super) runtime: SharedRuntime,
    pub(super) signals: Signals,
}

impl Process {
    /// Makes ready for these runs. From now on no signal ends the process by itself.
    pub(super) fn start(runs: &[Run]) -> Result<Self, String> {
        let at_a_time = |run: &Run| run.plan().definition().concurrency.min(run.plan().dataset().len());
        let items_at_a_time = runs.iter().map(at_a_time).fold(0, usize::saturating_add);
        let runtime =
            Builder::new_multi_thread().worker_threads(workers(items_at_a_time)).enable_all().build();
        let runtime = runtime.map_err(|error| format!("failed to start the runtime: {error}"))?;
        let signals = Signals::catch().map_err(no_signals)?;
        Ok(Self { runtime: Arc::new(Mutex::new(Some(runtime))), signals })
    }
}

/// Where experiments are started.
pub(super) fn handle(runtime: &SharedRuntime) -> Handle {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner);
    runtime.as_ref().expect("a runtime is taken at the end").handle().clone()
}

pub(super) fn no_signals(error: std::io::Error) -> String {
    format!("failed to catch signals: {error}")
}

/// How many threads the runtime has: more than agents can run at a time, so that agents that block without saying so
/// leave one for timers and for each other. A thread without work costs next to nothing.
fn workers(items_at_a_time: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    items_at_a_time.saturating_add(1).clamp(cores, cores.max(MOST_WORKERS))
}
