//! Named options of evaluators that call models.

use serde::Serialize;

use crate::settings::named_choices;

/// How the scores of a panel are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Aggregate {
    /// The arithmetic mean; for verdicts, the share of judges that said yes.
    #[default]
    Mean,
    /// 1 if more than half of the judges pass the output, else 0. A tie does not pass.
    Majority,
}

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Distance {
    /// Cosine similarity, independent of their lengths.
    #[default]
    Cosine,
    /// Dot product. Equal to the cosine for embeddings of length 1, which most models return.
    Dot,
}

impl Distance {
    /// The name of the measure.
    #[cfg(feature = "judge")]
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Cosine => "cosine similarity",
            Self::Dot => "dot product",
        }
    }
}

/// A judge with a built-in prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Whether the context supports the output's claims.
    Hallucination,
    /// Whether the output is free of toxicity.
    Toxicity,
    /// Whether the output is free of bias.
    Bias,
    /// How far the input's task is completed.
    TaskCompletion,
    /// Whether the output is a faithful and complete summary of the input.
    Summarisation,
    /// How far the conversation reaches the user's goal.
    GoalReached,
    /// Whether the agent stays in its role in each reply.
    StaysInRole,
    /// Whether the agent uses what the user said before.
    Remembers,
    /// Whether the agent answers each message of the user.
    AnswersEachTurn,
    /// Whether the user is not frustrated.
    UserFrustration,
}

named_choices! {
    /// A judge with a built-in prompt.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "judges come with the feature"))]
    PresetName(Preset), "preset", "presets", "the name of ": "hallucination" => Hallucination,
        "toxicity" => Toxicity, "bias" => Bias, "task-completion" => TaskCompletion, "summarisation" => Summarisation,
        "goal-reached" => GoalReached, "stays-in-role" => StaysInRole, "remembers" => Remembers,
        "answers-each-turn" => AnswersEachTurn, "user-frustration" => UserFrustration;
}
