//! The kinds of `Autoeval`: their names, what each looks at, and what can be set.

use std::fmt;
use std::str::FromStr;

use crate::suggest;

/// What an [`Autoeval`](super::Autoeval) scores. The names are those of autoevals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is described at its constructor, as `Autoeval::factuality`")]
pub enum AutoevalKind {
    Factuality,
    ContextRecall,
    ContextPrecision,
    ContextRelevancy,
    AnswerRelevancy,
    AnswerCorrectness,
    AnswerSimilarity,
    Ragas,
    JsonDiff,
    ValidJson,
    Security,
    Levenshtein,
    NumericDiff,
    ExactMatch,
    EmbeddingSimilarity,
    ListContains,
    Battle,
    Humor,
    ClosedQa,
    Possible,
    Sql,
    Summary,
    Translation,
    Faithfulness,
    ContextEntityRecall,
    Moderation,
}

/// Further names, as other lists have them.
const ALIASES: [(&str, AutoevalKind); 4] = [
    ("Json", AutoevalKind::ValidJson),
    ("Embedding", AutoevalKind::EmbeddingSimilarity),
    ("JSONDiff", AutoevalKind::JsonDiff),
    ("LevenshteinScorer", AutoevalKind::Levenshtein),
];

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
    pub(super) name: &'static str,
    /// The inputs that it cannot do without.
    pub(super) needs: &'static [&'static str],
    pub(super) takes: &'static [Setting],
}

const COMPARED: &[&str] = &["output", "expected"];
const ANSWERED: &[&str] = &["input", "output", "expected"];
const RETRIEVED: &[&str] = &["input", "expected", "context"];
const GROUNDED: &[&str] = &["input", "context", "output"];
const CHOICE: &[Setting] = &[Setting::ChainOfThought, Setting::Model];
const JUDGED: &[Setting] = &[Setting::Model];

impl AutoevalKind {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::Factuality,
        Self::ContextRecall,
        Self::ContextPrecision,
        Self::ContextRelevancy,
        Self::AnswerRelevancy,
        Self::AnswerCorrectness,
        Self::AnswerSimilarity,
        Self::Ragas,
        Self::JsonDiff,
        Self::ValidJson,
        Self::Security,
        Self::Levenshtein,
        Self::NumericDiff,
        Self::ExactMatch,
        Self::EmbeddingSimilarity,
        Self::ListContains,
        Self::Battle,
        Self::Humor,
        Self::ClosedQa,
        Self::Possible,
        Self::Sql,
        Self::Summary,
        Self::Translation,
        Self::Faithfulness,
        Self::ContextEntityRecall,
        Self::Moderation,
    ];

    /// The name, as `ContextRecall`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    pub(super) fn traits(self) -> Traits {
        let (name, needs, takes): (_, &[&str], &[Setting]) = match self {
            Self::Factuality => ("Factuality", ANSWERED, CHOICE),
            Self::ContextRecall => ("ContextRecall", RETRIEVED, JUDGED),
            Self::ContextPrecision => ("ContextPrecision", RETRIEVED, JUDGED),
            Self::ContextRelevancy => ("ContextRelevancy", &["input", "context"], JUDGED),
            Self::AnswerRelevancy => (
                "AnswerRelevancy",
                GROUNDED,
                &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding],
            ),
            Self::AnswerCorrectness => {
                ("AnswerCorrectness", ANSWERED, &[Setting::Weights, Setting::Model, Setting::Embedding])
            }
            Self::AnswerSimilarity => {
                ("AnswerSimilarity", COMPARED, &[Setting::ExpectedMin, Setting::Embedding])
            }
            Self::Ragas => (
                "Ragas",
                &["input", "output", "expected", "context"],
                &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding],
            ),
            Self::JsonDiff => ("JsonDiff", COMPARED, &[Setting::PreserveStrings]),
            Self::ValidJson => ("ValidJSON", &["output"], &[Setting::Schema]),
            Self::Security => ("Security", &["output"], CHOICE),
            Self::Levenshtein => ("Levenshtein", COMPARED, &[]),
            Self::NumericDiff => ("NumericDiff", COMPARED, &[]),
            Self::ExactMatch => ("ExactMatch", COMPARED, &[]),
            Self::EmbeddingSimilarity => {
                ("EmbeddingSimilarity", COMPARED, &[Setting::ExpectedMin, Setting::Embedding])
            }
            Self::ListContains => (
                "ListContains",
                COMPARED,
                &[Setting::AllowExtra, Setting::Semantic, Setting::ExpectedMin, Setting::Embedding],
            ),
            Self::Battle => ("Battle", &["instructions", "output", "expected"], CHOICE),
            Self::Humor => ("Humor", &["output"], CHOICE),
            Self::ClosedQa => ("ClosedQA", &["input", "output", "criteria"], CHOICE),
            Self::Possible => ("Possible", &["input", "output"], CHOICE),
            Self::Sql => ("Sql", ANSWERED, CHOICE),
            Self::Summary => ("Summary", ANSWERED, CHOICE),
            Self::Translation => ("Translation", &["language", "input", "output", "expected"], CHOICE),
            Self::Faithfulness => ("Faithfulness", GROUNDED, JUDGED),
            Self::ContextEntityRecall => (
                "ContextEntityRecall",
                &["expected", "context"],
                &[Setting::ExpectedMin, Setting::Model, Setting::Embedding],
            ),
            Self::Moderation => ("Moderation", &["output"], &[Setting::Threshold, Setting::Model]),
        };
        Traits { name, needs, takes }
    }

    /// Whether `null` is a value like others: JSON is compared with JSON.
    pub(super) fn takes_null(self) -> bool {
        matches!(self, Self::JsonDiff | Self::ExactMatch | Self::ValidJson)
    }
}

impl fmt::Display for AutoevalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no kind of `Autoeval` has, with the nearest one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of autoeval `{wanted}`; {}", suggest::instead(.wanted, Self::known()))]
pub struct UnknownAutoevalKind {
    wanted: String,
}

impl UnknownAutoevalKind {
    fn known() -> impl Iterator<Item = &'static str> + Clone {
        AutoevalKind::ALL.into_iter().map(AutoevalKind::name)
    }
}

impl FromStr for AutoevalKind {
    type Err = UnknownAutoevalKind;

    fn from_str(wanted: &str) -> Result<Self, UnknownAutoevalKind> {
        let known = Self::ALL.into_iter().map(|kind| (kind.name(), kind)).chain(ALIASES);
        let mut found = known.filter(|(name, _)| *name == wanted);
        found.next().map(|(_, kind)| kind).ok_or_else(|| UnknownAutoevalKind { wanted: wanted.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name_and_its_aliases() {
        for kind in AutoevalKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!("Json".parse(), Ok(AutoevalKind::ValidJson));
        assert_eq!("Embedding".parse(), Ok(AutoevalKind::EmbeddingSimilarity));
        assert_eq!("JSONDiff".parse(), Ok(AutoevalKind::JsonDiff));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = "factualty".parse::<AutoevalKind>().unwrap_err().to_string();
        assert!(error.contains("did you mean `Factuality`?"), "{error}");
    }
}
