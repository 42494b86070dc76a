//! `Similarity`: compares the output with a field of the item by their embeddings.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::choices::Distance;
use super::field_path::ItemField;
use super::judge_support::model_setters::{impl_judge_evaluator, model_setters};
use super::options::{Options, fingerprint, pass_mark_or_default};
use super::{CheckError, EvalContext, EvalError, Evaluator, Score, Setup};
use crate::evaluators::context::Remap;
use crate::llm::{LlmHandle, ModelChoice};
use crate::metrics::{cosine, dot};
use crate::settings::{
    self, BaseUrl, EmbeddingProvider, NoSharedKeys, NonEmptyString, SecretVariable, named_choices,
};

/// Compares the output with a field of the item by their embeddings.
///
/// The score is the similarity itself; with a [`threshold`](Self::threshold), it is 1 or 0. Text is embedded unchanged,
/// anything else as compact JSON. Blank text scores 0.
///
/// ```
/// use cobalt::{Provider, Similarity};
///
/// let close = Similarity::new("close", "expectedOutput").threshold(0.85);
/// // Lexical, computed in this process: no key, no semantics.
/// let wording = Similarity::new("wording", "expectedOutput").provider(Provider::Local);
/// ```
#[derive(Clone)]
pub struct Similarity {
    options: SimilarityOptions,
}

fingerprint! {
    Similarity as "Similarity", it: name = it.options.name, field = it.options.field,
    distance = it.options.distance(), threshold = it.options.threshold(), choice = it.options.choice(),
    remap = it.options.remap, pass_mark = pass_mark_or_default(it.options.pass_mark)
}

/// The keys of `type = "similarity"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SimilarityOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: String,
    /// The field of the item to compare with, or a path such as "answers[0].text".
    field: ItemField,
    /// How the embeddings are compared. Default: "cosine".
    distance: Option<DistanceName>,
    /// Scores 1 at or above this similarity and 0 below. Default: the score is the similarity itself.
    threshold: Option<settings::ScoreValue>,
    /// The embedding model. Default: that of `[embedding]`.
    model: Option<NonEmptyString>,
    /// The provider. Default: derived from the model, else from `[embedding]`. "local" needs no key, and is only lexical.
    provider: Option<EmbeddingProvider>,
    /// The base URL of the API. Default: that of `[embedding]`, else the provider's own.
    base_url: Option<BaseUrl>,
    /// The environment variable with the API key. Default: the provider's own.
    api_key_env: Option<SecretVariable>,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<settings::ScoreValue>,
    #[serde(skip)]
    remap: Option<Remap>,
}

fn type_name() -> String {
    "similarity".to_owned()
}

impl Options for SimilarityOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(Similarity { options: self }))
    }
}

impl SimilarityOptions {
    fn distance(&self) -> Distance {
        self.distance.map_or_else(Distance::default, |DistanceName(distance)| distance)
    }

    fn threshold(&self) -> Option<f64> {
        self.threshold.map(|settings::ScoreValue(threshold)| threshold)
    }

    /// The configured model.
    fn choice(&self) -> ModelChoice {
        ModelChoice {
            model: self.model.clone().map(|NonEmptyString(model)| model),
            provider: self.provider.map(|EmbeddingProvider(provider)| provider),
            base_url: self.base_url.clone().map(|BaseUrl(url)| url),
            api_key_env: self.api_key_env.clone().map(|SecretVariable(name)| name),
            ..ModelChoice::default()
        }
    }
}

named_choices! {
    /// How two embeddings are compared.
    DistanceName(Distance), "distance", "distances": "cosine" => Cosine, "dot" => Dot;
}

impl Similarity {
    /// Compares the output with the item's `field`, or a path such as `answers[0].text`, by the cosine of their embeddings.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let options = SimilarityOptions {
            name: name.into(),
            field: ItemField::new(field.as_ref()),
            distance: None,
            threshold: None,
            model: None,
            provider: None,
            base_url: None,
            api_key_env: None,
            pass_mark: None,
            remap: None,
        };
        Self { options }
    }

    /// Sets how the embeddings are compared. Default: cosine. Both measures are clamped to 0..=1.
    #[must_use]
    pub fn distance(mut self, distance: Distance) -> Self {
        self.options.distance = Some(DistanceName(distance));
        self
    }

    /// Scores 1 at or above this similarity (0 to 1) and 0 below, instead of the similarity itself.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.options.threshold = Some(settings::ScoreValue(threshold));
        self
    }

    /// Sets the embedding model. Default: the configured one.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.options.model = Some(NonEmptyString(model.into()));
        self
    }

    model_setters!(options, EmbeddingProvider);

    /// Changes the context before the comparison, for example its output or item.
    ///
    /// ```
    /// use cobalt::{Output, Similarity};
    ///
    /// let close = Similarity::new("close", "expectedOutput")
    ///     .context(|cx| cx.with_output(Output::new(cx.output()["answer"].clone())));
    /// ```
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.options.remap = Some(Remap::new(remap));
        self
    }

    /// Sets the minimum score for an output to pass. Default: 0.5.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.options.pass_mark = Some(settings::ScoreValue(mark));
        self
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let LlmHandle { models, meter } = cx.llm()?;
        let SimilarityOptions { field, remap, .. } = &self.options;
        let cx = &Remap::apply(remap.as_ref(), cx);
        let expected = match field.resolve(cx.item())? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if cx.output().is_null() {
            return Err(EvalError::new("the agent's output is null; there is nothing to compare"));
        }
        for (text, whose) in [(&*expected, field.name()), (cx.output_text(), "output")] {
            if text.trim().is_empty() {
                return Ok(self
                    .score_from(0.0)
                    .reason(format!("`{whose}` is blank, so the similarity is 0")));
            }
        }
        let embeddings = models.embed(&self.options.choice(), &[&expected, cx.output_text()], &meter).await?;
        let [a, b] = &embeddings[..] else {
            return Err(EvalError::new(format!("expected 2 embeddings, got {}", embeddings.len())));
        };
        let similarity = match self.options.distance() {
            Distance::Cosine => cosine(a, b),
            Distance::Dot => dot(a, b),
        };
        similarity
            .map(|similarity| self.score_from(similarity))
            .map_err(|error| EvalError::new(error.to_string()))
    }

    /// Builds the score from a similarity, 0 to 1.
    fn score_from(&self, similarity: f64) -> Score {
        let what = format!("{} {similarity:.3}", self.options.distance().label());
        let score = match self.options.threshold() {
            None => Score::new(similarity).reason(what),
            Some(threshold) if similarity >= threshold => {
                Score::new(1.0).reason(format!("{what}, reaches the threshold {threshold}"))
            }
            Some(threshold) => Score::new(0.0).reason(format!("{what}, below the threshold {threshold}")),
        };
        score.metadata("similarity", similarity)
    }

    fn check_setup(&self, setup: &Setup) -> Result<(), CheckError> {
        if self.options.remap.is_none() {
            self.options.field.check(setup)?;
        }
        let threshold = self.options.threshold().filter(|threshold| !(0.0..=1.0).contains(threshold));
        if let Some(threshold) = threshold {
            return Err(CheckError::new(format!(
                "the threshold is {threshold}; it must be a number from 0 to 1"
            )));
        }
        setup.models.check_embedding(&self.options.choice())
    }
}

impl_judge_evaluator!(Similarity, it: &it.options.name);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use cobalt_core::item::Output;

    use super::*;
    use crate::evaluators::tests::{asked_by, without_models};
    use crate::llm::Provider;
    use crate::llm::test_server::{ScriptedResponse, TestServer};

    #[test]
    fn distances_are_written_as_they_are_read() {
        settings::assert_round_trip::<Distance>();
    }

    fn context(expected: Value, output: Value) -> EvalContext {
        EvalContext::new(crate::item! { "expected": { "text": expected } }, Output::new(output))
    }

    /// A server that embeds `left` as `[3, 4]`, `[1]` as a longer vector, and anything else as `[4, 3]`.
    fn server() -> TestServer {
        TestServer::start(|asked| {
            let vector = |text: &Value| match text.as_str().unwrap() {
                "left" => vec![3.0, 4.0],
                "[1]" => vec![1.0, 0.0, 0.0],
                "half" => vec![0.5, 0.5],
                _ => vec![4.0, 3.0],
            };
            ScriptedResponse::embeddings(
                &asked.body["input"].as_array().unwrap().iter().map(vector).collect::<Vec<_>>(),
            )
        })
    }

    fn similarity(server: &TestServer) -> Similarity {
        Similarity::new("close", "expected.text")
            .provider(Provider::OpenAi)
            .model("embedder")
            .base_url(server.url("/v1"))
    }

    fn scored(similarity: &Similarity, cx: &EvalContext) -> Result<Score, String> {
        asked_by(similarity, cx, "").0
    }

    #[test]
    fn the_similarity_is_the_score_without_a_threshold() {
        let server = server();
        let score = scored(&similarity(&server), &context(json!("right"), json!("left"))).unwrap();
        let expected = Score::new(0.96).reason("cosine similarity 0.960").metadata("similarity", 0.96);
        assert_eq!(score, expected);
        assert_eq!(server.requests()[0].body["model"], "embedder");
    }

    #[test]
    fn a_threshold_gives_1_from_it_on_and_0_below() {
        let server = server();
        let cx = context(json!("right"), json!("left"));
        let score = |threshold| scored(&similarity(&server).threshold(threshold), &cx).unwrap();
        assert_eq!((score(0.96).value(), score(0.9601).value()), (1.0, 0.0));
        assert_eq!(score(0.9601).why(), Some("cosine similarity 0.960, below the threshold 0.9601"));
        assert_eq!(score(0.5).all_metadata()["similarity"], 0.96);
    }

    #[test]
    fn a_dot_product_is_clamped() {
        let server = server();
        let dot = similarity(&server).distance(Distance::Dot);
        assert_eq!(scored(&dot, &context(json!("right"), json!("left"))).unwrap().value(), 1.0);
        let half = scored(&dot, &context(json!("half"), json!("half"))).unwrap();
        assert_eq!((half.value(), half.why()), (0.5, Some("dot product 0.500")));
    }

    #[test]
    fn what_is_no_text_is_compared_as_compact_json() {
        let server = server();
        scored(&similarity(&server), &context(json!("right"), json!({ "a": [2] }))).unwrap();
        assert!(server.requests()[0].body["input"].as_array().unwrap().contains(&json!("{\"a\":[2]}")));
    }

    #[test]
    fn vectors_of_different_lengths_are_an_error() {
        let server = server();
        let error = scored(&similarity(&server), &context(json!("left"), json!([1]))).unwrap_err();
        assert!(error.contains("length"), "{error}");
    }

    #[test]
    fn a_blank_text_is_like_nothing_and_costs_no_call() {
        let server = server();
        for (expected, output, whose) in [("right", " \n", "`output`"), ("", "left", "`expected.text`")] {
            let score = scored(&similarity(&server), &context(json!(expected), json!(output))).unwrap();
            assert!(score.value() == 0.0 && score.why().unwrap().starts_with(whose), "{score:?}");
        }
        assert!(server.requests().is_empty());
    }

    #[test]
    fn an_output_of_null_is_not_compared_as_the_word() {
        let server = server();
        let error = scored(&similarity(&server), &context(json!("left"), Value::Null)).unwrap_err();
        assert_eq!(error, "the agent's output is null; there is nothing to compare");
        assert!(server.requests().is_empty());
    }

    #[test]
    fn a_missing_field_is_an_error_not_a_score() {
        let server = server();
        let error = scored(&similarity(&server), &context(Value::Null, json!("left"))).unwrap_err();
        assert_eq!(error, "the item's `expected.text` is missing or null; the item has `expected`");
        assert!(server.requests().is_empty());
    }

    #[test]
    fn a_field_that_no_item_has_is_told_before_anything_runs() {
        let items = [crate::item! { "input": "q", "expectedOutput": "a" }, crate::item! { "input": "r" }];
        let checked = |similarity: Similarity| {
            without_models(&similarity.provider(Provider::Local), &items).map_err(|error| error.to_string())
        };
        assert_eq!(checked(Similarity::new("close", "expectedOutput")), Ok(()));
        assert_eq!(
            checked(Similarity::new("close", "expected_output")).unwrap_err(),
            "no item has `expected_output` to compare with; did you mean `expectedOutput`? available: \
             `expectedOutput`, `input`"
        );
        assert_eq!(checked(Similarity::new("close", "x").context(Clone::clone)), Ok(()));
        let error = checked(Similarity::new("close", "input").threshold(80.0)).unwrap_err();
        assert_eq!(error, "the threshold is 80; it must be a number from 0 to 1");
        let error = without_models(&Similarity::new("close", "input"), &items).unwrap_err().to_string();
        assert!(error.contains("OPENAI_API_KEY"), "{error}");
    }

    #[test]
    fn the_local_provider_needs_no_key_and_no_server() {
        let local = Similarity::new("close", "expected.text").provider(Provider::Local);
        let same = scored(&local, &context(json!("A bike"), json!("a bike"))).unwrap();
        assert!((same.value() - 1.0).abs() < 1e-6, "{same:?}");
        let other = scored(&local, &context(json!("A bike"), json!("nothing"))).unwrap();
        assert!(other.value() < 0.1, "{other:?}");
    }

    #[test]
    fn the_configuration_says_who_embeds_unless_the_evaluator_does() {
        let server = server();
        let config = format!(
            "[embedding]\nprovider = \"openai\"\nmodel = \"configured\"\nbase-url = {:?}\napi-key = \"k\"",
            server.url("/v1")
        );
        let plain = Similarity::new("close", "expected.text");
        for (similarity, model) in [(plain.clone(), "configured"), (plain.model("own"), "own")] {
            asked_by(&similarity, &context(json!("right"), json!("left")), &config).0.unwrap();
            assert_eq!(server.requests().pop().unwrap().body["model"], model);
        }
    }
}
