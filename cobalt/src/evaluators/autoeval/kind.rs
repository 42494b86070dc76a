//! What belongs to a kind of `Autoeval`: what it looks at, and what can be set.

use super::AutoevalKind;

/// A setting that some kinds have and others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    ChainOfThought,
    Strictness,
    Threshold,
    ExpectedMin,
    PreserveStrings,
    AllowExtra,
    Semantic,
    Weights,
    Schema,
    /// The model that judges, and how to reach it.
    Model,
    /// The model that embeds, and how to reach it.
    Embedding,
}

impl Setting {
    /// The method that sets it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ChainOfThought => "chain_of_thought",
            Self::Strictness => "strictness",
            Self::Threshold => "threshold",
            Self::ExpectedMin => "expected_min",
            Self::PreserveStrings => "preserve_strings",
            Self::AllowExtra => "allow_extra",
            Self::Semantic => "semantic",
            Self::Weights => "weights",
            Self::Schema => "schema",
            Self::Model => "model",
            Self::Embedding => "embedding_model",
        }
    }
}

/// What belongs to a kind.
pub(super) struct Traits {
    /// The inputs that it cannot do without.
    pub(super) needs: &'static [&'static str],
    pub(super) takes: &'static [Setting],
}

/// What `ValidJson` looks at where an item has it.
pub(super) const SCHEMA: &str = "schema";

const COMPARED: &[&str] = &["output", "expected"];
const ANSWERED: &[&str] = &["input", "output", "expected"];
const RETRIEVED: &[&str] = &["input", "expected", "context"];
const GROUNDED: &[&str] = &["input", "context", "output"];
const CHOICE: &[Setting] = &[Setting::ChainOfThought, Setting::Model];
const JUDGED: &[Setting] = &[Setting::Model];

impl AutoevalKind {
    pub(super) fn traits(self) -> Traits {
        let (needs, takes): (&[&str], &[Setting]) = match self {
            Self::Factuality => (ANSWERED, CHOICE),
            Self::ContextRecall => (RETRIEVED, JUDGED),
            Self::ContextPrecision => (RETRIEVED, JUDGED),
            Self::ContextRelevancy => (&["input", "context"], JUDGED),
            Self::AnswerRelevancy => {
                (GROUNDED, &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding])
            }
            Self::AnswerCorrectness => (ANSWERED, &[Setting::Weights, Setting::Model, Setting::Embedding]),
            Self::AnswerSimilarity => (COMPARED, &[Setting::ExpectedMin, Setting::Embedding]),
            Self::Ragas => (
                &["input", "output", "expected", "context"],
                &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding],
            ),
            Self::JsonDiff => (COMPARED, &[Setting::PreserveStrings]),
            Self::ValidJson => (&["output"], &[Setting::Schema]),
            Self::Security => (&["output"], CHOICE),
            Self::Levenshtein => (COMPARED, &[]),
            Self::NumericDiff => (COMPARED, &[]),
            Self::ExactMatch => (COMPARED, &[]),
            Self::EmbeddingSimilarity => (COMPARED, &[Setting::ExpectedMin, Setting::Embedding]),
            Self::ListContains => (
                COMPARED,
                &[Setting::AllowExtra, Setting::Semantic, Setting::ExpectedMin, Setting::Embedding],
            ),
            Self::Battle => (&["instructions", "output", "expected"], CHOICE),
            Self::Humor => (&["output"], CHOICE),
            Self::ClosedQa => (&["input", "output", "criteria"], CHOICE),
            Self::Possible => (&["input", "output"], CHOICE),
            Self::Sql => (ANSWERED, CHOICE),
            Self::Summary => (ANSWERED, CHOICE),
            Self::Translation => (&["language", "input", "output", "expected"], CHOICE),
            Self::Faithfulness => (GROUNDED, JUDGED),
            Self::ContextEntityRecall => {
                (&["expected", "context"], &[Setting::ExpectedMin, Setting::Model, Setting::Embedding])
            }
            Self::Moderation => (&["output"], &[Setting::Threshold, Setting::Model]),
        };
        Traits { needs, takes }
    }

    /// Whether `null` is a value of an input like others: JSON is compared with JSON.
    pub(super) fn takes_null(self, input: &str) -> bool {
        matches!(self, Self::JsonDiff | Self::ExactMatch | Self::ValidJson) && input != SCHEMA
    }
}
