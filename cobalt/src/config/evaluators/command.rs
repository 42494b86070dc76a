//! `type = "command"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::typed::Settings;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::{CommandEvaluator, Evaluator};
use crate::settings::Word;
use crate::settings::with_written;
use crate::settings::{Argument, Count, EnvironmentName, Length, Score, VariableValue};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Program {
    /// The name in reports.
    #[serde(default = "command")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<bool>,
    /// How many processes may be at work side by side; 1 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<Count>,
    /// How long an answer may take, from when the program is asked; the experiment's `timeout` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Length>,
    /// From which score an output passes; 0.5 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

fn command() -> Word {
    Word(Program::TYPE.to_owned())
}

fn not_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Argument>, D::Error> {
    let list = Vec::<Argument>::deserialize(deserializer)?;
    match list.first().is_some_and(|Argument(program)| !program.trim().is_empty()) {
        true => Ok(list),
        false => Err(serde::de::Error::custom(
            "the command is empty; write the program and its arguments, as in [\"python3\", \"score.py\"]",
        )),
    }
}

impl Settings for Program {
    const TYPE: &'static str = "command";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let mut command = written.command.into_iter().map(|Argument(argument)| argument);
        // There is a first one, as it was read.
        let program = CommandEvaluator::new(written.name.0, command.next().unwrap_or_default()).args(command);
        let variables = written.env.into_iter();
        let program = variables
            .fold(program, |program, (EnvironmentName(name), VariableValue(value))| program.env(name, value));
        Ok(Arc::new(with_written!(
            program,
            keep_alive(written.keep_alive),
            processes(written.processes.map(|Count(processes)| processes)),
            timeout(written.timeout.map(|Length(timeout)| timeout)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        )))
    }
}
