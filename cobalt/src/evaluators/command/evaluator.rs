//! `CommandEvaluator`: its settings, the program that they name, and its scores.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::answer::Request;
use super::pool::Pool;
use super::program::Program;
use crate::evaluators::options::{Options, mark};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Setup};
use crate::settings::{Argument, Count, EnvironmentName, Length, NoKeys, Score, VariableValue, Word};

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
    options: CommandOptions,
    /// Made for the first output: all is said by then.
    pool: OnceLock<Pool>,
    /// How many requests were made, each of which has its number.
    asked: AtomicU64,
}

/// The keys of `type = "command"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CommandOptions {
    /// The name in reports.
    #[serde(default = "type_name")]
    name: Word,
    /// The program and its arguments, without a shell. A relative path starts at the package's folder, where the program
    /// runs, too; a name alone is looked for in the folders of `PATH`.
    #[serde(deserialize_with = "not_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    command: Vec<Argument>,
    /// Variables for the program, beside those of the test binary.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<EnvironmentName, VariableValue>,
    /// Whether a process is kept for many outputs, which it answers line by line; else one is started for each; true
    /// unless it is set.
    keep_alive: Option<bool>,
    /// How many processes may be at work side by side; 1 unless it is set.
    processes: Option<Count>,
    /// How long an answer may take, from when the program is asked; the experiment's `timeout` unless it is set.
    timeout: Option<Length>,
    /// From which score an output passes; 0.5 unless it is set.
    pass_mark: Option<Score>,
}

fn type_name() -> Word {
    Word("command".to_owned())
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Argument>, D::Error> {
    let list = Vec::<Argument>::deserialize(deserializer)?;
    match list.first().is_some_and(|Argument(program)| !program.trim().is_empty()) {
        true => Ok(list),
        false => Err(serde::de::Error::custom(
            "the command is empty; write the program and its arguments, as in [\"python3\", \"score.py\"]",
        )),
    }
}

impl Options for CommandOptions {
    type Shared = NoKeys;

    fn make(self, _: NoKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(CommandEvaluator::of(self)))
    }
}

impl CommandOptions {
    fn program(&self) -> Program<'_> {
        // There is a first one, as it was read.
        let command = self.command.split_first();
        let (name, arguments) =
            command.map_or_else(Default::default, |(Argument(name), arguments)| (&**name, arguments));
        Program { name, arguments, variables: &self.env }
    }

    fn keeps_alive(&self) -> bool {
        self.keep_alive != Some(false)
    }
}

impl CommandEvaluator {
    /// Scores with this program.
    pub fn new(name: impl Into<String>, program: impl Into<String>) -> Self {
        Self::of(CommandOptions {
            name: Word(name.into()),
            command: vec![Argument(program.into())],
            env: BTreeMap::new(),
            keep_alive: None,
            processes: None,
            timeout: None,
            pass_mark: None,
        })
    }

    fn of(options: CommandOptions) -> Self {
        Self { options, pool: OnceLock::new(), asked: AtomicU64::new(0) }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(self, argument: impl Into<String>) -> Self {
        self.args([argument])
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.options.command.extend(arguments.into_iter().map(|argument| Argument(argument.into())));
        self
    }

    /// Sets a variable for the program, beside those of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.env.insert(EnvironmentName(name.into()), VariableValue(value.into()));
        self
    }

    /// Whether a process is kept for many outputs, which it answers line by line (it is unless this is set to `false`).
    /// Else one is started for each output, and its stdin ends after the request.
    #[must_use]
    pub fn keep_alive(mut self, keep_alive: bool) -> Self {
        self.options.keep_alive = Some(keep_alive);
        self
    }

    /// How many processes may be at work side by side (1 unless it is set; 0 counts as 1). Other outputs wait for one.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.options.processes = Some(Count(processes));
        self
    }

    /// How long the program may take for an answer, from when it is asked (unless it is set, the experiment's `timeout`).
    /// Where the process is started for it, its start counts.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(Length(timeout));
        self
    }

    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.options.pass_mark = Some(Score(mark));
        self
    }
}

/// With processes of its own.
impl Clone for CommandEvaluator {
    fn clone(&self) -> Self {
        Self::of(self.options.clone())
    }
}

/// What the score hangs on, without secrets: the same in every process, so that fingerprints are made of it.
impl fmt::Debug for CommandEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.options.program();
        f.debug_struct("CommandEvaluator")
            .field("name", &self.name())
            .field("program", &program.name)
            .field("arguments", &program.shown_arguments())
            .field("variables", &program.shown_variables())
            .field("keep_alive", &self.options.keeps_alive())
            .field("pass_mark", &mark(self.options.pass_mark))
            .finish_non_exhaustive()
    }
}

impl Evaluator for CommandEvaluator {
    fn name(&self) -> &str {
        &self.options.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move {
            let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            let request = Request::new(id, cx, self.name())
                .map_err(|error| EvalError::new(format!("the output cannot be written as JSON: {error}")))?;
            let limit = self.options.timeout.map_or_else(|| cx.timeout(), |Length(limit)| limit);
            let processes = self.options.processes.map_or(1, |Count(processes)| processes);
            let pool = self.pool.get_or_init(|| Pool::new(processes));
            let program = self.options.program();
            let answer = match self.options.keeps_alive() {
                true => pool.ask_kept(&program, request, limit).await,
                false => pool.ask_once(&program, request, limit).await,
            };
            answer.map_err(|error| EvalError::new(program.without_secrets(error.to_string())))
        })
    }

    fn pass_mark(&self) -> f64 {
        mark(self.options.pass_mark)
    }

    fn check(&self, _: &Setup) -> Result<(), CheckError> {
        self.options.program().find().map(drop).map_err(CheckError::new)
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
