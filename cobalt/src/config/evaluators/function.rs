//! `type = "function"`, and functions by their names alone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::typed::{Settings, TYPES};
use crate::config::error::{ConfigError, Place};
use crate::evaluators::{AutoevalKind, Evaluator, FnEvaluator, Preset};
use crate::private::EvaluatorDefinition;
use crate::settings::Score;
use crate::suggest::{self, folded};

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

/// A function whose name is the `type` itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NamedFunction"))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Named {
    /// The name of a function with `#[cobalt::evaluator]`, or the one that its attribute gives it.
    #[cfg_attr(feature = "schema", schemars(extend("not" = other_types())))]
    r#type: String,
    /// From which score an output passes; the function's own mark unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

impl Named {
    /// Whether a table is one of these: its `type` is none of the others, in whatever style, and it has nothing but what a
    /// function takes. Whether there is such a function is known where the evaluator is made.
    pub(super) fn is(table: &DeTable<'_>) -> bool {
        let Some(DeValue::String(name)) = table.get("type").map(Spanned::get_ref) else { return false };
        let is_function = TYPES.iter().all(|kind| folded(kind) != folded(name));
        is_function && table.keys().all(|key| ["type", "pass-mark"].contains(&&**key.get_ref()))
    }

    pub(super) fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Function { name: self.r#type.clone(), pass_mark: self.pass_mark }.make(place)
    }
}

#[cfg(feature = "schema")]
fn other_types() -> serde_json::Value {
    serde_json::json!({ "enum": TYPES })
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
            "two evaluators are named `{name}`: {} and {}; give one of them another `name`, or list the one that is \
             meant by its path, in the experiment",
            whereabouts(definition),
            whereabouts(other)
        )));
    }
    Ok((definition.make)())
}

fn whereabouts(definition: &EvaluatorDefinition) -> String {
    let EvaluatorDefinition { module, file, line, .. } = definition;
    format!("that of `{module}` at {file}:{line}")
}

fn not_registered(name: &str, registered: &[&str]) -> String {
    let meant = suggest::closest(name, registered.iter().copied()).map(str::to_owned);
    let meant = meant.or_else(|| of_the_library(name));
    let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    let there_are = if registered.is_empty() {
        "no function of this program has `#[cobalt::evaluator]`, by which one gets a name".to_owned()
    } else {
        let registered = suggest::list(registered.iter().copied());
        format!("the functions with `#[cobalt::evaluator]` here are {registered}")
    };
    format!(
        "unknown evaluator `{name}`; {meant}{there_are}. If it is in another crate, add `use that_crate as _;` to the \
         test target: a crate that nothing refers to is not linked"
    )
}

/// The table that stands for an evaluator of the library whose name is nearly this one.
fn of_the_library(name: &str) -> Option<String> {
    let types = TYPES.iter().map(|kind| (*kind, format!("{{ type = \"{kind}\" }}")));
    let presets = Preset::ALL.map(Preset::name);
    let presets =
        presets.map(|preset| (preset, format!("{{ type = \"llm-judge\", preset = \"{preset}\" }}")));
    let kinds = AutoevalKind::ALL.map(AutoevalKind::name);
    let kinds = kinds.map(|kind| (kind, format!("{{ type = \"autoevals\", autoeval = \"{kind}\" }}")));
    let tables: Vec<_> = types.chain(presets).chain(kinds).collect();
    let meant = suggest::closest(name, tables.iter().map(|(known, _)| *known))?;
    tables.into_iter().find(|(known, _)| *known == meant).map(|(_, table)| table)
}
