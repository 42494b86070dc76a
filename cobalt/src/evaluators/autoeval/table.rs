//! The table `type = "autoevals"` of `cobalt.toml`.
//!
//! Unlike other evaluators, the builder does not contain this table: its `Options` record the models and which setters were
//! called, for fingerprints and to reject settings that the kind does not support. A shared declaration would be longer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::Autoeval;
#[cfg(feature = "schema")]
use crate::evaluators::ALIASES;
use crate::evaluators::asking::model_setters::JudgeOptions;
use crate::evaluators::options::Options;
use crate::evaluators::{AutoevalKind, Evaluator};
use crate::settings::{
    self, Address, Count, EmbeddingVendor, JudgeVendor, KeyVariable, Temperature, Weight, Word, from_text,
};

/// The keys of `type = "autoevals"`, without those of the model.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AutoevalOptions {
    /// The kind, such as "Factuality" or "Levenshtein".
    autoeval: KindName,
    /// Name in reports. Default: the kind's name.
    name: Option<Word>,
    /// The sources of inputs that are not in the field of the same name, each a path such as "metadata.documents".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, Word>,
    /// Inputs that are the same for all items, such as `criteria`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Value>,
    /// The path of the expected output. Default: "expectedOutput", else "expected".
    expected: Option<Word>,
    /// The embedding model. Default: that of `[embedding]`.
    embedding_model: Option<Word>,
    /// The provider of embeddings. Default: derived from the model, else from `[embedding]`.
    embedding_provider: Option<EmbeddingVendor>,
    /// The base URL for embeddings. Default: the judge's.
    embedding_base_url: Option<Address>,
    /// Whether a judge that chooses a label reasons first. Default: true.
    chain_of_thought: Option<bool>,
    /// The number of questions that `AnswerRelevancy` generates. Default: 3.
    strictness: Option<Count>,
    /// The category score above which `Moderation` flags a text. Default: the model's own flag.
    threshold: Option<settings::Score>,
    /// The cosine of two embeddings that scores 0.
    expected_min: Option<settings::Score>,
    /// Whether `JsonDiff` keeps text that contains JSON as text. Default: false.
    preserve_strings: Option<bool>,
    /// Whether `ListContains` ignores unexpected elements. Default: false.
    allow_extra: Option<bool>,
    /// Whether `ListContains` compares by embeddings instead of edit distance. Default: false.
    semantic: Option<bool>,
    /// The weights of the two parts of `AnswerCorrectness`.
    weights: Option<WeightsTable>,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<settings::Score>,
}

/// The weights of the two parts of `AnswerCorrectness`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Weights"))]
#[serde(deny_unknown_fields)]
struct WeightsTable {
    /// The weight of factual agreement.
    factuality: Weight,
    /// The weight of similarity.
    similarity: Weight,
}

impl Options for AutoevalOptions {
    type Shared = JudgeOptions;

    /// Rejects an input with two sources.
    fn checked(self, _: &JudgeOptions) -> Result<Self, String> {
        let twice = |input: &str, one: &str, other: &str| {
            Err(format!("`{one}` and `{other}` both set the input `{input}`; remove one"))
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

    fn make(self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        let KindName(kind) = self.autoeval;
        let made = Autoeval::new(kind, self.name.map_or_else(|| kind.name().to_owned(), |Word(name)| name));
        let made = set(made, judge.model, |made, Word(model)| made.model(model));
        let made = set(made, judge.provider, |made, JudgeVendor(provider)| made.provider(provider));
        let made = set(made, judge.base_url, |made, Address(url)| made.base_url(url));
        let made = set(made, judge.api_key_env, |made, KeyVariable(name)| made.api_key_env(name));
        let made = set(made, judge.temperature, |made, Temperature(number)| made.temperature(number));
        let made = set(made, self.expected, |made, Word(path)| made.expected(path));
        let made = set(made, self.embedding_model, |made, Word(model)| made.embedding_model(model));
        let made = set(made, self.embedding_provider, |made, EmbeddingVendor(provider)| {
            made.embedding_provider(provider)
        });
        let made = set(made, self.embedding_base_url, |made, Address(url)| made.embedding_base_url(url));
        let made = set(made, self.chain_of_thought, Autoeval::chain_of_thought);
        let made = set(made, self.strictness.map(Count::to_u32), Autoeval::strictness);
        let made = set(made, self.threshold, |made, settings::Score(threshold)| made.threshold(threshold));
        let made = set(made, self.expected_min, |made, settings::Score(cosine)| made.expected_min(cosine));
        let made = set(made, self.preserve_strings, Autoeval::preserve_strings);
        let made = set(made, self.allow_extra, Autoeval::allow_extra);
        let made = set(made, self.semantic, Autoeval::semantic);
        let made = set(made, self.weights, |made, WeightsTable { factuality, similarity }| {
            made.weights(factuality.0, similarity.0)
        });
        let made = set(made, self.pass_mark, |made, settings::Score(mark)| made.pass_mark(mark));
        let made = self.fields.into_iter().fold(made, |made, (input, Word(path))| made.field(input, path));
        let made = self.values.into_iter().fold(made, |made, (input, value)| made.value(input, value));
        Ok(Arc::new(made))
    }
}

/// Calls a setter if the key is set.
fn set<T>(evaluator: Autoeval, written: Option<T>, setter: impl FnOnce(Autoeval, T) -> Autoeval) -> Autoeval {
    match written {
        Some(value) => setter(evaluator, value),
        None => evaluator,
    }
}

/// A kind of `Autoeval`.
#[derive(Clone, Copy, Debug)]
struct KindName(AutoevalKind);

from_text! {
    KindName: "the name of a kind in quotes, such as \"Factuality\"",
    |name| name.parse().map(Self).map_err(|unknown| format!("{unknown}"))
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

#[cfg(feature = "schema")]
crate::settings::schema_of! {
    KindName: { "type": "string", "enum": kinds() },
}

#[cfg(feature = "schema")]
fn kinds() -> Vec<&'static str> {
    let aliases = ALIASES.into_iter().map(|(alias, _)| alias);
    AutoevalKind::ALL.into_iter().map(AutoevalKind::name).chain(aliases).collect()
}
