//! Evaluators with settings: tables, told apart by their `type`.

use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::autoevals::Autoevals;
use super::exact_match::Exact;
use super::function::Function;
use super::llm_judge::Judge;
use super::similarity::Close;
use crate::config::error::{ConfigError, Place, unknown_name};
use crate::config::values::Text;
use crate::evaluators::Evaluator;
use crate::suggest;

/// The types of evaluators, as tables name them.
const TYPES: [&str; 5] = [EXACT_MATCH, FUNCTION, LLM_JUDGE, SIMILARITY, AUTOEVALS];
pub(super) const EXACT_MATCH: &str = "exact-match";
const FUNCTION: &str = "function";
pub(super) const LLM_JUDGE: &str = "llm-judge";
pub(super) const SIMILARITY: &str = "similarity";
const AUTOEVALS: &str = "autoevals";

/// An evaluator with settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvaluatorTable"))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(in crate::config) enum Typed {
    /// Scores 1 where the output equals a field of the item, and 0 elsewhere.
    ExactMatch(Exact),
    /// Scores with a function that has `#[cobalt::evaluator]`.
    Function(Function),
    /// Lets a model judge the output by a prompt.
    LlmJudge(Judge),
    /// Compares the output with a field of the item by their embeddings.
    Similarity(Close),
    /// Scores with one of the evaluators that autoevals is known for.
    Autoevals(Autoevals),
}

impl Typed {
    pub(super) fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, toml::de::Error> {
        let kind = table.remove("type").ok_or_else(|| toml::de::Error::custom(no_type()))?;
        let settings = ValueDeserializer::from(Spanned::new(span, DeValue::Table(table)));
        match Type::deserialize(ValueDeserializer::from(kind))? {
            Type::ExactMatch => Exact::deserialize(settings).map(Self::ExactMatch),
            Type::Function => Function::deserialize(settings).map(Self::Function),
            Type::LlmJudge => Judge::deserialize(settings)?.checked().map(Self::LlmJudge),
            Type::Similarity => Close::deserialize(settings).map(Self::Similarity),
            Type::Autoevals => Autoevals::deserialize(settings)?.checked().map(Self::Autoevals),
        }
    }

    pub(super) fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        match self {
            Self::ExactMatch(exact) => Ok(exact.make()),
            Self::Function(function) => function.make(place),
            #[cfg(feature = "judge")]
            Self::LlmJudge(judge) => Ok(judge.make()),
            #[cfg(feature = "judge")]
            Self::Similarity(close) => Ok(close.make()),
            #[cfg(feature = "judge")]
            Self::Autoevals(autoevals) => Ok(autoevals.make()),
            #[cfg(not(feature = "judge"))]
            Self::LlmJudge(_) | Self::Similarity(_) | Self::Autoevals(_) => Err(place.error(
                "an evaluator of this type asks models, which this program cannot; turn on the feature `judge` of the \
                 package `cobalt`",
            )),
        }
    }
}

/// The type of an evaluator.
enum Type {
    ExactMatch,
    Function,
    LlmJudge,
    Similarity,
    Autoevals,
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| match name {
            EXACT_MATCH => Ok(Self::ExactMatch),
            FUNCTION => Ok(Self::Function),
            LLM_JUDGE => Ok(Self::LlmJudge),
            SIMILARITY => Ok(Self::Similarity),
            AUTOEVALS => Ok(Self::Autoevals),
            _ => Err(unknown_name("type of evaluator", "types", name, &TYPES)),
        };
        deserializer.deserialize_str(Text { expected: "a type of evaluator", read })
    }
}

fn no_type() -> String {
    format!("the key `type` is missing; the types of evaluators are {}", suggest::list(TYPES))
}

/// Calls those setters of an evaluator whose values are written in the file.
#[cfg(feature = "judge")]
macro_rules! with_written {
    ($evaluator:expr, $($setter:ident($value:expr)),+ $(,)?) => {{
        let evaluator = $evaluator;
        $(let evaluator = match $value {
            Some(value) => evaluator.$setter(value),
            None => evaluator,
        };)+
        evaluator
    }};
}

#[cfg(feature = "judge")]
pub(super) use with_written;
