//! `cargo cobalt watch` in temporary projects whose files change: what it runs, and its output.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, process::ExitStatus};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::project::Project;
use crate::receiver::{self, Reply};

/// Timeout for waits that include a build, possibly the first one of all tests.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long to check that nothing happens.
const CALM: Duration = Duration::from_millis(800);
/// The message when a run is done.
const WAITING: &str = "Watching this folder";

/// The running command.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    /// Starts it and waits for its first run.
    fn start(project: &Project, arguments: &[&str]) -> (Self, String) {
        let mut command = project.command(&[&["watch", "--filter", "strict"], arguments].concat());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for output in outputs {
            let sender = sender.clone();
            thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                lines.for_each(|line| drop(sender.send(line)));
            });
        }
        let watching = Self { child, lines };
        let said = watching.said();
        (watching, said)
    }

    /// The output until it waits for changes.
    fn said(&self) -> String {
        self.said_until(WAITING)
    }

    #[track_caller]
    fn said_until(&self, end: &str) -> String {
        let (deadline, mut said) = (Instant::now() + PATIENCE, String::new());
        while !said.contains(end) {
            let line = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            said += &format!("{}\n", line.unwrap_or_else(|_| panic!("`{end}` was not printed: {said}")));
        }
        // There are two streams: the last line of one can come before that of the other.
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(50)) {
            said += &format!("{line}\n");
        }
        said
    }

    /// Asserts that nothing happens.
    #[track_caller]
    fn stays_calm(&self) {
        assert_eq!(self.lines.recv_timeout(CALM).ok(), None);
    }

    /// Presses Ctrl-C, which is not an error.
    fn stop(mut self) -> ExitStatus {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
        let status = self.child.wait().unwrap();
        let last: Vec<_> = self.lines.iter().collect();
        assert!(last.contains(&"stopped".to_owned()), "{last:?}");
        status
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has exited, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_change_runs_what_it_touches() {
    let project = Project::steered();
    let (watching, said) = Watching::start(&project, &[]);
    assert!(said.contains("strict: passed"), "the first run: {said}");
    // The build has updated the lock file.
    watching.stays_calm();

    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    let said = watching.said();
    assert!(said.contains("Changed: `data/items.jsonl`; re-running what is affected"), "{said}");
    assert!(said.contains("partial run (1 changed)") && said.contains("FAILED"), "{said}");
    assert!(!said.contains("--ci"), "watch has no exit code per run, and no `--ci` flag: {said}");

    project.write("src/prompts/system.txt", "Be brief.");
    let said = watching.said();
    assert!(said.contains("Changed: `src/prompts/system.txt`"), "a file in a new folder is noticed: {said}");
    assert!(said.contains("2 last run before the sources changed"), "{said}");

    project.write("src/prompts/system.txt", "Be long.");
    assert!(
        watching.said().contains("2 last run before the sources changed"),
        "changes in the new folder are noticed"
    );
    assert_eq!(watching.stop().code(), Some(130));
}

#[test]
fn nobody_is_told_of_what_is_tried() {
    let receiver = receiver::Receiver::start(&[Reply::Status(204, "")]);
    let project = Project::steered();
    project.write("cobalt.toml", &format!("[[webhooks]]\nurl = \"http://{}\"\n", receiver.host()));
    let (watching, said) = Watching::start(&project, &[]);
    assert!(said.contains("strict: passed"), "{said}");
    assert_eq!(watching.stop().code(), Some(130));
    assert!(receiver.received().is_empty());
}

#[test]
fn what_does_not_build_is_told_and_the_next_change_waited_for() {
    let project = Project::steered();
    project.rename("watched");
    let (watching, _) = Watching::start(&project, &[]);
    let library = project.read("src/lib.rs");
    project.write("src/lib.rs", "no rust");
    let said = watching.said();
    assert!(said.contains("error: failed to build the experiments"), "{said}");
    project.write("src/lib.rs", &format!("{library}// fixed\n"));
    let said = watching.said();
    assert!(said.contains("Changed: `src/lib.rs`") && said.contains("strict: passed"), "{said}");

    project.write("cobalt.toml", "nonsense = 1\n");
    let said = watching.said();
    assert!(said.contains("error: ") && said.contains("cobalt.toml"), "{said}");
    project.write("cobalt.toml", "");
    assert!(!watching.said().contains("error: "));
    assert_eq!(watching.stop().code(), Some(130));
}

#[test]
fn editors_may_put_another_file_in_its_place_and_what_they_leave_is_no_change() {
    let project = Project::steered();
    let (watching, _) = Watching::start(&project, &["--reporter", "cli"]);
    for passing in
        ["src/.lib.rs.swp", "src/lib.rs~", "data/4913", ".git/index", "built/CACHEDIR.TAG", "built/made.rs"]
    {
        project.write(passing, "left");
    }
    fs::read(project.path("src/lib.rs")).unwrap();
    watching.stays_calm();
    for says in ["Paris", "Rome"] {
        let items = project.read("data/items.jsonl");
        project.answers(&[("paris", "Paris"), ("rome", says)]);
        let changed = project.read("data/items.jsonl");
        project.write("data/items.jsonl", &items);
        project.write("data/new", &changed);
        fs::rename(project.path("data/new"), project.path("data/items.jsonl")).unwrap();
        assert!(watching.said().contains("Changed: `data/items.jsonl`; re-running"), "{says}");
    }
    assert_eq!(watching.stop().code(), Some(130));
}

#[test]
fn a_change_during_a_run_is_seen_after_it() {
    let project = Project::steered();
    let (watching, _) = Watching::start(&project, &[]);
    project.answers(&[("paris", "Paris"), ("rome", "wait")]);
    watching.said_until("partial run (1 changed)");
    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    project.write("go-on", "");
    assert!(watching.said().contains("strict: passed"), "the run in progress finishes");
    let said = watching.said();
    assert!(said.contains("`data/items.jsonl`") && said.contains("strict: FAILED"), "{said}");
    assert_eq!(watching.stop().code(), Some(130));
}

#[test]
fn ctrl_c_during_a_run_ends_both() {
    let project = Project::steered();
    let (watching, _) = Watching::start(&project, &[]);
    project.answers(&[("paris", "Paris"), ("rome", "wait")]);
    watching.said_until("partial run (1 changed)");
    assert_eq!(watching.stop().code(), Some(130));
    let journals = fs::read_dir(project.path(".cobalt/runs")).unwrap().count();
    assert_eq!(journals, 0, "no item had finished");
}

#[test]
fn what_no_change_will_mend_ends_it() {
    let project = Project::steered();
    project.cobalt(&["watch", "nosuch"], 4);
    project.cobalt(&["watch", "--rerun-failed"], 2).stderr_has("unexpected argument");
    project.cobalt(&["watch", "--ci"], 2).stderr_has("unexpected argument");
}
