//! What is chosen from a few names in evaluators that ask models.

/// What a judge answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scoring {
    /// Whether the criteria are met.
    Boolean,
    /// How far they are met, from 0 to 1.
    Scale,
}

/// How the scores of several judges become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregate {
    /// Their arithmetic mean; for verdicts, the share of judges that said yes.
    #[default]
    Mean,
    /// 1 where more than half of the judges let the output pass, else 0. A tie does not pass.
    Majority,
}

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distance {
    /// The cosine of the angle between them, whatever their lengths.
    #[default]
    Cosine,
    /// Their dot product. It is the cosine where a model gives embeddings of length 1, as most do.
    Dot,
}

impl Distance {
    /// What it measures, in words.
    #[cfg(feature = "judge")]
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Cosine => "cosine similarity",
            Self::Dot => "dot product",
        }
    }
}
