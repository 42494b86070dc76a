//! Evaluators from the file: registered functions by their names, and tables with a `type`.

use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::error::{ConfigError, Place, unknown_name};
use super::values::{Score, Text};
use crate::evaluators::{Evaluator, ExactMatch, FnEvaluator};
use crate::private::EvaluatorDefinition;
use crate::suggest;

/// The types of evaluators, as tables name them.
const TYPES: [&str; 2] = [EXACT_MATCH, FUNCTION];
const EXACT_MATCH: &str = "exact-match";
const FUNCTION: &str = "function";
const EXPECTED: &str =
    "an evaluator is the name of a function with `#[cobalt::evaluator]`, or a table with a `type`";

/// An evaluator: the name of a function with `#[cobalt::evaluator]`, or a table with a `type`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Evaluator"))]
// For what is written only: it is read by hand, for the sake of the errors.
#[serde(untagged)]
pub(super) enum Entry {
    /// The name of a function with `#[cobalt::evaluator]`.
    Registered(String),
    /// An evaluator with settings.
    Typed(Typed),
}

/// An evaluator with settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvaluatorTable"))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Typed {
    /// Scores 1 where the output equals a field of the item, and 0 elsewhere.
    ExactMatch(Exact),
    /// Scores with a function that has `#[cobalt::evaluator]`.
    Function(Function),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Exact {
    /// The name in reports.
    #[serde(default = "exact_match")]
    name: String,
    /// The field of the item that holds the right output.
    field: String,
    /// Whether `Paris` and `paris` differ.
    #[serde(default = "yes")]
    case_sensitive: bool,
    /// Whether white space at both ends is left out.
    #[serde(default)]
    trim: bool,
    /// From which score an output passes; 0.5 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Function {
    /// The name of the function, or the one that its attribute gives it.
    name: String,
    /// From which score an output passes; the function's own mark unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

fn exact_match() -> String {
    EXACT_MATCH.to_owned()
}

fn yes() -> bool {
    true
}

impl Entry {
    /// Reads one element of the list.
    pub(super) fn read(element: Spanned<DeValue<'_>>) -> Result<Self, toml::de::Error> {
        let span = element.span();
        match element.into_inner() {
            DeValue::String(name) => Ok(Self::Registered(name.into_owned())),
            DeValue::Table(table) => Typed::read(span, table).map(Self::Typed),
            _ => Err(toml::de::Error::custom(EXPECTED)),
        }
    }

    /// Makes the evaluator. `place` is where it stands in the file.
    pub(super) fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Ok(match self {
            Self::Registered(name) => Arc::new(registered(name, place)?),
            Self::Typed(Typed::ExactMatch(exact)) => {
                let Exact { name, field, case_sensitive, trim, pass_mark } = exact;
                let exact = ExactMatch::new(name, field).case_sensitive(*case_sensitive).trim(*trim);
                Arc::new(match pass_mark {
                    Some(Score(mark)) => exact.pass_mark(*mark),
                    None => exact,
                })
            }
            Self::Typed(Typed::Function(Function { name, pass_mark })) => {
                let function = registered(name, place)?;
                Arc::new(match pass_mark {
                    Some(Score(mark)) => function.pass_mark(*mark),
                    None => function,
                })
            }
        })
    }
}

impl Typed {
    fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, toml::de::Error> {
        let kind = table.remove("type").ok_or_else(|| toml::de::Error::custom(no_type()))?;
        let settings = ValueDeserializer::from(Spanned::new(span, DeValue::Table(table)));
        match Type::deserialize(ValueDeserializer::from(kind))? {
            Type::ExactMatch => Exact::deserialize(settings).map(Self::ExactMatch),
            Type::Function => Function::deserialize(settings).map(Self::Function),
        }
    }
}

/// The type of an evaluator.
enum Type {
    ExactMatch,
    Function,
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| match name {
            EXACT_MATCH => Ok(Self::ExactMatch),
            FUNCTION => Ok(Self::Function),
            _ => Err(unknown_name("type of evaluator", "types", name, &TYPES)),
        };
        deserializer.deserialize_str(Text { expected: "a type of evaluator", read })
    }
}

fn no_type() -> String {
    format!("the key `type` is missing; the types of evaluators are {}", suggest::list(TYPES))
}

/// The evaluator that a function with `#[cobalt::evaluator]` registers under this name.
fn registered(name: &str, place: &Place) -> Result<FnEvaluator, ConfigError> {
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
