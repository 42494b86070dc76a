//! What can be set on an `Autoeval`.

use serde_json::Value;

use super::correctness::Weights;
use super::{Autoeval, Task};
use crate::evaluators::EvalContext;
use crate::evaluators::remap::Remap;
use crate::llm::Provider;

/// Inputs.
impl Autoeval {
    /// Takes an input from a field of the item, or from a path: `docs`, `question.text`, or, of what the agent gave,
    /// `output.answer` and `metadata.documents`.
    ///
    /// ```
    /// # use cobalt::Autoeval;
    /// let recall = Autoeval::context_recall("recall").field("context", "docs").field("input", "question.text");
    /// ```
    #[must_use]
    pub fn field(mut self, input: impl Into<String>, path: impl AsRef<str>) -> Self {
        match &mut self.task {
            Task::Classifier { prompt, .. } => prompt.set_field(input.into(), path.as_ref()),
            Task::Kind(_) => self.sources.map(input.into(), path.as_ref()),
        }
        self
    }

    /// Takes what is expected from this field of the item: short for `field("expected", …)`.
    #[must_use]
    pub fn expected(self, path: impl AsRef<str>) -> Self {
        self.field("expected", path)
    }

    /// Sets an input once for all items, such as `criteria`, `instructions` or `language`. A classifier has such texts in its
    /// prompt.
    #[must_use]
    pub fn value(mut self, input: impl Into<String>, value: impl Into<Value>) -> Self {
        self.sources.fix(input.into(), value.into());
        self
    }

    /// The JSON schema that the output has to fit: short for `value("schema", …)`. For `ValidJSON`.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.options.set.insert("schema");
        self.value("schema", schema)
    }

    /// Changes what the evaluator sees, for example another output or item.
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.remap = Some(Remap::new(remap));
        self
    }
}

/// How it is scored.
impl Autoeval {
    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    /// Whether a classifier reasons before it chooses (it does unless this is set to `false`). For the kinds that choose a label.
    #[must_use]
    pub fn chain_of_thought(mut self, on: bool) -> Self {
        self.options.chain_of_thought = on;
        self.set("chain_of_thought")
    }

    /// How many questions are compared, 3 unless it is set. For `AnswerRelevancy` and `Ragas`.
    #[must_use]
    pub fn strictness(mut self, questions: u32) -> Self {
        self.options.strictness = questions;
        self.set("strictness")
    }

    /// The score of a category, from 0 to 1, above which the output is bad, whatever is flagged. For `Moderation`.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.options.threshold = Some(threshold);
        self.set("threshold")
    }

    /// The cosine, from -1 to below 1, at which texts count as not alike at all. For the kinds that compare embeddings.
    #[must_use]
    pub fn expected_min(mut self, cosine: f64) -> Self {
        self.options.expected_min = Some(cosine);
        self.set("expected_min")
    }

    /// Whether text of JSON within JSON stays text (it is read unless this is set). For `JsonDiff`.
    #[must_use]
    pub fn preserve_strings(mut self, preserve: bool) -> Self {
        self.options.preserve_strings = preserve;
        self.set("preserve_strings")
    }

    /// Whether the output may have elements beyond the expected ones (these lower the score unless this is set). For
    /// `ListContains`.
    #[must_use]
    pub fn allow_extra(mut self, allow: bool) -> Self {
        self.options.allow_extra = allow;
        self.set("allow_extra")
    }

    /// Whether elements are compared by embeddings (by their letters unless this is set). For `ListContains`.
    #[must_use]
    pub fn semantic(mut self, semantic: bool) -> Self {
        self.options.semantic = semantic;
        self.set("semantic")
    }

    /// What factual agreement and likeness count for, 0.75 and 0.25 unless it is set; only their proportion matters. For
    /// `AnswerCorrectness`.
    #[must_use]
    pub fn weights(mut self, factuality: f64, similarity: f64) -> Self {
        self.options.weights = Weights { factuality, similarity };
        self.set("weights")
    }

    fn set(mut self, setting: &'static str) -> Self {
        self.options.set.insert(setting);
        self
    }
}

/// Whom it asks. What is not set follows from the configuration.
impl Autoeval {
    /// The model that judges.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.options.model.model = Some(model.into());
        self.set("model")
    }

    /// Who offers the model that judges.
    #[must_use]
    pub fn provider(mut self, provider: Provider) -> Self {
        self.options.model.provider = Some(provider);
        self.set("provider")
    }

    /// Where the API is, as `http://localhost:11434/v1`. Embeddings are asked for there as well, unless their provider or
    /// address is set, or the provider is Anthropic, which has none.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.options.model.base_url = Some(url.into());
        self.set("base_url")
    }

    /// The environment variable that holds the key, instead of the provider's own. Embeddings are asked for with it as well
    /// where they are asked for at the same [`base_url`](Self::base_url), or of the vendor that the judge's provider or model
    /// names, or where there is no judge.
    #[must_use]
    pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
        self.options.model.api_key_env = Some(variable.into());
        self.set("api_key_env")
    }

    /// The temperature at which the judge answers; sent only where the model takes it.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.options.model.temperature = Some(temperature);
        self.set("temperature")
    }

    /// The model that embeds.
    #[must_use]
    pub fn embedding_model(mut self, model: impl Into<String>) -> Self {
        self.options.embedding.model = Some(model.into());
        self.set("embedding_model")
    }

    /// Who offers the model that embeds.
    #[must_use]
    pub fn embedding_provider(mut self, provider: Provider) -> Self {
        self.options.embedding.provider = Some(provider);
        self.set("embedding_provider")
    }

    /// Where embeddings are asked for, where that is not [`base_url`](Self::base_url).
    #[must_use]
    pub fn embedding_base_url(mut self, url: impl Into<String>) -> Self {
        self.options.embedding.base_url = Some(url.into());
        self.set("embedding_base_url")
    }
}
