//! Faults that were injected into the calls of tools.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::redact::redact;

/// A fault that was injected into a call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InjectedFault {
    /// The tool.
    pub tool: String,
    /// The number of the call among those of the tool in the trial, from 1.
    pub call: usize,
    /// The fault as the plan writes it, such as `timeout` or `slow 2s`.
    pub fault: String,
}

impl InjectedFault {
    /// Redacts all texts.
    #[doc(hidden)]
    pub fn redact(&mut self) {
        redact(&mut self.tool);
        redact(&mut self.fault);
    }
}

/// As in `search#2: timeout`.
impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}: {}", self.tool, self.call, self.fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_reads_like_the_rule_for_its_call() {
        let fault = InjectedFault { tool: "search".to_owned(), call: 2, fault: "slow 2s".to_owned() };
        assert_eq!(fault.to_string(), "search#2: slow 2s");
        let json = serde_json::json!({ "tool": "search", "call": 2, "fault": "slow 2s" });
        assert_eq!(serde_json::to_value(&fault).unwrap(), json);
    }
}
