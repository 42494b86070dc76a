//! The calls of tools in one trial: those answered from its recording, and new ones.

use std::io;

use cobalt_core::recordings::{Body, RecordedToolCall, RecordingFolder, Trial};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::count;
use serde_json::Value;

/// The calls of tools in one trial.
#[derive(Debug, Default)]
pub struct TrialTools {
    /// The recorded calls, and whether each was used.
    recorded: Vec<(RecordedToolCall, bool)>,
    /// The calls to write.
    entries: Vec<RecordedToolCall>,
    has_new: bool,
    /// The tools and arguments of calls whose result the agent did not see, because a fault replaced it.
    hidden: Vec<(String, Option<Body>)>,
}

impl TrialTools {
    /// With the recording of the trial.
    pub fn of(trial: &Trial) -> Self {
        let recorded = trial.tools.iter().map(|call| {
            let recorded_at = call.recorded_at.or(trial.recorded_at);
            (RecordedToolCall { recorded_at, ..call.clone() }, false)
        });
        Self { recorded: recorded.collect(), ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a tool was called.
    pub fn has_new(&self) -> bool {
        self.has_new
    }

    /// Answers a call from the recording: by the next recorded one of the same tool with the same arguments. Each is used once, except
    /// that a call is repeated if a fault hid its result from the agent.
    pub fn replay(&mut self, tool: &str, arguments: &Value) -> Option<RecordedToolCall> {
        let arguments = comparable(arguments);
        let fits = |call: &RecordedToolCall| call.tool == tool && call.arguments == arguments;
        // Secrets may be redacted in one of the two only.
        let is_similar = |call: &RecordedToolCall| {
            let arguments = call.arguments.as_ref().zip(arguments.as_ref());
            let unread = |_: &str| Err(io::ErrorKind::Unsupported.into());
            call.tool == tool
                && arguments.is_some_and(|(known, sent)| known.is_same_but_for_secrets(sent, &unread))
        };
        let next_of = |fits: &dyn Fn(&RecordedToolCall) -> bool| {
            self.recorded.iter().position(|(call, is_used)| !is_used && fits(call))
        };
        let next = next_of(&fits).or_else(|| next_of(&is_similar));
        if let Some(next) = next {
            let (call, is_used) = &mut self.recorded[next];
            *is_used = true;
            self.entries.push(call.clone());
            return Some(call.clone());
        }
        let is_hidden = self.hidden.iter().any(|(known, of)| known == tool && *of == arguments);
        let last = self.recorded.iter().rev().find(|(call, _)| is_hidden && fits(call));
        last.map(|(call, _)| call.clone())
    }

    /// Notes that a fault hid the result of a call.
    pub fn hide(&mut self, tool: &str, arguments: &Value) {
        self.hidden.push((tool.to_owned(), comparable(arguments)));
    }

    /// Adds a call of a tool.
    pub fn add(&mut self, call: RecordedToolCall) {
        self.has_new = true;
        self.entries.push(call);
    }

    /// When the oldest replayed call was recorded.
    pub fn replayed_since(&self) -> Option<Timestamp> {
        let used = self.recorded.iter().filter(|(_, is_used)| *is_used);
        used.filter_map(|(call, _)| call.recorded_at).min()
    }

    /// The recorded latency of all replayed calls, in milliseconds.
    pub fn replayed_latency(&self) -> f64 {
        self.recorded.iter().filter(|(_, is_used)| *is_used).map(|(call, _)| call.latency_ms).sum()
    }

    /// Takes the calls to write.
    pub fn take(&mut self) -> Vec<RecordedToolCall> {
        std::mem::take(&mut self.entries)
    }

    /// Why a call of a trial is not recorded.
    pub fn explain(&self, tool: &str, run: usize) -> String {
        let of_tool = self.recorded.iter().filter(|(call, _)| call.tool == tool);
        match (of_tool.clone().count(), run) {
            (0, 0) => "the item has no recording of this tool".to_owned(),
            (0, run) => format!("trial {} of the item has no recording of this tool", run + 1),
            (all, _) => match of_tool.filter(|(_, is_used)| !is_used).count() {
                0 => {
                    format!("the item has {} of this tool, and this is one more", count(all, "recorded call"))
                }
                unused => format!(
                    "no unused recorded call of this tool has these arguments ({unused} of {all} unused)"
                ),
            },
        }
    }
}

/// A call as it is stored: redacted, with its long texts in files of their own.
pub fn stored_call(
    (tool, call): (&str, usize),
    arguments: &Value,
    outcome: &Result<Value, String>,
    latency_ms: f64,
    folder: &RecordingFolder,
) -> io::Result<RecordedToolCall> {
    let store = &mut |data: &[u8]| folder.write_blob(data);
    let arguments = Body::of(arguments.to_string().as_bytes(), store)?;
    let result = match outcome {
        Ok(result) => Body::of_response(result.to_string().as_bytes(), store)?,
        Err(_) => None,
    };
    let error = outcome.as_ref().err().map(|error| cobalt_core::redact::redacted(error).into_owned());
    let (tool, recorded_at) = (tool.to_owned(), Some(Timestamp::now()));
    Ok(RecordedToolCall { tool, call, arguments, result, error, latency_ms, recorded_at })
}

/// The outcome of a recorded call, with its long texts.
pub fn outcome_of(call: &RecordedToolCall, folder: &RecordingFolder) -> io::Result<Result<Value, String>> {
    if let Some(error) = &call.error {
        return Ok(Err(error.clone()));
    }
    let Some(result) = &call.result else { return Ok(Ok(Value::Null)) };
    let bytes = result.bytes(&|hash: &str| folder.read_blob(hash))?;
    Ok(Ok(serde_json::from_slice(&bytes)?))
}

/// Arguments in the form in which they are compared.
fn comparable(arguments: &Value) -> Option<Body> {
    Body::of_request(arguments.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(calls: &[(&str, Value, Value)]) -> TrialTools {
        let folder = RecordingFolder::new("none");
        let call = |(tool, arguments, result): &(&str, Value, Value)| {
            stored_call((tool, 1), arguments, &Ok(result.clone()), 2.0, &folder).unwrap()
        };
        TrialTools::of(&Trial { tools: calls.iter().map(call).collect(), ..Trial::default() })
    }

    fn replay(tools: &mut TrialTools, tool: &str, arguments: &Value) -> Option<Value> {
        let call = tools.replay(tool, arguments)?;
        outcome_of(&call, &RecordingFolder::new("none")).unwrap().ok()
    }

    #[test]
    fn calls_are_answered_by_tool_and_arguments_in_their_order_and_once() {
        let a = json!({ "q": "a", "n": 1 });
        let mut tools = recorded(&[
            ("search", a.clone(), json!(1)),
            ("search", a.clone(), json!(2)),
            ("find", a.clone(), json!(3)),
        ]);
        assert_eq!(replay(&mut tools, "search", &json!({ "n": 1, "q": "a" })), Some(json!(1)));
        assert_eq!(replay(&mut tools, "search", &json!({ "q": "b" })), None);
        assert_eq!(
            tools.explain("search", 0),
            "no unused recorded call of this tool has these arguments (1 of 2 unused)"
        );
        assert_eq!(replay(&mut tools, "search", &a), Some(json!(2)));
        assert_eq!(replay(&mut tools, "search", &a), None);
        let exhausted = "the item has 2 recorded calls of this tool, and this is one more";
        assert_eq!(tools.explain("search", 0), exhausted);
        assert_eq!(replay(&mut tools, "find", &a), Some(json!(3)));
        assert_eq!((tools.replayed_latency(), tools.has_new(), tools.take().len()), (6.0, false, 3));
        assert_eq!(tools.explain("other", 1), "trial 2 of the item has no recording of this tool");
    }

    #[test]
    fn a_call_whose_result_a_fault_hid_may_be_repeated() {
        let a = json!({});
        let mut tools = recorded(&[("search", a.clone(), json!(1))]);
        assert!(tools.replay("search", &a).is_some());
        tools.hide("search", &a);
        assert_eq!(replay(&mut tools, "search", &a), Some(json!(1)));
        assert_eq!(tools.take().len(), 1, "it is written once");
    }

    #[test]
    fn errors_null_and_long_texts_read_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(folder.path());
        let long = "long ".repeat(2000);
        for outcome in [Ok(json!(null)), Ok(json!("")), Err("no".to_owned()), Ok(json!({ "text": long }))] {
            let call = stored_call(("search", 1), &json!({}), &outcome, 1.0, &folder).unwrap();
            let text = serde_json::to_string(&call).unwrap();
            assert!(text.len() < 1000, "{text}");
            let read: RecordedToolCall = serde_json::from_str(&text).unwrap();
            assert_eq!(outcome_of(&read, &folder).unwrap(), outcome);
        }
    }
}
