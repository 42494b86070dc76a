//! `type = "function"`, and functions by their names alone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::typed::Settings;
use crate::config::error::{ConfigError, Place, unknown_name};
use crate::config::values::Score;
use crate::evaluators::{Evaluator, FnEvaluator};
use crate::private::EvaluatorDefinition;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Function {
    /// The name of the function, or the one that its attribute gives it.
    name: String,
    /// From which score an output passes; the function's own mark unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

impl Settings for Function {
    const TYPE: &'static str = "function";

    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let function = registered(&self.name, place)?;
        Ok(Arc::new(match self.pass_mark {
            Some(Score(mark)) => function.pass_mark(mark),
            None => function,
        }))
    }
}

/// The evaluator that a function with `#[cobalt::evaluator]` registers under this name.
pub(super) fn registered(name: &str, place: &Place) -> Result<FnEvaluator, ConfigError> {
    let definitions: Vec<_> = inventory::iter::<EvaluatorDefinition>.into_iter().collect();
    let mut found = definitions.iter().filter(|definition| definition.name == name);
    let Some(definition) = found.next() else {
        let mut names: Vec<_> = definitions.iter().map(|definition| definition.name).collect();
        names.sort_unstable();
        names.dedup();
        return Err(place.error(&not_registered(name, &names)));
    };
    if let Some(other) = found.next() {
        return Err(place.error(&format!(
            "two evaluators are named `{name}`: at {}:{} and at {}:{}; give one of them another `name`",
            definition.file, definition.line, other.file, other.line
        )));
    }
    Ok((definition.make)())
}

fn not_registered(name: &str, registered: &[&str]) -> String {
    if registered.is_empty() {
        return format!(
            "unknown evaluator `{name}`; no function of this program has `#[cobalt::evaluator]`, by which one gets a name"
        );
    }
    unknown_name("evaluator", "functions with `#[cobalt::evaluator]`", name, registered)
}
