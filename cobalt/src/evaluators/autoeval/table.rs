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
use crate::evaluators::judge_support::model_setters::JudgeOptions;
use crate::evaluators::options::Options;
use crate::evaluators::{AutoevalKind, Evaluator};
use crate::settings::{
    self, BaseUrl, EmbeddingProvider, JudgeProvider, NonEmptyString, PositiveInt, SecretVariable,
    Temperature, Weight, deserialize_from_str,
};

/// The keys of `type = "autoevals"`, without those of the model.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AutoevalOptions {
    /// The kind, such as "Factuality" or "Levenshtein".
    autoeval: KindName,
    /// Name in reports. Default: the kind's name.
    name: Option<NonEmptyString>,
    /// The sources of inputs that are not in the field of the same name, each a path such as "metadata.documents".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, NonEmptyString>,
    /// Inputs that are the same for all items, such as `criteria`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Value>,
    /// The path of the expected output. Default: "expectedOutput", else "expected".
    expected: Option<NonEmptyString>,
    /// The embedding model. Default: that of `[embedding]`.
    embedding_model: Option<NonEmptyString>,
    /// The provider of embeddings. Default: derived from the model, else from `[embedding]`.
    embedding_provider: Option<EmbeddingProvider>,
    /// The base URL for embeddings. Default: the judge's.
    embedding_base_url: Option<BaseUrl>,
    /// Whether a judge that chooses a label reasons first. Default: true.
    chain_of_thought: Option<bool>,
    /// The number of questions that `AnswerRelevancy` generates. Default: 3.
    strictness: Option<PositiveInt>,
    /// The category score above which `Moderation` flags a text. Default: the model's own flag.
    threshold: Option<settings::ScoreValue>,
    /// The cosine of two embeddings that scores 0.
    expected_min: Option<settings::ScoreValue>,
    /// Whether `JsonDiff` keeps text that contains JSON as text. Default: false.
    preserve_strings: Option<bool>,
    /// Whether `ListContains` ignores unexpected elements. Default: false.
    allow_extra: Option<bool>,
    /// Whether `ListContains` compares by embeddings instead of edit distance. Default: false.
    semantic: Option<bool>,
    /// The weights of the two parts of `AnswerCorrectness`.
    weights: Option<WeightsTable>,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<settings::ScoreValue>,
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
        let made = Autoeval::new(
            kind,
            self.name.map_or_else(|| kind.name().to_owned(), |NonEmptyString(name)| name),
        );
        let made = apply(made, judge.model, |made, NonEmptyString(model)| made.model(model));
        let made = apply(made, judge.provider, |made, JudgeProvider(provider)| made.provider(provider));
        let made = apply(made, judge.base_url, |made, BaseUrl(url)| made.base_url(url));
        let made = apply(made, judge.api_key_env, |made, SecretVariable(name)| made.api_key_env(name));
        let made = apply(made, judge.temperature, |made, Temperature(number)| made.temperature(number));
        let made = apply(made, self.expected, |made, NonEmptyString(path)| made.expected(path));
        let made =
            apply(made, self.embedding_model, |made, NonEmptyString(model)| made.embedding_model(model));
        let made = apply(made, self.embedding_provider, |made, EmbeddingProvider(provider)| {
            made.embedding_provider(provider)
        });
        let made = apply(made, self.embedding_base_url, |made, BaseUrl(url)| made.embedding_base_url(url));
        let made = apply(made, self.chain_of_thought, Autoeval::chain_of_thought);
        let made = apply(made, self.strictness.map(PositiveInt::to_u32), Autoeval::strictness);
        let made =
            apply(made, self.threshold, |made, settings::ScoreValue(threshold)| made.threshold(threshold));
        let made =
            apply(made, self.expected_min, |made, settings::ScoreValue(cosine)| made.expected_min(cosine));
        let made = apply(made, self.preserve_strings, Autoeval::preserve_strings);
        let made = apply(made, self.allow_extra, Autoeval::allow_extra);
        let made = apply(made, self.semantic, Autoeval::semantic);
        let made = apply(made, self.weights, |made, WeightsTable { factuality, similarity }| {
            made.weights(factuality.0, similarity.0)
        });
        let made = apply(made, self.pass_mark, |made, settings::ScoreValue(mark)| made.pass_mark(mark));
        let made =
            self.fields.into_iter().fold(made, |made, (input, NonEmptyString(path))| made.field(input, path));
        let made = self.values.into_iter().fold(made, |made, (input, value)| made.value(input, value));
        Ok(Arc::new(made))
    }
}

/// Calls a setter if the key is set.
fn apply<T>(
    evaluator: Autoeval,
    written: Option<T>,
    setter: impl FnOnce(Autoeval, T) -> Autoeval,
) -> Autoeval {
    match written {
        Some(value) => setter(evaluator, value),
        None => evaluator,
    }
}

/// A kind of `Autoeval`.
#[derive(Clone, Copy, Debug)]
struct KindName(AutoevalKind);

deserialize_from_str! {
    KindName: "the name of a kind in quotes, such as \"Factuality\"",
    |name| name.parse().map(Self).map_err(|unknown| format!("{unknown}"))
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    KindName: { "type": "string", "enum": kind_names() },
}

#[cfg(feature = "schema")]
fn kind_names() -> Vec<&'static str> {
    let aliases = ALIASES.into_iter().map(|(alias, _)| alias);
    AutoevalKind::ALL.into_iter().map(AutoevalKind::name).chain(aliases).collect()
}
