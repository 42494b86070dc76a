//! `CommandEvaluator`: settings and evaluation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::pool::Pool;
use super::program::CommandConfig;
use super::protocol::Request;
use crate::evaluators::options::{Options, pass_mark_or_default};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Setup};
use crate::settings::{
    Argument, DurationValue, EnvironmentName, NoSharedKeys, NonEmptyString, PositiveInt, ScoreValue,
    VariableValue,
};

/// Scores with a program in any language. It reads each output with its item as JSON from stdin, and writes a score as JSON to
/// stdout. The module [`custom`](crate::custom) has the protocol and examples.
///
/// ```
/// use cobalt::CommandEvaluator;
///
/// let ratio = CommandEvaluator::new("ratio", "python3").arg("bridge.py").env("METRIC", "ratio").processes(2);
/// ```
///
/// No shell is involved: the program receives each argument unchanged. It runs in the package's folder, and relative paths of
/// programs start there; a bare name is looked up in `PATH`. It inherits the environment of this process.
///
/// One process is started for the first output and kept for the others. At the end of the run, its stdin is closed; after 2 s
/// it is killed, with its child processes (on Unix).
pub struct CommandEvaluator {
    options: CommandOptions,
    /// Created for the first output, when all settings are known.
    pool: OnceLock<Pool>,
    /// The number of requests so far, for their IDs.
    request_count: AtomicU64,
}

/// The keys of `type = "command"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CommandOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: NonEmptyString,
    /// The program and its arguments, without a shell. It runs in the package's folder, where relative paths start; a bare
    /// name is looked up in `PATH`.
    #[serde(deserialize_with = "not_empty")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    command: Vec<Argument>,
    /// Environment variables for the program, in addition to those of the test binary.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<EnvironmentName, VariableValue>,
    /// Whether one process handles many outputs, line by line; otherwise one is started for each. Default: true.
    keep_alive: Option<bool>,
    /// The maximum number of parallel processes. Default: 1.
    processes: Option<PositiveInt>,
    /// The time limit for a response, from the request on. Default: the experiment's `timeout`.
    timeout: Option<DurationValue>,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<ScoreValue>,
}

fn type_name() -> NonEmptyString {
    NonEmptyString("command".to_owned())
}

/// Deserializes a command, which names a program.
pub fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Argument>, D::Error> {
    let list = Vec::<Argument>::deserialize(deserializer)?;
    match list.first().is_some_and(|Argument(program)| !program.trim().is_empty()) {
        true => Ok(list),
        false => Err(serde::de::Error::custom(
            "the command is empty; write the program and its arguments, as in [\"python3\", \"score.py\"]",
        )),
    }
}

impl Options for CommandOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(CommandEvaluator::from_options(self)))
    }
}

impl CommandOptions {
    fn program(&self) -> CommandConfig<'_> {
        // Not empty: checked when it was read.
        let command = self.command.split_first();
        let (name, arguments) =
            command.map_or_else(Default::default, |(Argument(name), arguments)| (&**name, arguments));
        CommandConfig { name, arguments, variables: &self.env }
    }

    fn keeps_alive(&self) -> bool {
        self.keep_alive != Some(false)
    }
}

impl CommandEvaluator {
    /// Creates an evaluator that runs this program.
    pub fn new(name: impl Into<String>, program: impl Into<String>) -> Self {
        Self::from_options(CommandOptions {
            name: NonEmptyString(name.into()),
            command: vec![Argument(program.into())],
            env: BTreeMap::new(),
            keep_alive: None,
            processes: None,
            timeout: None,
            pass_mark: None,
        })
    }

    fn from_options(options: CommandOptions) -> Self {
        Self { options, pool: OnceLock::new(), request_count: AtomicU64::new(0) }
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

    /// Sets an environment variable for the program, in addition to those of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.env.insert(EnvironmentName(name.into()), VariableValue(value.into()));
        self
    }

    /// Whether one process handles many outputs, line by line. Default: `true`. Otherwise one is started for each output, and
    /// its stdin is closed after the request.
    #[must_use]
    pub fn keep_alive(mut self, keep_alive: bool) -> Self {
        self.options.keep_alive = Some(keep_alive);
        self
    }

    /// Sets the maximum number of parallel processes. Default: 1; 0 counts as 1. Other outputs wait for a free one.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.options.processes = Some(PositiveInt(processes));
        self
    }

    /// Sets the time limit for a response, from the request on. Default: the experiment's `timeout`. It includes starting the
    /// process, if necessary.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(DurationValue(timeout));
        self
    }

    /// Sets the minimum score for an output to pass. Default: 0.5.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.options.pass_mark = Some(ScoreValue(mark));
        self
    }
}

/// A clone has its own processes.
impl Clone for CommandEvaluator {
    fn clone(&self) -> Self {
        Self::from_options(self.options.clone())
    }
}

/// The settings that affect scores, without secrets. The same in every process, as fingerprints require.
impl fmt::Debug for CommandEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.options.program();
        f.debug_struct("CommandEvaluator")
            .field("name", &self.name())
            .field("program", &program.name)
            .field("arguments", &program.redacted_arguments())
            .field("variables", &program.redacted_variables())
            .field("keep_alive", &self.options.keeps_alive())
            .field("pass_mark", &pass_mark_or_default(self.options.pass_mark))
            .finish_non_exhaustive()
    }
}

impl Evaluator for CommandEvaluator {
    fn name(&self) -> &str {
        &self.options.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move {
            let id = self.request_count.fetch_add(1, Ordering::Relaxed) + 1;
            let request = Request::new(id, cx, self.name()).map_err(|error| {
                EvalError::new(format!("failed to serialize the output as JSON: {error}"))
            })?;
            let limit = self.options.timeout.map_or_else(|| cx.timeout(), |DurationValue(limit)| limit);
            let processes = self.options.processes.map_or(1, |PositiveInt(processes)| processes);
            let pool = self.pool.get_or_init(|| Pool::new(processes));
            let program = self.options.program();
            let answer = match self.options.keeps_alive() {
                true => pool.ask_kept(&program, request, limit).await,
                false => pool.ask_once(&program, request, limit).await,
            };
            answer.map_err(|error| EvalError::new(program.redact(error.to_string())))
        })
    }

    fn pass_mark(&self) -> f64 {
        pass_mark_or_default(self.options.pass_mark)
    }

    fn check(&self, _: &Setup) -> Result<(), CheckError> {
        self.options.program().find().map(drop).map_err(CheckError::new)
    }

    /// It has its own limit, which starts with the request; before that, an output may wait for a process.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }

    fn finish(&self) {
        if let Some(pool) = self.pool.get() {
            pool.finish();
        }
    }
}
