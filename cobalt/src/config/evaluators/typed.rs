//! Evaluators with settings: tables, told apart by their `type`.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use super::autoevals::Autoevals;
use super::command::Program;
use super::exact_match::Exact;
use super::function::Function;
use super::g_eval::Rated;
use super::llm_judge::Judge;
use super::pairwise::Compared;
use super::similarity::Close;
use super::text::{
    BleuTable, ChrfTable, ContainsTable, JsonSchemaTable, RegexTable, RougeTable, SquadExactMatchTable,
    TokenF1Table, WerTable,
};
use super::tool_calls::Calls;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::Evaluator;
use crate::settings::{ReadTable, read_by_type};

/// What a table of one type holds, without its `type`.
pub(super) trait Settings: for<'de> Deserialize<'de> {
    /// How the table names the type: the name of its variant in [`Typed`], in kebab case.
    const TYPE: &'static str;

    /// Refuses settings that contradict each other.
    fn checked(self) -> Result<Self, toml::de::Error> {
        Ok(self)
    }

    /// Makes the evaluator. `place` is where the table stands in the file.
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError>;
}

/// The types, each a line.
macro_rules! types {
    ($($(#[$doc:meta])* $variant:ident($settings:ty)),+ $(,)?) => {
        /// An evaluator with settings.
        #[derive(Clone, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvaluatorTable"))]
        #[serde(tag = "type", rename_all = "kebab-case")]
        pub(in crate::config) enum Typed {
            $($(#[$doc])* $variant($settings),)+
        }

        /// The types of evaluators, as tables name them.
        pub(super) const TYPES: &[&str] = &[$(<$settings>::TYPE),+];

        /// How the settings of each type are read.
        const READERS: &[ReadTable<Typed>] = &[$(|settings| <$settings>::deserialize(settings)?.checked().map(Typed::$variant)),+];

        impl Typed {
            pub(super) fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
                match self {
                    $(Self::$variant(settings) => settings.make(place),)+
                }
            }
        }
    };
}

types! {
    /// Scores 1 where the output equals a field of the item, and 0 elsewhere.
    ExactMatch(Exact),
    /// Scores with a function that has `#[cobalt::evaluator]`.
    Function(Function),
    /// Scores with a program in any language.
    Command(Program),
    /// Lets a model judge the output by a prompt, or by a preset.
    LlmJudge(Judge),
    /// Lets a model rate the output by a plain criterion.
    GEval(Rated),
    /// Lets a model decide whether the output or a field of the item is the better answer.
    Pairwise(Compared),
    /// Compares the output with a field of the item by their embeddings.
    Similarity(Close),
    /// Scores with one of the evaluators that autoevals is known for.
    Autoevals(Autoevals),
    /// Scores how much output and reference overlap, as ROUGE counts it.
    Rouge(RougeTable),
    /// Scores a translation by its BLEU.
    Bleu(BleuTable),
    /// Scores a translation by its chrF, or chrF++.
    Chrf(ChrfTable),
    /// Scores a transcript by its word error rate: 1 minus the rate, 0 at the least.
    Wer(WerTable),
    /// Scores the words that output and reference share, as SQuAD counts them.
    TokenF1(TokenF1Table),
    /// Scores 1 where the output is the reference but for case, punctuation and articles, as SQuAD compares them, and 0
    /// elsewhere.
    SquadExactMatch(SquadExactMatchTable),
    /// Scores 1 where the output contains texts, and 0 elsewhere.
    Contains(ContainsTable),
    /// Scores 1 where the output matches a regular expression, and 0 elsewhere.
    Regex(RegexTable),
    /// Scores 1 where the output has the form that a JSON schema asks for, and 0 elsewhere.
    JsonSchema(JsonSchemaTable),
    /// Scores the calls of tools that the agent made.
    ToolCalls(Calls),
}

impl Typed {
    pub(super) fn read(span: Range<usize>, table: DeTable<'_>) -> Result<Self, toml::de::Error> {
        read_by_type("evaluator", TYPES, READERS, span, table)
    }
}

/// The error of an evaluator that the program cannot make, for want of the feature that its type needs.
#[cfg(not(feature = "judge"))]
pub(super) fn without_judge(place: &Place) -> ConfigError {
    place.error(
        "an evaluator of this type comes with the feature `judge` of the package `cobalt`, which this program is built \
         without; turn it on",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_with_the_type_that_it_is_read_by() {
        let exact =
            "type = \"exact-match\"\nname = \"e\"\nfield = \"f\"\ncase-sensitive = true\ntrim = false\n";
        let table = DeTable::parse(exact).unwrap().into_inner();
        let typed = Typed::read(0..0, table).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap()["type"], Exact::TYPE);
    }
}
