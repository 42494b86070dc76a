//! Spans that agents export by OTLP to the test binary.

use cobalt::trace::SpanKind;
use serde_json::{Value, json};

use crate::sandbox::{Program, Sandbox, fixture};

fn items(number: usize, more: &Value) -> Vec<Value> {
    let item = |number: usize| {
        let mut item = json!({ "id": format!("i{number}"), "tokens": 100 + number });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    (0..number).map(item).collect()
}

fn program(sandbox: &Sandbox) -> Program {
    sandbox.write("cobalt.toml", "[trace]\notlp = true\n");
    sandbox.program(fixture!("exported")).env("NO_PROXY", "127.0.0.1")
}

#[test]
fn exported_spans_belong_to_their_items_with_tokens_and_parents() {
    let sandbox = Sandbox::with_items(items(200, &json!({})));
    program(&sandbox).run().code(0);
    let report = sandbox.report();
    assert_eq!(report.items.len(), 200);
    for item in &report.items {
        let trace = &item.first_trial().trace;
        let [agent, call] = trace.spans() else { panic!("{trace:?}") };
        assert_eq!((agent.kind, &agent.parent), (SpanKind::Agent, &None));
        assert_eq!((call.kind, &call.parent), (SpanKind::Model, &Some(agent.id.clone())));
        let tokens = call.model.as_ref().unwrap().tokens.unwrap();
        assert_eq!(Some(tokens.input), item.input["tokens"].as_u64());
    }
    assert_eq!(report.summary.total_tokens, Some((0..200).map(|number| 105 + number).sum()));
}

#[test]
fn an_export_after_the_agent_is_waited_for_and_a_late_one_is_told() {
    let sandbox = Sandbox::with_items(items(3, &json!({ "after": 300 })));
    program(&sandbox).run().code(0);
    assert!(
        sandbox.report().items.iter().all(|item| item.first_trial().latency_ms < 200.0),
        "it is not latency"
    );
    // The second item keeps the run going until the spans of the first arrive.
    let sandbox =
        Sandbox::with_items([json!({ "id": "late", "after": 2500 }), json!({ "id": "busy", "busy": 3000 })]);
    program(&sandbox)
        .run()
        .code(101)
        .stderr_has(&["note: 2 exported spans arrived after their item had ended"]);
    assert!(sandbox.report().items[0].first_trial().trace.is_empty());
}

#[test]
fn without_the_setting_there_is_no_endpoint() {
    let sandbox = Sandbox::with_items(items(1, &json!({})));
    sandbox.program(fixture!("exported")).run().code(101);
    let output = sandbox.report().items[0].first_trial().output.clone().unwrap();
    assert_eq!(output.text(), "no endpoint");
}
