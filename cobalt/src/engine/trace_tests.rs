//! What spans say of an agent: its usage, and what its evaluators see.

use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt_core::trace::SpanStatus;
use serde_json::{Value, json};
use tracing::{Instrument as _, info_span};

use super::retry_tests::{definition, work};
use super::*;
use crate::ToolCalls;
use crate::experiment::AgentError;
use crate::tools::ToolError;
use crate::trace::with_layer;

/// A model call of this many tokens.
fn ask(input: u64) {
    let span = info_span!(
        "chat",
        gen_ai.operation.name = "chat",
        gen_ai.response.model = "gpt-4o",
        gen_ai.usage.input_tokens = input
    );
    span.in_scope(|| {
        drop(info_span!(
            "execute_tool",
            gen_ai.tool.name = "search",
            gen_ai.tool.call.arguments = "{\"q\":\"x\"}"
        ))
    });
}

async fn run<M>(definition: ResolvedDefinition, agent: impl crate::Agent<M>) -> Execution {
    // For this thread, on which a test's runtime runs all tasks.
    let _guard = with_layer();
    let item = run_item(&work(definition, agent), 0, |_| Account::default(), |_| {}).await.unwrap();
    item.runs.into_iter().next().unwrap()
}

fn with_evaluator(evaluator: impl Evaluator + 'static) -> ResolvedDefinition {
    ResolvedDefinition { evaluators: vec![Arc::new(evaluator)], ..definition(1) }
}

#[tokio::test]
async fn usage_cost_and_tool_calls_come_from_spans() {
    let evaluator = ToolCalls::called("searches", "search");
    let trial = run(with_evaluator(evaluator), async |_: Context| {
        ask(1_000_000);
        "Paris"
    })
    .await;
    assert_eq!(trial.evaluations.get("searches").unwrap().score, Some(1.0), "{trial:?}");
    assert_eq!(trial.metadata()["tokens"], json!({ "input": 1_000_000, "output": 0 }));
    assert_eq!(trial.cost(&PriceTable::default()), Some(2.5));
    let costs: Vec<_> = trial.trace.model_calls().map(|(_, model)| model.cost).collect();
    assert_eq!(costs, [Some(2.5)]);
}

#[tokio::test]
async fn what_the_agent_reports_itself_wins_over_its_spans() {
    let trial = run(definition(0), async |context: Context| {
        ask(5);
        context.record(cobalt_core::item::ModelCall::new("ours").tokens(7, 1));
        "Paris"
    })
    .await;
    assert_eq!(
        trial.metadata()["usage"],
        json!([{ "model": "ours", "calls": 1, "tokens": { "input": 7, "output": 1 } }])
    );
    let trial = run(definition(0), async |_: Context| {
        ask(5);
        Output::new("Paris").tokens(9, 9)
    })
    .await;
    assert_eq!(trial.metadata()["tokens"], json!({ "input": 9, "output": 9 }));
}

#[tokio::test]
async fn attempts_that_failed_keep_their_usage_and_the_trace_is_that_of_the_last() {
    let calls = AtomicUsize::new(0);
    let trial = run(definition(1), move |_: Context| {
        let call = calls.fetch_add(1, Ordering::SeqCst) as u64;
        async move {
            ask(10 + call);
            if call == 0 { Err(AgentError::transient("busy")) } else { Ok("Paris") }
        }
    })
    .await;
    assert_eq!(trial.token_count().unwrap().total, 21);
    assert_eq!(trial.retried[0].metadata["tokens"], json!({ "input": 10, "output": 0 }));
    assert_eq!(trial.trace.model_calls().count(), 1);
}

#[tokio::test]
async fn an_agent_that_fails_or_hangs_has_the_trace_and_the_usage_until_then() {
    let trial = run(definition(0), async |_: Context| {
        ask(5);
        Err::<String, _>(AgentError::new("no"))
    })
    .await;
    assert_eq!((trial.status, trial.token_count().unwrap().total), (Status::Error, 5));
    let short = ResolvedDefinition { timeout: Duration::from_millis(50), ..definition(0) };
    let trial = run(short, async |_: Context| {
        ask(5);
        std::future::pending::<()>().instrument(info_span!("waits")).await;
        "never"
    })
    .await;
    assert_eq!((trial.status, trial.token_count().unwrap().total), (Status::Timeout, 5));
    let last = trial.trace.spans().last().unwrap();
    assert_eq!((&*last.name, last.status), ("waits", SpanStatus::Open));
}

#[tokio::test]
async fn a_wrapped_tool_is_below_the_open_span_and_there_once_if_the_agents_crate_reports_it() {
    let faults = Arc::new("search#2: empty".into());
    let trial = run(ResolvedDefinition { faults, ..definition(0) }, async |context: Context| {
        let search = &context.tool("search", |_: Value| vec![1]);
        search.call(json!({ "q": "a" })).instrument(info_span!("plan")).await?;
        let reported = info_span!("execute_tool", gen_ai.tool.name = "search", gen_ai.tool.call.id = "c");
        search.call(json!({ "q": "b" })).instrument(reported).await?;
        Ok::<_, ToolError>("Paris")
    })
    .await;
    let spans = trial.trace.spans();
    assert_eq!(spans.iter().map(|span| &*span.name).collect::<Vec<_>>(), ["plan", "search", "execute_tool"]);
    assert_eq!(spans[1].parent.as_deref(), Some("1"));
    let merged = spans[2].tool.as_ref().unwrap();
    assert_eq!((merged.call_id.as_deref(), &merged.result), (Some("c"), &Some(json!([]))));
    assert_eq!(spans[2].attributes["fault"], "empty");
}
