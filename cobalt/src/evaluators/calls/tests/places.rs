//! Where the calls are looked for.

use serde_json::{Value, json};

use crate::evaluators::EvalContext;
use crate::experiment::Output;
use crate::{Item, ToolCalls};

fn names(output: Output) -> Result<Vec<String>, String> {
    let calls = EvalContext::new(Item::new(), output).tool_calls();
    calls.map(|calls| calls.into_iter().map(|call| call.name).collect()).map_err(|error| error.to_string())
}

#[test]
fn the_usual_places_are_found() {
    for place in ["toolCalls", "tool_calls", "calls", "trace", "messages"] {
        let fields = json!({ place: ["weather"] });
        assert_eq!(names(Output::new(fields)).unwrap(), ["weather"], "{place}");
        let reported = Output::new("It rains.").metadata(place, json!(["weather"]));
        assert_eq!(names(reported).unwrap(), ["weather"], "{place}");
    }
    assert_eq!(names(Output::new(json!(["weather"]))).unwrap(), ["weather"]);
    let message = json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "weather" } }] });
    assert_eq!(names(Output::new(message)).unwrap(), ["weather"]);
}

#[test]
fn metadata_goes_before_the_output_and_null_counts_as_nothing() {
    let output = json!({ "trace": ["of output"] });
    let both = |reported: Value| Output::new(output.clone()).metadata("toolCalls", reported);
    assert_eq!(names(both(json!(["of metadata"]))).unwrap(), ["of metadata"]);
    assert_eq!(names(both(Value::Null)).unwrap(), ["of output"]);
}

#[test]
fn an_empty_list_of_calls_hides_no_calls_in_a_later_place() {
    let none = |output: Value| Output::new(output).metadata("toolCalls", json!([]));
    let message = || json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "weather" } }] });
    let gemini =
        || json!([{ "role": "model", "parts": [{ "functionCall": { "name": "weather", "args": {} } }] }]);
    for output in [
        none(json!("It rains.")).metadata("messages", json!([message()])),
        none(json!("It rains.")).metadata("contents", gemini()),
        none(json!({ "messages": [message()] })),
        none(json!({ "toolCalls": ["weather"] })),
        none(json!({ "trace": ["weather"], "calls": [] })),
        none(json!({ "contents": gemini() })),
        none(message()),
        none(json!([message()])),
    ] {
        assert_eq!(names(output.clone()).unwrap(), ["weather"], "{output:?}");
    }
    for output in
        [json!("It rains."), json!(["York", "Leeds"]), json!([{ "name": "York" }]), json!({ "trace": [] })]
    {
        assert_eq!(names(none(output.clone())).unwrap(), Vec::<String>::new(), "{output}");
    }
}

#[test]
fn an_agent_that_reports_no_calls_is_an_error_and_no_score() {
    for output in [json!("weather"), json!({ "answer": "It rains." }), json!(null)] {
        let error = names(Output::new(output)).unwrap_err();
        assert!(error.starts_with("the agent reports no calls in the usual places, such as "), "{error}");
        assert!(error.contains("an empty list where there are none"), "{error}");
    }
}

#[test]
fn what_stands_in_a_usual_place_and_is_no_call_is_told_with_the_way_out() {
    let error = names(Output::new(json!({ "trace": 7 }))).unwrap_err();
    assert!(error.starts_with("the agent's `output.trace`") && error.ends_with("name the place"), "{error}");
}

#[test]
fn a_place_is_named_and_stands_in_the_errors() {
    let of = |path: &str, output: Value| {
        let steps = ToolCalls::at_most("steps", 3).calls(path);
        let cx = EvalContext::new(Item::new(), Output::new(output));
        steps.score(&cx).map(|score| score.value()).map_err(|error| error.to_string())
    };
    let output = json!({ "run": { "steps": ["a", "b"] }, "trace": ["a", "a", "a", "a"] });
    assert_eq!(of("output.run.steps", output.clone()), Ok(1.0));
    assert_eq!(
        of("output.run.calls", output),
        Err("the agent's `output.run.calls` is missing or null".to_owned())
    );
    let error = of("output.steps", json!({ "steps": ["a", null] })).unwrap_err();
    assert!(error.starts_with("the agent's `output.steps[1]` is null; expected a call as"), "{error}");
}
