//! Watches over the exit of the process: one that ends before its experiments were run has not passed.
//!
//! To `cargo test` and nextest, exit code 0 means success. A test target whose `main` never calls `cobalt::main()` would have
//! it, and so would an agent, an evaluator or a panic hook that calls `std::process::exit(0)`. A hook that runs at the exit
//! gives both a failing code. Native code that calls `_exit` skips the hook.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::exit_code::UNFIT;
use crate::private::ExperimentDefinition;

/// `cobalt::main()` was not called yet.
const UNREACHED: u8 = 0;
/// It was called, and may print help and exit.
const REACHED: u8 = 1;
/// Nothing but `leave` may end the process.
const BEGUN: u8 = 2;
/// The process ends with the exit code that it should have.
const LEAVING: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNREACHED);
/// The process that has begun: one that it forks has no experiments to run.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The runs of this process.
static RUNS: Mutex<Vec<RunState>> = Mutex::new(Vec::new());

/// A run of an experiment.
struct RunState {
    experiment: String,
    id: String,
    has_ended: bool,
}

/// The process is between the beginning and the end of `cobalt::main()`.
#[derive(Debug)]
pub(super) struct Begun;

/// From now on an exit is one of `cobalt::main()`.
pub(super) fn reach() {
    STATE.store(REACHED, Ordering::SeqCst);
}

/// From now on, until this is dropped, an exit by anything but [`leave`] fails.
pub(super) fn begin() -> Begun {
    PROCESS.store(std::process::id(), Ordering::SeqCst);
    STATE.store(BEGUN, Ordering::SeqCst);
    Begun
}

impl Drop for Begun {
    fn drop(&mut self) {
        // A panic goes through `main`, which has a failing exit code of its own.
        STATE.store(LEAVING, Ordering::SeqCst);
    }
}

/// Names the runs that are about to start, each experiment with the id of its run.
pub(super) fn runs_start(runs: impl Iterator<Item = (String, String)>) {
    let run = |(experiment, id)| RunState { experiment, id, has_ended: false };
    *lock() = runs.map(run).collect();
}

/// A run was finished or interrupted.
pub(super) fn run_ended(experiment: usize) {
    if let Some(run) = lock().get_mut(experiment) {
        run.has_ended = true;
    }
}

/// Ends the process with an exit code of its own.
pub(super) fn leave(code: i32) -> ! {
    STATE.store(LEAVING, Ordering::SeqCst);
    std::process::exit(code)
}

fn lock() -> MutexGuard<'static, Vec<RunState>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

dtor::declarative::dtor! {
    #[dtor(unsafe)]
    fn check_exit() {
        if let Some(problem) = problem() {
            // Nobody may read any more.
            let _ = writeln!(std::io::stderr(), "error: {problem}");
            fail();
        }
    }
}

/// Ends the process at once: it is exiting already, and no other hook may give it another code.
#[cfg(unix)]
fn fail() -> ! {
    signal_hook::low_level::exit(UNFIT)
}

#[cfg(not(unix))]
fn fail() -> ! {
    std::process::abort()
}

/// What is wrong with an exit at this moment.
fn problem() -> Option<String> {
    match STATE.load(Ordering::SeqCst) {
        UNREACHED => {
            let definitions = inventory::iter::<ExperimentDefinition>().filter(|one| one.in_test_target);
            let mut places: Vec<_> = definitions.map(|one| format!("{}:{}", one.file, one.line)).collect();
            places.sort();
            (!places.is_empty() && !descends_from_itself()).then(|| never_called(&places))
        }
        BEGUN if PROCESS.load(Ordering::SeqCst) == std::process::id() => Some(cut_short(&lock())),
        _ => None,
    }
}

fn never_called(places: &[String]) -> String {
    format!(
        "this test target has run none of its experiments ({}), because its `main` has not called `cobalt::main()`\n  In \
         Cargo.toml, the target's `[[test]]` table needs `harness = false`; its file ends with `fn main() {{ cobalt::main(); }}`\n  \
         Experiments that several targets share belong in the library (`src/`), whose other test targets need neither",
        places.join(", ")
    )
}

fn cut_short(runs: &[RunState]) -> String {
    let unfinished: Vec<_> = runs.iter().filter(|run| !run.has_ended).collect();
    let names: Vec<_> = unfinished.iter().map(|run| format!("`{}`", run.experiment)).collect();
    let mut text = match names.is_empty() {
        true => "something in this process called `exit` before `cobalt::main()` had ended".to_owned(),
        false => format!("something in this process called `exit` while it ran {}", names.join(", ")),
    };
    text.push_str("\n  Agents, evaluators and panic hooks must not end the process");
    if !unfinished.is_empty() {
        let ids: Vec<_> = unfinished.iter().map(|run| &*run.id).collect();
        let _ = write!(text, ". Finished items are saved. Resume with COBALT_RESUME={}", ids.join(","));
    }
    text
}

/// How many processes may stand between a program and a helper that it starts of itself: shells, `timeout`, `npx`.
#[cfg(target_os = "linux")]
const MOST_BETWEEN: usize = 8;

/// Whether this process was started by the same program, as a server or another helper that runs no experiment.
#[cfg(target_os = "linux")]
fn descends_from_itself() -> bool {
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let Some(own) = program("self") else { return false };
    let mut process = std::os::unix::process::parent_id().to_string();
    for _ in 0..=MOST_BETWEEN {
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

/// Whether this process is a helper: cargo and nextest give a test target no other arguments than libtest's flags and filters.
#[cfg(not(target_os = "linux"))]
fn descends_from_itself() -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unfinished_is_named_with_its_run() {
        let run = |experiment: &str, id: &str, has_ended| RunState {
            experiment: experiment.to_owned(),
            id: id.to_owned(),
            has_ended,
        };
        let text = cut_short(&[run("desk", "a1", false), run("sums", "b2", true), run("faq", "c3", false)]);
        assert!(
            text.starts_with("something in this process called `exit` while it ran `desk`, `faq`\n"),
            "{text}"
        );
        assert!(text.ends_with("Resume with COBALT_RESUME=a1,c3"), "{text}");
        let text = cut_short(&[run("sums", "b2", true)]);
        assert!(
            text.contains("before `cobalt::main()` had ended") && !text.contains("COBALT_RESUME"),
            "{text}"
        );
    }

    #[test]
    fn this_process_was_started_by_another_program() {
        assert!(!descends_from_itself());
    }
}
