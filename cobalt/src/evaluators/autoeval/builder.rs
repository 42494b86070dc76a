//! The constructors of `Autoeval`, one for each kind, and what can be set.

use cobalt_core::report::DEFAULT_PASS_MARK;
use serde_json::Value;

use super::classify::Choice;
use super::correctness::Weights;
use super::{Autoeval, AutoevalKind, Options, Sources, Task};
use crate::evaluators::EvalContext;
use crate::evaluators::asking::prompt::Prompt;
use crate::evaluators::context::Remap;
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

impl Autoeval {
    /// An evaluator of a kind, under a name.
    pub fn new(kind: AutoevalKind, name: impl Into<String>) -> Self {
        Self::of(Task::Kind(kind), name)
    }

    /// A judge that chooses one of several labels, each of which has a score from 0 to 1. A label without one says that there
    /// is nothing to score: the evaluation is then an error, not a score.
    ///
    /// The prompt is a [template](crate::template): `{{output}}`, `{{expected}}`, `{{metadata}}`, and any field of the item.
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
        Self::of(Task::Classifier { prompt: Prompt::new(prompt.into()), choices }, name)
    }

    fn of(task: Task, name: impl Into<String>) -> Self {
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

/// Makes the constructors of the kinds.
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
    /// The likeness of output and expected text by their letters, see [`levenshtein`](crate::metrics::word_errors).
    levenshtein => Levenshtein,
    /// The nearness of two numbers, or texts of numbers, see [`numeric_diff`](crate::metrics::exact_match).
    numeric_diff => NumericDiff,
    /// 1 where the output is what is expected, see [`exact_match`](crate::metrics::exact_match).
    exact_match => ExactMatch,
    /// The likeness of two JSON values, see [`json_diff`](crate::metrics::json_diff).
    json_diff => JsonDiff,
    /// 1 where the output is a JSON object or list (see [`valid_json`](crate::metrics::valid_json)), or, where a
    /// [`schema`](Self::schema) is given or the item has one, JSON that the schema allows.
    valid_json => ValidJson,
    /// How far the output, a list, holds the elements of the expected one, see
    /// [`list_contains`](crate::metrics::list_contains); elements are compared by their letters, or by embeddings where
    /// [`semantic`](Self::semantic) is set.
    list_contains => ListContains,
    /// The likeness of output and expected text by their embeddings, see
    /// [`embedding_similarity`](crate::metrics::embedding_similarity); [`expected_min`](Self::expected_min) is 0.7 unless it is set.
    embedding_similarity => EmbeddingSimilarity,
    /// As [`embedding_similarity`](Self::embedding_similarity), with the plain cosine: `expected_min` is 0 unless it is set.
    answer_similarity => AnswerSimilarity,
    /// 0 where a moderation model flags the output, or, with a [`threshold`](Self::threshold), where the score of any of its
    /// categories is above it; else 1.
    moderation => Moderation,
    /// A judge compares what output and expected text claim about the input. The output claims the same, or differs where it does
    /// not matter: 1; it claims more: 0.6; it claims less: 0.4; it contradicts: 0.
    factuality => Factuality,
    /// A judge decides whether the output follows the `instructions` better than the expected text: 1 or 0.
    battle => Battle,
    /// A judge decides whether the output, an answer to the input, meets the `criteria`: 1 or 0.
    closed_qa => ClosedQa,
    /// A judge decides whether the output is funny: 1 or 0; 0.5 where it is unsure.
    humor => Humor,
    /// A judge decides whether the output is malicious: 0; 1 where it is not, 0.5 where it is unsure.
    security => Security,
    /// A judge decides whether the output tries the task of the input (1) or declares it impossible (0).
    possible => Possible,
    /// A judge decides whether the output, an SQL query for the input, gives the same as the expected one: 1 or 0.
    sql => Sql,
    /// A judge decides whether the output is a better summary of the input than the expected text: 1 or 0.
    summary => Summary,
    /// A judge decides whether the output, a translation of the input from `language`, says the same as the expected one: 1 or 0.
    translation => Translation,
    /// The share of the statements of the expected text that can be attributed to the context (RAGAS).
    context_recall => ContextRecall,
    /// Whether the context was useful to arrive at the expected text: 1 or 0. All of the context is judged at once, so its
    /// order does not matter; for a ranking, see [`average_precision`](crate::metrics::average_precision).
    context_precision => ContextPrecision,
    /// The share of the context, in code points, that is needed to answer the input; 0 of an empty context.
    context_relevancy => ContextRelevancy,
    /// How far the context names the entities of the expected text; names are compared by embeddings.
    context_entity_recall => ContextEntityRecall,
    /// Whether the output answers the input: [`strictness`](Self::strictness) questions that it would answer are compared with
    /// the input by embeddings, and the mean is taken; 0 where one of them finds the output noncommittal (RAGAS).
    answer_relevancy => AnswerRelevancy,
    /// Whether the output says what is expected: `(wf F1 + ws similarity) / (wf + ws)`, with the F1 of its statements and the
    /// cosine of both texts, and the [`weights`](Self::weights) 0.75 and 0.25. Both parts are kept in the metadata.
    answer_correctness => AnswerCorrectness,
    /// The share of the output's statements that follow from the context (RAGAS).
    faithfulness => Faithfulness,
    /// The mean of [`context_precision`](Self::context_precision), [`context_recall`](Self::context_recall),
    /// [`faithfulness`](Self::faithfulness) and [`answer_relevancy`](Self::answer_relevancy), which are kept in the metadata.
    ragas => Ragas,
}
