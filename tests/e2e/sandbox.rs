//! A separate folder per test, and the programs that run in it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cobalt::Report;
use serde_json::Value;
use tempfile::TempDir;

/// The path of one of the fixture programs.
macro_rules! fixture {
    ($name:literal) => {
        std::path::Path::new(env!(concat!("CARGO_BIN_EXE_", $name)))
    };
}
pub(crate) use fixture;

/// Timeout after which a program counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Variables of the caller's environment that would change a program's behaviour.
const FOREIGN: [&str; 16] = [
    "NEXTEST",
    "COBALT",
    "RUST_TEST",
    "CARGO_PKG",
    "CARGO_MANIFEST",
    "GITHUB",
    "CI",
    "E2E",
    "NO_COLOR",
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "GOOGLE",
    "AZURE",
    "COHERE",
    "VOYAGE",
];

/// A command without these variables.
pub(crate) fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if FOREIGN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

/// A folder that acts as a package.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// An empty package.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A package with the items that the fixtures read.
    pub(crate) fn with_items(items: impl IntoIterator<Item = Value>) -> Self {
        let sandbox = Self::new();
        sandbox.write_items(items);
        sandbox
    }

    pub(crate) fn write_items(&self, items: impl IntoIterator<Item = Value>) {
        let lines: String = items.into_iter().map(|item| format!("{item}\n")).collect();
        self.write("items.jsonl", &lines);
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().expect("the file has a parent folder"))
            .expect("the folder is created");
        std::fs::write(path, text).expect("the file is written");
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// A fixture in this package.
    pub(crate) fn program(&self, fixture: &Path) -> Program {
        let mut command = clean(fixture);
        command
            .current_dir(self.folder.path())
            .env("CARGO_MANIFEST_DIR", self.folder.path())
            .env("E2E_LOG", self.path("calls.log"))
            .env("RUST_BACKTRACE", "0");
        Program::of(command)
    }

    /// The log of agent calls: `start <key> <run>`, `end …`, `cancelled …`, `panicked …`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.path("calls.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Number of agent calls per key, over all trials.
    pub(crate) fn starts(&self) -> BTreeMap<String, usize> {
        let mut starts = BTreeMap::new();
        for call in self.calls() {
            if let Some(place) = call.strip_prefix("start ") {
                let key = place.rsplit_once(' ').expect("a key and a run").0;
                *starts.entry(key.to_owned()).or_default() += 1;
            }
        }
        starts
    }

    pub(crate) fn forget_calls(&self) {
        let _ = std::fs::remove_file(self.path("calls.log"));
    }

    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Everything in the folder of result files.
    pub(crate) fn result_files(&self) -> Vec<PathBuf> {
        self.files(".cobalt/results")
    }

    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        self.files(".cobalt/runs")
    }

    /// The ID of the only interrupted run.
    pub(crate) fn cut_short(&self) -> String {
        let journals = self.journals();
        assert_eq!(journals.len(), 1, "expected one interrupted run: {journals:?}");
        journals[0].file_stem().unwrap().to_string_lossy().into_owned()
    }

    /// Starts a program and waits until its journals have this many items.
    pub(crate) fn start_until_kept(&self, program: Program, items: usize) -> Running {
        let kept = |path: &PathBuf| {
            let bytes = std::fs::read(path).unwrap_or_default();
            cobalt::files::read_journal(&bytes).ok().map(|journal| journal.items.len())
        };
        self.start_until(program, || {
            let kept: Vec<_> = self.journals().iter().filter_map(kept).collect();
            !kept.is_empty() && kept.iter().sum::<usize>() >= items
        })
    }

    /// Starts a program and waits for a condition.
    pub(crate) fn start_until(&self, program: Program, holds: impl Fn() -> bool) -> Running {
        let mut running = program.start();
        while !holds() {
            if running.has_ended() || running.started.elapsed() > PATIENCE {
                running.signal("KILL");
                panic!("the condition never became true\n{}", running.collect());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        running
    }

    /// The reports of all result files.
    pub(crate) fn reports(&self) -> Vec<Report> {
        self.result_files().iter().map(|path| cobalt::files::read_report(path).unwrap()).collect()
    }

    /// The only report.
    pub(crate) fn report(&self) -> Report {
        let mut reports = self.reports();
        assert_eq!(reports.len(), 1, "{:?}", self.result_files());
        reports.remove(0)
    }
}

/// A program to start.
pub(crate) struct Program {
    command: Command,
    patience: Duration,
}

impl Program {
    pub(crate) fn of(command: Command) -> Self {
        Self { command, patience: PATIENCE }
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.command.env(name, value.to_string());
        self
    }

    /// Extends the timeout for a build.
    pub(crate) fn patient(mut self) -> Self {
        self.patience *= 10;
        self
    }

    pub(crate) fn start(mut self) -> Running {
        let command = self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdout = drain(child.stdout.take().expect("a pipe"));
        let stderr = drain(child.stderr.take().expect("a pipe"));
        Running { child, stdout, stderr, started: Instant::now(), patience: self.patience }
    }

    /// Runs the program to its end with its output closed immediately.
    pub(crate) fn run_unread(mut self) -> ExitStatus {
        let command = self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        child.wait().expect("the program ends")
    }

    /// Runs the program to its end.
    pub(crate) fn run(self) -> Finished {
        self.start().finish()
    }
}

fn drain(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A running program.
pub(crate) struct Running {
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    started: Instant,
    patience: Duration,
}

impl Running {
    /// SIGKILL: the program cannot handle it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the program can be killed");
    }

    /// Sends a signal by its name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        // It may have exited already.
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the program can be waited for").is_some()
    }

    /// Waits for the program to exit; a timeout fails the test.
    pub(crate) fn finish(mut self) -> Finished {
        let deadline = self.started + self.patience;
        while !self.has_ended() {
            if Instant::now() > deadline {
                self.kill();
                let finished = self.collect();
                panic!("the program hung\n{finished}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.collect()
    }

    fn collect(mut self) -> Finished {
        let status = self.child.wait().expect("the program ended");
        Finished {
            status,
            stdout: self.stdout.join().expect("stdout was read"),
            stderr: self.stderr.join().expect("stderr was read"),
            took: self.started.elapsed(),
        }
    }
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr, took } = self;
        write!(f, "{status} after {took:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

impl Finished {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.status.code(), Some(expected), "{self}");
        self
    }

    /// Asserts that stderr contains each of these.
    #[track_caller]
    pub(crate) fn stderr_has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "stderr lacks `{part}`\n{self}");
        }
        self
    }

    /// Asserts that stdout contains each of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "stdout lacks `{part}`\n{self}");
        }
        self
    }

    /// The lines `test <name> ... <outcome>`, sorted, as concurrent cases end in any order.
    pub(crate) fn cases(&self) -> Vec<(String, String)> {
        let lines = self.stdout.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
        let mut cases: Vec<_> =
            lines.map(|(name, outcome)| (name.trim().to_owned(), outcome.to_owned())).collect();
        cases.sort();
        cases
    }

    /// The names of the cases with this outcome.
    pub(crate) fn cases_that(&self, outcome: &str) -> Vec<String> {
        let cases = self.cases().into_iter();
        cases.filter(|(_, found)| found.starts_with(outcome)).map(|(name, _)| name).collect()
    }

    /// Stdout with times and IDs masked.
    pub(crate) fn masked(&self) -> String {
        let lines = self.stdout.lines().map(|line| {
            if let Some((before, _)) = line.split_once("finished in ") {
                return format!("{before}finished in TIME");
            }
            if line.starts_with("  time    ") {
                return "  time    TIME".to_owned();
            }
            if line.starts_with("  met     latency.") {
                let (before, _) = line.split_once("  (").expect("a number in parentheses");
                return format!("{before}  (TIME)");
            }
            if line.starts_with("  run     ") {
                return "  run     ID".to_owned();
            }
            match line.strip_prefix("  file    ") {
                Some(path) => {
                    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    format!("  file    {folder}/FILE")
                }
                None => line.to_owned(),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Numbered items with correct answers, each after this many milliseconds.
pub(crate) fn numbered(count: usize, wait_ms: u64) -> Vec<Value> {
    let item = |n: usize| {
        serde_json::json!({
            "id": format!("item-{n}"), "input": n, "answer": format!("answer {n}"),
            "grade": 0.5 + (n % 5) as f64 / 8.0, "tokens": 10 + n, "wait_ms": wait_ms,
        })
    };
    (0..count).map(item).collect()
}
