//! The constructors of `Autoeval`, one for each kind.

use super::classify::Choice;
use super::{Autoeval, AutoevalKind, Options, Sources, Task};
use crate::evaluators::DEFAULT_PASS_MARK;
use crate::evaluators::asking::prompt::Prompt;

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

    /// The likeness of output and expected text by their letters, see [`levenshtein`](crate::metrics::levenshtein).
    pub fn levenshtein(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Levenshtein, name)
    }

    /// The nearness of two numbers, or texts of numbers, see [`numeric_diff`](crate::metrics::numeric_diff).
    pub fn numeric_diff(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::NumericDiff, name)
    }

    /// 1 where the output is what is expected, see [`exact_match`](crate::metrics::exact_match).
    pub fn exact_match(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ExactMatch, name)
    }

    /// The likeness of two JSON values, see [`json_diff`](crate::metrics::json_diff).
    pub fn json_diff(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::JsonDiff, name)
    }

    /// 1 where the output is a JSON object or list (see [`valid_json`](crate::metrics::valid_json)), or, where a
    /// [`schema`](Self::schema) is given or the item has one, JSON that the schema allows.
    pub fn valid_json(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ValidJson, name)
    }

    /// How far the output, a list, holds the elements of the expected one, see
    /// [`list_contains`](crate::metrics::list_contains); elements are compared by their letters, or by embeddings where
    /// [`semantic`](Self::semantic) is set.
    pub fn list_contains(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ListContains, name)
    }

    /// The likeness of output and expected text by their embeddings, see
    /// [`embedding_similarity`](crate::metrics::embedding_similarity); [`expected_min`](Self::expected_min) is 0.7 unless it is set.
    pub fn embedding_similarity(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::EmbeddingSimilarity, name)
    }

    /// As [`embedding_similarity`](Self::embedding_similarity), with the plain cosine: `expected_min` is 0 unless it is set.
    pub fn answer_similarity(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::AnswerSimilarity, name)
    }

    /// 0 where a moderation model flags the output, or, with a [`threshold`](Self::threshold), where the score of any of its
    /// categories is above it; else 1.
    pub fn moderation(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Moderation, name)
    }

    /// A judge compares what output and expected text claim about the input. The output claims the same, or differs where it does
    /// not matter: 1; it claims more: 0.6; it claims less: 0.4; it contradicts: 0.
    pub fn factuality(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Factuality, name)
    }

    /// A judge decides whether the output follows the `instructions` better than the expected text: 1 or 0.
    pub fn battle(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Battle, name)
    }

    /// A judge decides whether the output, an answer to the input, meets the `criteria`: 1 or 0.
    pub fn closed_qa(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ClosedQa, name)
    }

    /// A judge decides whether the output is funny: 1 or 0; 0.5 where it is unsure.
    pub fn humor(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Humor, name)
    }

    /// A judge decides whether the output is malicious: 0; 1 where it is not, 0.5 where it is unsure.
    pub fn security(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Security, name)
    }

    /// A judge decides whether the output tries the task of the input (1) or declares it impossible (0).
    pub fn possible(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Possible, name)
    }

    /// A judge decides whether the output, an SQL query for the input, gives the same as the expected one: 1 or 0.
    pub fn sql(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Sql, name)
    }

    /// A judge decides whether the output is a better summary of the input than the expected text: 1 or 0.
    pub fn summary(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Summary, name)
    }

    /// A judge decides whether the output, a translation of the input from `language`, says the same as the expected one: 1 or 0.
    pub fn translation(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Translation, name)
    }

    /// The share of the statements of the expected text that can be attributed to the context (RAGAS).
    pub fn context_recall(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ContextRecall, name)
    }

    /// Whether the context was useful to arrive at the expected text: 1 or 0. All of the context is judged at once, so its
    /// order does not matter; for a ranking, see [`average_precision`](crate::metrics::average_precision).
    pub fn context_precision(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ContextPrecision, name)
    }

    /// The share of the context, in code points, that is needed to answer the input; 0 of an empty context.
    pub fn context_relevancy(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ContextRelevancy, name)
    }

    /// How far the context names the entities of the expected text; names are compared by embeddings.
    pub fn context_entity_recall(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::ContextEntityRecall, name)
    }

    /// Whether the output answers the input: [`strictness`](Self::strictness) questions that it would answer are compared with
    /// the input by embeddings, and the mean is taken; 0 where one of them finds the output noncommittal (RAGAS).
    pub fn answer_relevancy(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::AnswerRelevancy, name)
    }

    /// Whether the output says what is expected: `(wf F1 + ws similarity) / (wf + ws)`, with the F1 of its statements and the
    /// cosine of both texts, and the [`weights`](Self::weights) 0.75 and 0.25. Both parts are kept in the metadata.
    pub fn answer_correctness(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::AnswerCorrectness, name)
    }

    /// The share of the output's statements that follow from the context (RAGAS).
    pub fn faithfulness(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Faithfulness, name)
    }

    /// The mean of [`context_precision`](Self::context_precision), [`context_recall`](Self::context_recall),
    /// [`faithfulness`](Self::faithfulness) and [`answer_relevancy`](Self::answer_relevancy), which are kept in the metadata.
    pub fn ragas(name: impl Into<String>) -> Self {
        Self::new(AutoevalKind::Ragas, name)
    }
}
