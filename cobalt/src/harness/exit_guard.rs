//! Guards the exit of the process: a process that exits before its experiments have run must not pass.
//!
//! For `cargo test` and nextest, exit code 0 means success. A test target whose `main` never calls `cobalt::main()` would exit with
//! 0, and so would an agent, an evaluator or a panic hook that calls `std::process::exit(0)`. An exit hook turns both into a failing
//! exit code. Native code that calls `_exit` skips the hook; [`exit_witness`] reports that.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use super::exit_code::{INTERRUPTED, SETUP_ERROR};
use super::exit_witness;
use crate::private::ExperimentDefinition;
use crate::processes;
use crate::session::Run;

/// `cobalt::main()` has not been called yet.
const NOT_CALLED: u8 = 0;
/// It has been called, and may print help and exit.
const CALLED: u8 = 1;
/// Only `leave` may end the process.
const ARMED: u8 = 2;
/// The process exits with the correct exit code.
const EXITING: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(NOT_CALLED);
/// The ID of the process that has begun: a fork of it has no experiments to run.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The runs of this process.
static RUNS: Mutex<Vec<TrackedRun>> = Mutex::new(Vec::new());

/// A run of an experiment.
struct TrackedRun {
    experiment: String,
    id: String,
    has_ended: bool,
}

/// Guard for the time between the start and the end of `cobalt::main()`.
#[derive(Debug)]
pub struct ExitGuard;

/// Ends all programs on drop, prevents new ones, and removes the folders that they worked in: for the exit of the process.
#[derive(Debug)]
pub struct EndAllOnDrop;

impl Drop for EndAllOnDrop {
    fn drop(&mut self) {
        processes::end_all();
        #[cfg(feature = "workspace")]
        crate::workspace::remove_all();
    }
}

/// Marks that `cobalt::main()` was called.
pub fn mark_called() {
    STATE.store(CALLED, Ordering::SeqCst);
}

/// Until the guard is dropped, any exit other than [`exit`] fails.
pub fn arm() -> ExitGuard {
    PROCESS.store(std::process::id(), Ordering::SeqCst);
    STATE.store(ARMED, Ordering::SeqCst);
    ExitGuard
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        // A panic leaves `main` with its own failing exit code.
        STATE.store(EXITING, Ordering::SeqCst);
    }
}

/// Registers the runs that are about to start, each with experiment and run ID.
pub fn register_runs(runs: impl Iterator<Item = (String, String)>) {
    let run = |(experiment, id)| TrackedRun { experiment, id, has_ended: false };
    *lock() = runs.map(run).collect();
}

/// Marks a run as finished or interrupted.
pub fn mark_run_ended(experiment: usize) {
    if let Some(run) = lock().get_mut(experiment) {
        run.has_ended = true;
    }
}

/// Exits the process deliberately, with this code.
pub fn exit(code: i32) -> ! {
    STATE.store(EXITING, Ordering::SeqCst);
    exit_witness::report(code);
    std::process::exit(code)
}

fn lock() -> MutexGuard<'static, Vec<TrackedRun>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

dtor::declarative::dtor! {
    #[dtor(unsafe)]
    fn check_exit() {
        let problem = exit_problem();
        if PROCESS.load(Ordering::SeqCst) == std::process::id() {
            exit_witness::report_end();
        }
        if let Some(problem) = problem {
            // Stderr may be closed.
            let _ = writeln!(std::io::stderr(), "error: {problem}");
            exit_with_failure();
        }
    }
}

/// Exits at once: the process is already exiting, and no later hook may change the code.
#[cfg(unix)]
fn exit_with_failure() -> ! {
    signal_hook::low_level::exit(SETUP_ERROR)
}

#[cfg(not(unix))]
fn exit_with_failure() -> ! {
    std::process::abort()
}

/// Why an exit at this moment is an error, if it is.
fn exit_problem() -> Option<String> {
    match STATE.load(Ordering::SeqCst) {
        NOT_CALLED => {
            let definitions = inventory::iter::<ExperimentDefinition>().filter(|one| one.in_test_target);
            let mut places: Vec<_> = definitions.map(|one| format!("{}:{}", one.file, one.line)).collect();
            places.sort();
            (!places.is_empty() && !is_own_descendant()).then(|| main_not_called_message(&places))
        }
        ARMED if PROCESS.load(Ordering::SeqCst) == std::process::id() => Some(early_exit_message(&lock())),
        _ => None,
    }
}

fn main_not_called_message(places: &[String]) -> String {
    format!(
        "this test target ran none of its experiments ({}), because its `main` did not call `cobalt::main()`\n  In Cargo.toml, \
         the target's `[[test]]` table needs `harness = false`; its file must end with `fn main() {{ cobalt::main(); }}`\n  \
         Put experiments that several targets share into the library (`src/`); other test targets of the library need neither",
        places.join(", ")
    )
}

fn early_exit_message(runs: &[TrackedRun]) -> String {
    let unfinished: Vec<_> = runs.iter().filter(|run| !run.has_ended).collect();
    let names: Vec<_> = unfinished.iter().map(|run| format!("`{}`", run.experiment)).collect();
    let mut text = match names.is_empty() {
        true => "something in this process called `exit` before `cobalt::main()` had finished".to_owned(),
        false => format!("something in this process called `exit` while running {}", names.join(", ")),
    };
    text.push_str("\n  Agents, evaluators and panic hooks must not end the process");
    if !unfinished.is_empty() {
        let ids: Vec<_> = unfinished.iter().map(|run| &*run.id).collect();
        let _ = write!(text, ". Finished items are saved. Resume with COBALT_RESUME={}", ids.join(","));
    }
    text
}

/// How many processes may be between a program and a helper that runs the same program: shells, `timeout`, `npx`.
#[cfg(target_os = "linux")]
const MAX_INTERMEDIATE_PROCESSES: usize = 8;

/// Whether an ancestor runs the same program: this process is a server or another helper without experiments.
#[cfg(target_os = "linux")]
fn is_own_descendant() -> bool {
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let Some(own) = program("self") else { return false };
    let mut process = std::os::unix::process::parent_id().to_string();
    for _ in 0..=MAX_INTERMEDIATE_PROCESSES {
        if program(&process).as_ref() == Some(&own) {
            return true;
        }
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        match status.lines().find_map(|line| line.strip_prefix("PPid:")) {
            Some(parent) => process = parent.trim().to_owned(),
            None => break,
        }
    }
    false
}

/// Whether this process is a helper: Cargo and nextest pass only libtest's flags and filters to a test target.
#[cfg(not(target_os = "linux"))]
fn is_own_descendant() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument.starts_with("--") && !is_of_libtest(&argument))
}

#[cfg(not(target_os = "linux"))]
fn is_of_libtest(argument: &str) -> bool {
    const FLAGS: [&str; 14] = [
        "--bench",
        "--color",
        "--exact",
        "--format",
        "--help",
        "--ignored",
        "--include-ignored",
        "--list",
        "--logfile",
        "--no-capture",
        "--nocapture",
        "--quiet",
        "--skip",
        "--test-threads",
    ];
    let name = argument.split('=').next().unwrap_or_default();
    FLAGS.contains(&name)
}

/// How long after a signal another one counts as a duplicate.
const DUPLICATE_WINDOW: Duration = Duration::from_millis(250);

/// Caught signals, which no longer end the process and wait for a listener.
pub struct Signals(SignalSource);

impl Signals {
    /// Catches the signals from now on.
    pub fn catch() -> io::Result<Self> {
        SignalSource::new().map(Self)
    }

    /// Calls `stop` when the process is first asked to end.
    pub fn on_signal(self, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Self(mut source) = self;
        let listener = thread::Builder::new().name("cobalt-signals".to_owned()).spawn(move || {
            source.wait();
            thread::spawn(stop);
            // One Ctrl-C may arrive twice: from the terminal, and from the parent process.
            source.drop_all_for(DUPLICATE_WINDOW);
            source.wait();
            drop(EndAllOnDrop);
            exit(INTERRUPTED);
        });
        listener.map(drop)
    }
}

#[cfg(unix)]
struct SignalSource(signal_hook::iterator::Signals);

#[cfg(unix)]
impl SignalSource {
    fn new() -> io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map(Self)
    }

    fn wait(&mut self) {
        while self.0.wait().next().is_none() {}
    }

    fn drop_all_for(&mut self, time: Duration) {
        thread::sleep(time);
        self.0.pending().for_each(drop);
    }
}

#[cfg(not(unix))]
struct SignalSource {
    runtime: tokio::runtime::Runtime,
    ctrl_c: tokio::signal::windows::CtrlC,
}

#[cfg(not(unix))]
impl SignalSource {
    fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ctrl_c = runtime.block_on(async { tokio::signal::windows::ctrl_c() })?;
        Ok(Self { runtime, ctrl_c })
    }

    fn wait(&mut self) {
        self.runtime.block_on(self.ctrl_c.recv());
    }

    fn drop_all_for(&mut self, time: Duration) {
        self.runtime.block_on(async {
            let deadline = tokio::time::Instant::now() + time;
            while tokio::time::timeout_at(deadline, self.ctrl_c.recv()).await.is_ok() {}
        });
    }
}

/// The maximum number of runtime threads.
const MAX_WORKERS: usize = 512;

/// The runtime, until the code that ends the process takes it.
pub type SharedRuntime = Arc<Mutex<Option<Runtime>>>;

/// The runtime and the signals of a process that runs experiments.
pub struct ProcessResources {
    pub(super) runtime: SharedRuntime,
    pub(super) signals: Signals,
}

impl ProcessResources {
    /// Prepares for these runs. From now on, signals do not end the process automatically.
    pub fn start(runs: &[Run]) -> Result<Self, String> {
        let at_a_time = |run: &Run| run.plan().definition().concurrency.min(run.plan().dataset().len());
        let items_at_a_time = runs.iter().map(at_a_time).fold(0, usize::saturating_add);
        let runtime =
            Builder::new_multi_thread().worker_threads(worker_count(items_at_a_time)).enable_all().build();
        let runtime = runtime.map_err(|error| format!("failed to start the runtime: {error}"))?;
        let signals = Signals::catch().map_err(signal_error)?;
        Ok(Self { runtime: Arc::new(Mutex::new(Some(runtime))), signals })
    }
}

/// The handle for starting experiments.
pub fn runtime_handle(runtime: &SharedRuntime) -> Handle {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner);
    runtime.as_ref().expect("a runtime is taken at the end").handle().clone()
}

pub fn signal_error(error: std::io::Error) -> String {
    format!("failed to install signal handlers: {error}")
}

/// The number of runtime threads: more than agents can run in parallel, so that agents that block leave one for timers and for each
/// other. An idle thread costs next to nothing.
fn worker_count(items_at_a_time: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    items_at_a_time.saturating_add(1).clamp(cores, cores.max(MAX_WORKERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unfinished_is_named_with_its_run() {
        let run = |experiment: &str, id: &str, has_ended| TrackedRun {
            experiment: experiment.to_owned(),
            id: id.to_owned(),
            has_ended,
        };
        let text =
            early_exit_message(&[run("desk", "a1", false), run("sums", "b2", true), run("faq", "c3", false)]);
        assert!(
            text.starts_with("something in this process called `exit` while running `desk`, `faq`\n"),
            "{text}"
        );
        assert!(text.ends_with("Resume with COBALT_RESUME=a1,c3"), "{text}");
        let text = early_exit_message(&[run("sums", "b2", true)]);
        assert!(
            text.contains("before `cobalt::main()` had finished") && !text.contains("COBALT_RESUME"),
            "{text}"
        );
    }

    #[test]
    fn this_process_was_started_by_another_program() {
        assert!(!is_own_descendant());
    }
}
