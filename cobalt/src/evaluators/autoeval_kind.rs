//! `AutoevalKind`: the kinds of `Autoeval` and their names.

use std::fmt;
use std::str::FromStr;

use cobalt_core::wording;

/// Defines the enum with the name of each variant.
macro_rules! kinds {
    ($($variant:ident = $name:literal,)+) => {
        /// The kind of an `Autoeval`. The names are those of autoevals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "each is described at its constructor, as `Autoeval::factuality`")]
        pub enum AutoevalKind {
            $($variant,)+
        }

        impl AutoevalKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name, such as `ContextRecall`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

kinds! {
    Factuality = "Factuality",
    ContextRecall = "ContextRecall",
    ContextPrecision = "ContextPrecision",
    ContextRelevancy = "ContextRelevancy",
    AnswerRelevancy = "AnswerRelevancy",
    AnswerCorrectness = "AnswerCorrectness",
    AnswerSimilarity = "AnswerSimilarity",
    Ragas = "Ragas",
    JsonDiff = "JsonDiff",
    ValidJson = "ValidJSON",
    Security = "Security",
    Levenshtein = "Levenshtein",
    NumericDiff = "NumericDiff",
    ExactMatch = "ExactMatch",
    EmbeddingSimilarity = "EmbeddingSimilarity",
    ListContains = "ListContains",
    Battle = "Battle",
    Humor = "Humor",
    ClosedQa = "ClosedQA",
    Possible = "Possible",
    Sql = "Sql",
    Summary = "Summary",
    Translation = "Translation",
    Faithfulness = "Faithfulness",
    ContextEntityRecall = "ContextEntityRecall",
    Moderation = "Moderation",
}

/// Aliases used elsewhere.
pub const ALIASES: [(&str, AutoevalKind); 4] = [
    ("Json", AutoevalKind::ValidJson),
    ("Embedding", AutoevalKind::EmbeddingSimilarity),
    ("JSONDiff", AutoevalKind::JsonDiff),
    ("LevenshteinScorer", AutoevalKind::Levenshtein),
];

impl fmt::Display for AutoevalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An unknown name of an autoeval kind. The message suggests the closest known one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown autoeval kind `{wanted}`; {}", wording::suggest_or_list(.wanted, Self::known()))]
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
