//! What a file of JUnit holds: suites of test cases.

/// A suite: an experiment, or what went wrong beside all of them.
#[derive(Debug, Default)]
pub(super) struct Suite {
    pub(super) name: String,
    /// The class of its test cases: the name, or more where another suite has the same.
    pub(super) class: String,
    /// The file that the experiment is declared in.
    pub(super) file: Option<String>,
    /// The start in UTC, as `2026-02-05T14:30:00`: some readers take no zone.
    pub(super) timestamp: Option<String>,
    /// How long it took, in seconds.
    pub(super) seconds: f64,
    /// What else is known of it.
    pub(super) properties: Vec<(String, String)>,
    pub(super) cases: Vec<Case>,
}

/// A test case.
#[derive(Debug)]
pub(super) struct Case {
    /// The name that it has under `cargo test`.
    pub(super) name: String,
    /// How long it took, in seconds.
    pub(super) seconds: f64,
    pub(super) outcome: Outcome,
    /// What is worth knowing though nothing is wrong.
    pub(super) output: Option<String>,
}

/// What became of a test case.
#[derive(Debug)]
pub(super) enum Outcome {
    Passed,
    /// It was not run, or nothing is known of it: why.
    Skipped(String),
    /// It was measured, and is not good enough.
    Failed(Problem),
    /// It could not be measured.
    Errored(Problem),
}

/// Why a test case did not pass.
#[derive(Debug)]
pub(super) struct Problem {
    /// What kind of problem it is, in one word.
    pub(super) kind: &'static str,
    /// The same in a line.
    pub(super) message: String,
    /// The same at length.
    pub(super) text: String,
}

impl Case {
    pub(super) fn new(name: String, outcome: Outcome) -> Self {
        Self { name, seconds: 0.0, outcome, output: None }
    }
}

impl Problem {
    /// A problem of which no more is known than what its message says.
    pub(super) fn new(kind: &'static str, message: &str) -> Self {
        Self { kind, message: message.to_owned(), text: message.to_owned() }
    }
}

/// How many test cases there are, of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) tests: usize,
    pub(super) failures: usize,
    pub(super) errors: usize,
    pub(super) skipped: usize,
}

impl Counts {
    pub(super) fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut counts = Self::default();
        for case in cases {
            counts.tests += 1;
            match case.outcome {
                Outcome::Passed => {}
                Outcome::Skipped(_) => counts.skipped += 1,
                Outcome::Failed(_) => counts.failures += 1,
                Outcome::Errored(_) => counts.errors += 1,
            }
        }
        counts
    }
}
