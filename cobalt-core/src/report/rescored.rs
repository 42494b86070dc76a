//! The origin of a run that scored stored outputs.

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
    /// The evaluators that were run; the scores of the others are those of the original run.
    pub evaluators: Vec<String>,
    /// What could not be scored as in a new run, each in a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
