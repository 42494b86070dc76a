//! Calls of wrapped tools are in the trace, and fault plans let them fail in the same way each time.

use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt_core::report::InjectedFault;
use cobalt_core::trace::SpanStatus;
use serde_json::{Value, json};

use super::retry_tests::{definition, work};
use super::*;
use crate::ToolCalls;
use crate::experiment::AgentError;
use crate::tools::{Faults, ToolError};

fn with_faults(plan: impl Into<Faults>) -> ResolvedDefinition {
    ResolvedDefinition { faults: Arc::new(plan.into()), ..definition(1) }
}

async fn run<M>(definition: ResolvedDefinition, agent: impl crate::Agent<M>) -> Execution {
    let item = run_item(&work(definition, agent), 0, |_| Account::default(), |_| {}).await.unwrap();
    item.runs.into_iter().next().unwrap()
}

/// Calls a tool three times; its results are `[1]`, `[2]` and so on.
async fn three_calls(context: Context) -> String {
    let calls = AtomicUsize::new(0);
    let search = context.tool("search", |_: Value| vec![calls.fetch_add(1, Ordering::SeqCst) + 1]);
    let mut outcomes = Vec::new();
    for query in ["a", "b", "c"] {
        outcomes.push(match search.call(json!({ "q": query })).await {
            Ok(result) => result.to_string(),
            Err(error) => format!("{error}{}", if error.is_injected() { "!" } else { "" }),
        });
    }
    outcomes.join(" | ")
}

fn shown(faults: &[InjectedFault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn calls_are_spans_with_their_arguments_results_and_errors() {
    let evaluator = ToolCalls::called("searches", "search");
    let definition = ResolvedDefinition { evaluators: vec![Arc::new(evaluator)], ..definition(0) };
    let trial = run(definition, async |context: Context| {
        let search = context.tool("search", |query: Value| match query["q"].as_str() {
            Some("tea") => Ok(vec!["Assam"]),
            _ => Err("no index"),
        });
        search.call(json!({ "q": "tea" })).await?;
        let error = search.call(json!({ "q": "milk" })).await.unwrap_err();
        assert!(!error.is_injected());
        Ok::<_, ToolError>("Paris")
    });
    let trial = trial.await;
    assert_eq!(trial.evaluations.get("searches").unwrap().score, Some(1.0), "{trial:?}");
    let calls: Vec<_> = trial.trace.tool_calls().collect();
    let [(ok, found), (failed, none)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((ok.name.as_str(), ok.status), ("search", SpanStatus::Ok));
    assert_eq!(found.arguments, Some(json!({ "q": "tea" })));
    assert_eq!(found.result, Some(json!(["Assam"])));
    assert_eq!((failed.status, none.error.as_deref()), (SpanStatus::Error, Some("no index")));
    assert!(trial.faults.is_empty());
}

#[tokio::test]
async fn each_fault_changes_the_call_in_its_way_and_is_stored() {
    for (plan, expected, faults) in [
        ("none", "[1] | [2] | [3]", &[][..]),
        ("search#2: timeout", "[1] | the tool `search` timed out! | [2]", &["search#2: timeout"]),
        ("search#1: error", "internal error! | [1] | [2]", &["search#1: error"]),
        (
            r#"s*: error "no""#,
            "no! | no! | no!",
            &["search#1: error \"no\"", "search#2: error \"no\"", "search#3: error \"no\""],
        ),
        ("search#2: empty", "[1] | [] | [3]", &["search#2: empty"]),
        ("search: stale", "[1] | [1] | [1]", &["search#2: stale", "search#3: stale"]),
        ("search#3: malformed", "[1] | [2] | \"[\"", &["search#3: malformed"]),
        ("search#1: slow 20ms", "[1] | [2] | [3]", &["search#1: slow 20ms"]),
        ("other: timeout", "[1] | [2] | [3]", &[]),
    ] {
        let trial = run(with_faults(plan), three_calls).await;
        assert_eq!(trial.output.as_ref().unwrap().text(), expected, "{plan}");
        assert_eq!(shown(&trial.faults), faults, "{plan}");
        let spans = trial.trace.spans().iter().filter_map(|span| span.attributes.get("fault"));
        assert_eq!(spans.count(), faults.len(), "{plan}");
        assert!(trial.latency_ms >= if plan.contains("slow") { 20.0 } else { 0.0 });
    }
}

#[tokio::test]
async fn faults_of_a_retried_attempt_start_again() {
    let attempts = AtomicUsize::new(0);
    let trial = run(with_faults("search#1: timeout"), move |context: Context| {
        let attempt = attempts.fetch_add(1, Ordering::SeqCst);
        async move {
            let search = context.tool("search", |_: Value| "found");
            let failed = search.call(json!({})).await.unwrap_err();
            if attempt == 0 { Err(AgentError::transient(failed)) } else { Ok("Paris") }
        }
    });
    let trial = trial.await;
    assert_eq!((trial.retried.len(), shown(&trial.faults)), (1, vec!["search#1: timeout".to_owned()]));
}

#[tokio::test]
async fn a_failing_agent_and_one_that_is_stopped_keep_their_faults() {
    let trial = run(with_faults("search: timeout"), async |context: Context| {
        context.tool("search", |_: Value| "found").call(json!({})).await
    });
    let trial = trial.await;
    assert_eq!(trial.error.as_deref(), Some("the tool `search` timed out"));
    assert_eq!(shown(&trial.faults), ["search#1: timeout"]);
    let short = ResolvedDefinition { timeout: Duration::from_millis(50), ..with_faults("search: slow 9s") };
    let trial = run(short, three_calls).await;
    assert_eq!((trial.status, shown(&trial.faults)), (Status::Timeout, vec!["search#1: slow 9s".to_owned()]));
    assert_eq!(trial.trace.spans()[0].status, SpanStatus::Open);
}

#[tokio::test]
async fn a_rate_hits_the_same_calls_whatever_other_tools_do() {
    async fn calls(context: Context, others: usize) -> String {
        let search = context.tool("search", |_: Value| "found");
        let other = context.tool("other", |_: Value| "found");
        let mut hits = String::new();
        for _ in 0..40 {
            for _ in 0..others {
                let _ = other.call(json!({})).await;
            }
            hits.push(if search.call(json!({})).await.is_err() { 'x' } else { '.' });
        }
        hits
    }
    let hits = async |seed, others| {
        let plan = Faults::from("*: timeout at 25%").seed(seed);
        let trial = run(with_faults(plan), move |context: Context| calls(context, others)).await;
        trial.output.unwrap().text().into_owned()
    };
    let first = hits(7, 0).await;
    assert_eq!(first, hits(7, 3).await);
    assert_ne!(first, hits(8, 0).await);
    assert!((4..=16).contains(&first.matches('x').count()), "{first}");
}
