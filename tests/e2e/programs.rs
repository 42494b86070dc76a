//! Scoring programs as child processes: their output, and their cleanup.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, fixture, numbered};

const SOON: Duration = Duration::from_secs(10);

/// A number of items scored by a shell script.
fn scored_by(script: &str, items: usize) -> Sandbox {
    let sandbox = Sandbox::with_items(numbered(items, 0));
    sandbox.write("score.sh", script);
    sandbox.write(
        "cobalt.toml",
        "[[evaluators]]\ntype = \"command\"\nname = \"graded\"\ncommand = [\"sh\", \"score.sh\"]\nprocesses = 2\n",
    );
    sandbox
}

/// Records its process ID and that of a child, which would run for a minute.
const WITH_CHILD: &str = "sleep 60 < /dev/null > /dev/null 2>&1 &\necho $! >> pids; echo $$ >> pids\n";

fn is_alive(pid: &str) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -0 {pid}")]).stderr(Stdio::null()).status().unwrap().success()
}

/// Asserts that this many processes were recorded and have exited.
#[track_caller]
pub(crate) fn assert_gone(sandbox: &Sandbox, noted: usize) {
    let pids = std::fs::read_to_string(sandbox.path("pids")).unwrap();
    assert_eq!(pids.lines().count(), noted);
    let deadline = Instant::now() + SOON;
    // A killed process can remain until it is reaped.
    while let Some(pid) = pids.lines().find(|pid| is_alive(pid)) {
        assert!(Instant::now() < deadline, "process {pid} is still running");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_program_prints_is_no_part_of_what_the_run_prints() {
    let sandbox = scored_by("while read -r line; do echo note for people >&2; echo 0.75; done\n", 5);
    let finished = sandbox.program(fixture!("silent")).run().code(0);
    assert!(
        !finished.stdout.contains("note for people") && !finished.stderr.contains("note for people"),
        "{finished}"
    );
    assert_eq!(sandbox.report().summary.scores["graded"].avg, 0.75);
}

#[test]
fn a_program_that_is_not_there_is_told_before_the_agent_is_asked() {
    let sandbox = scored_by("", 2);
    sandbox.write("cobalt.toml", "\nevaluators = [{ type = \"command\", command = [\"bin/none\"] }]\n");
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    finished.says(&["evaluator `command`: ", "cobalt.toml:2:15: `bin/none` does not exist; looked for `"]);
    assert!(sandbox.starts().is_empty());
}

#[test]
fn when_the_run_is_over_no_process_is_left() {
    let script = format!("{WITH_CHILD}while read -r line; do echo 1; done\nexec sleep 60\n");
    let sandbox = scored_by(&script, 6);
    let finished = sandbox.program(fixture!("silent")).run().code(0);
    assert!(finished.took < Duration::from_secs(20), "{finished}");
    assert_gone(&sandbox, 4);
}

#[test]
fn a_run_that_is_stopped_leaves_no_process() {
    for signal in ["INT", "TERM"] {
        // Both processes answer two questions and are busy with the third.
        let script = format!(
            "{WITH_CHILD}read -r line; echo 1; read -r line; echo 1; read -r line; sleep 60; echo 1\n"
        );
        let sandbox = scored_by(&script, 8);
        let running = sandbox.start_until_kept(sandbox.program(fixture!("silent")), 4);
        running.signal(signal);
        running.finish().code(130);
        assert_gone(&sandbox, 4);
    }
}

#[test]
fn a_killed_run_leaves_no_process() {
    let sandbox = scored_by(&format!("{WITH_CHILD}read -r line; echo 1; read -r line; sleep 60\n"), 8);
    let mut running = sandbox.start_until_kept(sandbox.program(fixture!("silent")), 2);
    running.kill();
    running.finish();
    assert_gone(&sandbox, 4);
}

#[test]
fn a_run_that_panics_leaves_no_process() {
    let sandbox = scored_by(&format!("{WITH_CHILD}while read -r line; do echo 1; done\nsleep 60\n"), 4);
    // Its output is closed, so printing panics; saved items remain.
    let _ = sandbox.program(fixture!("silent")).run_unread();
    assert_gone(&sandbox, 4);
}
