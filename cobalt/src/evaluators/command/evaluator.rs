//! `CommandEvaluator`: what is said of a program, and what it scores.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::pool::Pool;
use super::program::Program;
use super::request::Request;
use crate::evaluators::{
    CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Setup,
};
use crate::redact::redacted;

/// Scores with a program in any language: it reads each output with its item as JSON from stdin, and writes a score as
/// JSON to stdout. The module [`custom`](crate::custom) has the protocol, and programs to start from.
///
/// ```
/// use cobalt::CommandEvaluator;
///
/// let ratio = CommandEvaluator::new("ratio", "python3").arg("bridge.py").env("METRIC", "ratio").processes(2);
/// ```
///
/// Without a shell: each argument reaches the program as it is written. It runs in the package's folder, where a relative
/// path of a program starts, too; a name alone is looked for in the folders of `PATH`. It has the variables of this
/// process.
///
/// One process is kept for many outputs, which is started for the first. When the run is over its stdin is closed, and
/// after 2 s it is killed, with all that it started (on Unix).
pub struct CommandEvaluator {
    name: String,
    program: Program,
    keep_alive: bool,
    processes: usize,
    timeout: Option<Duration>,
    pass_mark: f64,
    /// Made for the first output: all is said by then.
    pool: OnceLock<Pool>,
    /// How many requests were made, each of which has its number.
    asked: AtomicU64,
}

impl CommandEvaluator {
    /// Scores with this program.
    pub fn new(name: impl Into<String>, program: impl Into<String>) -> Self {
        let program = Program { name: program.into(), arguments: Vec::new(), variables: BTreeMap::new() };
        Self {
            name: name.into(),
            program,
            keep_alive: true,
            processes: 1,
            timeout: None,
            pass_mark: DEFAULT_PASS_MARK,
            pool: OnceLock::new(),
            asked: AtomicU64::new(0),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.program.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.program.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for the program, beside those of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.program.variables.insert(name.into(), value.into());
        self
    }

    /// Whether a process is kept for many outputs, which it answers line by line (it is unless this is set to `false`).
    /// Else one is started for each output, and its stdin ends after the request.
    #[must_use]
    pub fn keep_alive(mut self, keep_alive: bool) -> Self {
        self.keep_alive = keep_alive;
        self
    }

    /// How many processes may be at work side by side (1 unless it is set; 0 counts as 1). Other outputs wait for one.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.processes = processes;
        self
    }

    /// How long the program may take for an answer, from when it is asked (unless it is set, the experiment's `timeout`).
    /// Where the process is started for it, its start counts.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }
}

/// With processes of its own.
impl Clone for CommandEvaluator {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            program: self.program.clone(),
            pool: OnceLock::new(),
            asked: AtomicU64::new(0),
            ..*self
        }
    }
}

/// What the score hangs on, without secrets: the same in every process, so that fingerprints are made of it.
impl fmt::Debug for CommandEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { name, arguments, .. } = &self.program;
        f.debug_struct("CommandEvaluator")
            .field("name", &self.name)
            .field("program", name)
            .field("arguments", &arguments.iter().map(|argument| redacted(argument)).collect::<Vec<_>>())
            .field("variables", &self.program.shown_variables())
            .field("keep_alive", &self.keep_alive)
            .field("pass_mark", &self.pass_mark)
            .finish_non_exhaustive()
    }
}

impl Evaluator for CommandEvaluator {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move {
            let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            let request = Request::new(id, cx, &self.name)
                .map_err(|error| EvalError::new(format!("the output cannot be written as JSON: {error}")))?;
            let limit = self.timeout.unwrap_or_else(|| cx.timeout());
            let pool = self.pool.get_or_init(|| Pool::new(self.processes));
            let answer = match self.keep_alive {
                true => pool.ask_kept(&self.program, request, limit).await,
                false => pool.ask_once(&self.program, request, limit).await,
            };
            answer.map_err(|error| EvalError::new(self.program.without_secrets(error.to_string())))
        })
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, _: &Setup) -> Result<(), CheckError> {
        self.program.find().map(drop).map_err(CheckError::new)
    }

    /// It ends by itself: its limit counts from when the program is asked, which may have to wait.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }

    fn finish(&self) {
        if let Some(pool) = self.pool.get() {
            pool.finish();
        }
    }
}
