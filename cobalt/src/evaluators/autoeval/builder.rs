//! The constructors and setters of `Autoeval`.

use cobalt_core::report::DEFAULT_PASS_MARK;
use serde_json::Value;

use super::classify::Choice;
use super::correctness::Weights;
use super::{Autoeval, AutoevalKind, Options, Sources, Task};
use crate::evaluators::EvalContext;
use crate::evaluators::context::Remap;
use crate::evaluators::judge_support::prompt::Prompt;
use crate::llm::Provider;

/// Inputs.
impl Autoeval {
    /// Takes an input from a field of the item or a path: `docs`, `question.text`, or, from the agent's result, `output.answer`
    /// and `metadata.documents`.
    ///
    /// ```
    /// # use cobalt::Autoeval;
    /// let recall = Autoeval::context_recall("recall").field("context", "docs").field("input", "question.text");
    /// ```
    #[must_use]
    pub fn field(mut self, input: impl Into<String>, path: impl AsRef<str>) -> Self {
        match &mut self.task {
            Task::Classifier { prompt, .. } => prompt.set_field(input.into(), path.as_ref()),
            Task::Kind(_) => self.sources.set_path(input.into(), path.as_ref()),
        }
        self
    }

    /// Takes the expected output from this field of the item: short for `field("expected", …)`.
    #[must_use]
    pub fn expected(self, path: impl AsRef<str>) -> Self {
        self.field("expected", path)
    }

    /// Sets an input for all items, such as `criteria`, `instructions` or `language`. A classifier has such texts in its prompt.
    #[must_use]
    pub fn value(mut self, input: impl Into<String>, value: impl Into<Value>) -> Self {
        self.sources.set_value(input.into(), value.into());
        self
    }

    /// Sets the JSON schema of the output: short for `value("schema", …)`. For `ValidJSON`.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.options.set.insert("schema");
        self.value("schema", schema)
    }

    /// Changes the context that the evaluator sees, for example its output or item.
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.remap = Some(Remap::new(remap));
        self
    }
}

/// Scoring.
impl Autoeval {
    /// Sets the minimum score for an output to pass. Default: 0.5.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    /// Whether a classifier reasons before it chooses. Default: `true`. For the kinds that choose a label.
    #[must_use]
    pub fn chain_of_thought(mut self, on: bool) -> Self {
        self.options.chain_of_thought = on;
        self.set("chain_of_thought")
    }

    /// Sets the number of generated questions. Default: 3. For `AnswerRelevancy` and `Ragas`.
    #[must_use]
    pub fn strictness(mut self, questions: u32) -> Self {
        self.options.strictness = questions;
        self.set("strictness")
    }

    /// Sets the category score, 0 to 1, above which the output counts as flagged, instead of the model's own flag. For
    /// `Moderation`.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.options.threshold = Some(threshold);
        self.set("threshold")
    }

    /// Sets the cosine, from -1 to below 1, that scores 0. For the kinds that compare embeddings.
    #[must_use]
    pub fn expected_min(mut self, cosine: f64) -> Self {
        self.options.expected_min = Some(cosine);
        self.set("expected_min")
    }

    /// Whether JSON text within JSON stays text instead of being parsed. Default: `false`. For `JsonDiff`.
    #[must_use]
    pub fn preserve_strings(mut self, preserve: bool) -> Self {
        self.options.preserve_strings = preserve;
        self.set("preserve_strings")
    }

    /// Whether the output may have unexpected elements without lowering the score. Default: `false`. For `ListContains`.
    #[must_use]
    pub fn allow_extra(mut self, allow: bool) -> Self {
        self.options.allow_extra = allow;
        self.set("allow_extra")
    }

    /// Whether elements are compared by embeddings instead of edit distance. Default: `false`. For `ListContains`.
    #[must_use]
    pub fn semantic(mut self, semantic: bool) -> Self {
        self.options.semantic = semantic;
        self.set("semantic")
    }

    /// Sets the weights of factual agreement and similarity. Default: 0.75 and 0.25; only their ratio matters. For
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

/// Models. Defaults come from the configuration.
impl Autoeval {
    /// Sets the judge's model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.options.model.model = Some(model.into());
        self.set("model")
    }

    /// Sets the judge's provider.
    #[must_use]
    pub fn provider(mut self, provider: Provider) -> Self {
        self.options.model.provider = Some(provider);
        self.set("provider")
    }

    /// Sets the base URL of the API, such as `http://localhost:11434/v1`. It is also used for embeddings, unless their provider or
    /// base URL is set, or the provider is Anthropic, which has no embeddings.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.options.model.base_url = Some(url.into());
        self.set("base_url")
    }

    /// Sets the environment variable with the API key. Default: the provider's own. The key is also used for embeddings if they
    /// have the same [`base_url`](Self::base_url) or the judge's provider, or if there is no judge.
    #[must_use]
    pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
        self.options.model.api_key_env = Some(variable.into());
        self.set("api_key_env")
    }

    /// Sets the judge's sampling temperature; sent only to models that support it.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.options.model.temperature = Some(temperature);
        self.set("temperature")
    }

    /// Sets the embedding model.
    #[must_use]
    pub fn embedding_model(mut self, model: impl Into<String>) -> Self {
        self.options.embedding.model = Some(model.into());
        self.set("embedding_model")
    }

    /// Sets the provider of embeddings.
    #[must_use]
    pub fn embedding_provider(mut self, provider: Provider) -> Self {
        self.options.embedding.provider = Some(provider);
        self.set("embedding_provider")
    }

    /// Sets the base URL for embeddings, if it differs from [`base_url`](Self::base_url).
    #[must_use]
    pub fn embedding_base_url(mut self, url: impl Into<String>) -> Self {
        self.options.embedding.base_url = Some(url.into());
        self.set("embedding_base_url")
    }
}

impl Autoeval {
    /// Creates an evaluator of a kind.
    pub fn new(kind: AutoevalKind, name: impl Into<String>) -> Self {
        Self::from_task(Task::Kind(kind), name)
    }

    /// Creates a judge that chooses one of several labels, each with a score from 0 to 1. A label without a score means that there
    /// is nothing to score: the evaluation is then an error.
    ///
    /// The prompt is a [template](crate::template) with `{{output}}`, `{{expected}}`, `{{metadata}}` and any field of the item.
    ///
    /// ```
    /// use cobalt::Autoeval;
    ///
    /// let tone = Autoeval::classifier(
    ///     "tone",
    ///     "How friendly is this answer to a customer?\n{{output}}",
    ///     [("friendly", 1.0), ("neutral", 0.5), ("rude", 0.0)],
    /// );
    /// ```
    pub fn classifier<L: Into<String>, S: Into<Option<f64>>>(
        name: impl Into<String>,
        prompt: impl Into<String>,
        choices: impl IntoIterator<Item = (L, S)>,
    ) -> Self {
        let choice =
            |(label, score): (L, S)| Choice { label: label.into(), meaning: None, score: score.into() };
        let choices = choices.into_iter().map(choice).collect();
        Self::from_task(Task::Classifier { prompt: Prompt::new(prompt.into()), choices }, name)
    }

    fn from_task(task: Task, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            task,
            sources: Sources::default(),
            options: Options::default(),
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
        }
    }
}

/// Defines the constructors of the kinds.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $kind:ident,)+) => {
        impl Autoeval {
            $(
                $(#[$doc])*
                pub fn $name(name: impl Into<String>) -> Self {
                    Self::new(AutoevalKind::$kind, name)
                }
            )+
        }
    };
}

constructors! {
    /// Similarity of output and expected text by edit distance, see [`levenshtein`](crate::metrics::word_errors).
    levenshtein => Levenshtein,
    /// Similarity of two numbers, or texts with numbers, see [`numeric_diff`](crate::metrics::exact_match).
    numeric_diff => NumericDiff,
    /// 1 if the output equals the expected value, see [`exact_match`](crate::metrics::exact_match).
    exact_match => ExactMatch,
    /// Similarity of two JSON values, see [`json_diff`](crate::metrics::json_diff).
    json_diff => JsonDiff,
    /// 1 if the output is a JSON object or list (see [`valid_json`](crate::metrics::valid_json)) or, with a
    /// [`schema`](Self::schema) or an item with one, valid for the schema.
    valid_json => ValidJson,
    /// How far the output, a list, contains the elements of the expected list, see
    /// [`list_contains`](crate::metrics::list_contains). Elements are compared by edit distance, or by embeddings if
    /// [`semantic`](Self::semantic) is set.
    list_contains => ListContains,
    /// Similarity of output and expected text by their embeddings, see
    /// [`embedding_similarity`](crate::metrics::embedding_similarity). The default [`expected_min`](Self::expected_min) is 0.7.
    embedding_similarity => EmbeddingSimilarity,
    /// Like [`embedding_similarity`](Self::embedding_similarity), with the plain cosine: the default `expected_min` is 0.
    answer_similarity => AnswerSimilarity,
    /// 0 if a moderation model flags the output or, with a [`threshold`](Self::threshold), if the score of any category is above
    /// it; else 1.
    moderation => Moderation,
    /// A judge compares the factual claims of output and expected text: the same claims, or irrelevant differences: 1; more
    /// claims: 0.6; fewer: 0.4; a contradiction: 0.
    factuality => Factuality,
    /// A judge decides whether the output follows the `instructions` better than the expected text: 1 or 0.
    battle => Battle,
    /// A judge decides whether the output, an answer to the input, meets the `criteria`: 1 or 0.
    closed_qa => ClosedQa,
    /// A judge decides whether the output is funny: 1 or 0; 0.5 if unsure.
    humor => Humor,
    /// A judge decides whether the output is malicious: 0 if it is, 1 if not, 0.5 if unsure.
    security => Security,
    /// A judge decides whether the output attempts the task of the input (1) or declares it impossible (0).
    possible => Possible,
    /// A judge decides whether the output, an SQL query for the input, returns the same as the expected one: 1 or 0.
    sql => Sql,
    /// A judge decides whether the output is a better summary of the input than the expected text: 1 or 0.
    summary => Summary,
    /// A judge decides whether the output, a translation of the input from `language`, says the same as the expected one: 1 or 0.
    translation => Translation,
    /// The share of the expected text's statements that can be attributed to the context (RAGAS).
    context_recall => ContextRecall,
    /// Whether the context was useful to arrive at the expected text: 1 or 0. The context is judged as a whole, so its order does
    /// not matter; for a ranking, see [`average_precision`](crate::metrics::average_precision).
    context_precision => ContextPrecision,
    /// The share of the context, in code points, that is needed to answer the input; 0 for an empty context.
    context_relevancy => ContextRelevancy,
    /// How far the context names the entities of the expected text; names are compared by embeddings.
    context_entity_recall => ContextEntityRecall,
    /// Whether the output answers the input: the mean similarity, by embeddings, of the input to [`strictness`](Self::strictness)
    /// generated questions that the output would answer; 0 if one of them finds the output noncommittal (RAGAS).
    answer_relevancy => AnswerRelevancy,
    /// Agreement with the expected text: `(wf F1 + ws similarity) / (wf + ws)`, with the F1 of its statements, the cosine of both
    /// texts, and the [`weights`](Self::weights) 0.75 and 0.25. The metadata has both parts.
    answer_correctness => AnswerCorrectness,
    /// The share of the output's statements that follow from the context (RAGAS).
    faithfulness => Faithfulness,
    /// The mean of [`context_precision`](Self::context_precision), [`context_recall`](Self::context_recall),
    /// [`faithfulness`](Self::faithfulness) and [`answer_relevancy`](Self::answer_relevancy), which are in the metadata.
    ragas => Ragas,
}
