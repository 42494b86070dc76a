//! The origin of a run that scored stored outputs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// The run whose stored outputs were scored again. The agent was not called: everything that it did, and what it cost, is that of the
/// original run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rescored {
    /// The ID of the run that called the agent.
    pub run: String,
    /// When that run started.
    pub timestamp: Timestamp,
    /// The run that the scores of the other evaluators are from, if it was scored again itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores_of: Option<String>,
    /// The evaluators that were run; the scores of the others are those of the original run.
    pub evaluators: Vec<String>,
    /// What could not be scored as in a new run, each in a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Rescored {
    /// The ID of the run whose file has the outputs and the other scores.
    #[must_use]
    pub fn source(&self) -> &str {
        self.scores_of.as_deref().unwrap_or(&self.run)
    }
}

/// For display: `scores of run abc123 (2026-11-25 14:30 UTC), without running the agent`.
impl fmt::Display for Rescored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "scores of run {} ({} UTC), without running the agent",
            self.run,
            self.timestamp.to_minute()
        )
    }
}
