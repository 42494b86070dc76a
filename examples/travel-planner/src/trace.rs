//! The trace: what was called, with what, and what came of it, in the order of the calls.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::records::Records;
use crate::tools::{Tool, ToolError};

/// A call of a tool as it is reported. It has a result or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The tool's name, such as `search_trains`.
    pub tool: String,
    /// An object with the arguments.
    pub arguments: Value,
    /// What the tool found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it found nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Calls tools, and keeps what was called.
#[derive(Debug)]
pub(crate) struct Toolbox<'a> {
    records: &'a Records,
    calls: Vec<Call>,
}

impl<'a> Toolbox<'a> {
    pub(crate) fn new(records: &'a Records) -> Self {
        Self { records, calls: Vec::new() }
    }

    pub(crate) fn call<T: Tool>(&mut self, tool: T) -> Result<T::Answer, ToolError> {
        let outcome = tool.call(self.records);
        self.calls.push(Call {
            tool: T::NAME.to_owned(),
            arguments: json!(tool),
            result: outcome.as_ref().ok().map(|answer| json!(answer)),
            error: outcome.as_ref().err().map(ToString::to_string),
        });
        outcome
    }

    pub(crate) fn into_calls(self) -> Vec<Call> {
        self.calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::example;
    use crate::tools::FindStation;

    #[test]
    fn a_call_is_kept_with_its_result_or_its_error() {
        let records = example();
        let mut tools = Toolbox::new(&records);
        for name in ["Leads", "Atlantis"] {
            let _ = tools.call(FindStation { name: name.to_owned() });
        }
        let expected = json!([
            { "tool": "find_station", "arguments": { "name": "Leads" }, "result": "Leeds" },
            {
                "tool": "find_station",
                "arguments": { "name": "Atlantis" },
                "error": "no station is called Atlantis",
            },
        ]);
        assert_eq!(json!(tools.into_calls()), expected);
    }
}
