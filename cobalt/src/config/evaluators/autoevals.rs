//! `type = "autoevals"`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judge_table::judge_table;
#[cfg(feature = "judge")]
use super::judge_table::with_judge;
use super::names::KindName;
use super::typed::Settings;
#[cfg(not(feature = "judge"))]
use super::typed::without_judge;
use crate::config::error::{ConfigError, Place};
#[cfg(feature = "judge")]
use crate::evaluators::Autoeval;
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::settings::with_written;
use crate::settings::{Address, EmbeddingVendor, Word};
use crate::settings::{Count, Score, Weight};

judge_table! {
    Autoevals {
        /// The kind, such as "Factuality" or "Levenshtein".
        autoeval: KindName,
        /// The name in reports; the kind's unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Word>,
        /// Where inputs come from that are not in the field of their name, each by a path such as "metadata.documents".
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Word>,
        /// Inputs that are the same for all items, such as `criteria`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        values: BTreeMap<String, Value>,
        /// The path of the expected output; "expectedOutput", else "expected", unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        expected: Option<Word>,
        /// The model that embeds; that of `[embedding]` unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        embedding_model: Option<Word>,
        /// Whose embeddings are asked for; follows from the model, else from `[embedding]`, unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        embedding_provider: Option<EmbeddingVendor>,
        /// Where the API of embeddings is, unless it is the judge's.
        #[serde(skip_serializing_if = "Option::is_none")]
        embedding_base_url: Option<Address>,
        /// Whether a judge that chooses a label reasons before it does; it does unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        chain_of_thought: Option<bool>,
        /// How many questions `AnswerRelevancy` has made up for an answer; 3 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        strictness: Option<Count>,
        /// The score of a category above which `Moderation` counts a text as bad; what the model says unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        threshold: Option<Score>,
        /// The least cosine of two embeddings that scores above 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        expected_min: Option<Score>,
        /// Whether `JsonDiff` takes texts as texts, even where they hold JSON; it does not unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        preserve_strings: Option<bool>,
        /// Whether `ListContains` leaves out of account what is not expected; it does not unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        allow_extra: Option<bool>,
        /// Whether `ListContains` compares by embeddings; it compares by letters unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        semantic: Option<bool>,
        /// What the two parts of `AnswerCorrectness` count.
        #[serde(skip_serializing_if = "Option::is_none")]
        weights: Option<Weights>,
        /// From which score an output passes; 0.5 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        pass_mark: Option<Score>,
    }
}

/// What the two parts of `AnswerCorrectness` count.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Weights {
    /// Whether it says the same facts.
    factuality: Weight,
    /// How like its text is.
    similarity: Weight,
}

impl Settings for Autoevals {
    const TYPE: &'static str = "autoevals";

    /// Refuses an input that is said to come from two places.
    fn checked(self) -> Result<Self, toml::de::Error> {
        let twice = |input: &str, one: &str, other: &str| {
            Err(toml::de::Error::custom(format!(
                "`{one}` and `{other}` both say what the input `{input}` is; leave one of them out"
            )))
        };
        if let Some(input) = self.fields.keys().find(|input| self.values.contains_key(*input)) {
            return twice(input, "fields", "values");
        }
        let input = "expected";
        match &self.expected {
            Some(_) if self.fields.contains_key(input) => twice(input, input, "fields"),
            Some(_) if self.values.contains_key(input) => twice(input, input, "values"),
            _ => Ok(self),
        }
    }

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let KindName(kind) = written.autoeval;
        let name = written.name.map_or_else(|| kind.name().to_owned(), |Word(name)| name);
        let autoeval = with_written!(
            with_judge!(written, Autoeval::new(kind, name)),
            expected(written.expected.map(|Word(path)| path)),
            embedding_model(written.embedding_model.map(|Word(model)| model)),
            embedding_provider(written.embedding_provider.map(|EmbeddingVendor(provider)| provider)),
            embedding_base_url(written.embedding_base_url.map(|Address(url)| url)),
            chain_of_thought(written.chain_of_thought),
            strictness(
                written.strictness.map(|Count(questions)| u32::try_from(questions).unwrap_or(u32::MAX))
            ),
            threshold(written.threshold.map(|Score(threshold)| threshold)),
            expected_min(written.expected_min.map(|Score(cosine)| cosine)),
            preserve_strings(written.preserve_strings),
            allow_extra(written.allow_extra),
            semantic(written.semantic),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        );
        let autoeval = match written.weights {
            Some(Weights { factuality: Weight(factuality), similarity: Weight(similarity) }) => {
                autoeval.weights(factuality, similarity)
            }
            None => autoeval,
        };
        let fields = written.fields.into_iter();
        let autoeval = fields.fold(autoeval, |autoeval, (input, Word(path))| autoeval.field(input, path));
        let values = written.values.into_iter();
        Ok(Arc::new(values.fold(autoeval, |autoeval, (input, value)| autoeval.value(input, value))))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}
