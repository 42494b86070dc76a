//! What is chosen from a few names in evaluators that ask models.

use serde::Serialize;

use crate::settings::names;

/// How the scores of several judges become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Aggregate {
    /// Their arithmetic mean; for verdicts, the share of judges that said yes.
    #[default]
    Mean,
    /// 1 where more than half of the judges let the output pass, else 0. A tie does not pass.
    Majority,
}

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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

/// A judge whose question comes with the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Whether what the output claims is in the context.
    Hallucination,
    /// Whether the output is free of what hurts.
    Toxicity,
    /// Whether the output is free of prejudice.
    Bias,
    /// How far what the input asks for is done.
    TaskCompletion,
    /// Whether the output is a faithful and complete summary of the input.
    Summarisation,
}

names! {
    /// A judge whose question comes with the library.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "judges come with the feature"))]
    PresetName(Preset), "preset", "presets", "the name of ": "hallucination" => Hallucination,
        "toxicity" => Toxicity, "bias" => Bias, "task-completion" => TaskCompletion, "summarisation" => Summarisation;
}
