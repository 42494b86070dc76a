//! The path of one item: the agent, then the evaluators, as often as the experiment has runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Work;
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::{Context, Recorded};
use crate::future::{AbortOnDrop, catch_panic, join_all};
use crate::item::Item;
use crate::item::Output;
use crate::llm::Asking;
use crate::panics;
use crate::redact::redacted_item;
use crate::report::{Evaluations, Execution, ItemResult, ScoredEvaluation, Status};

/// Runs an item, one run after another, and calls `executed` with its number after each.
pub(super) async fn run(work: &Work, index: usize, executed: impl Fn(usize)) -> ItemResult {
    let key = &work.keys[index];
    let mut runs = Vec::with_capacity(work.definition.runs);
    for run_index in 0..work.definition.runs {
        let context = Context::new(work.dataset.clone(), index, Arc::clone(key), run_index);
        let mut execution = execute(work, context).await;
        // Agents and evaluators have seen everything; what is kept and shown of it holds no keys.
        execution.redact();
        runs.push(execution);
        executed(run_index);
    }
    let passed = runs.iter().all(|run| passes(work, run));
    let input = redacted_item(work.dataset.shared(index));
    ItemResult { index, key: key.to_string(), input, passed, runs }
}

/// Whether a trial has no error and reaches every pass mark.
fn passes(work: &Work, run: &Execution) -> bool {
    let reaches_mark = |evaluator: &Arc<dyn Evaluator>| {
        let score = run.evaluations.get(evaluator.name()).and_then(|evaluation| evaluation.score);
        score.is_some_and(|score| score >= evaluator.pass_mark())
    };
    !run.is_in_error() && work.definition.evaluators.iter().all(reaches_mark)
}

/// Why an agent gave no output.
struct Failure {
    status: Status,
    error: String,
    /// What the output that was refused reports.
    reported: Item,
}

impl Failure {
    fn error(error: String) -> Self {
        Self { status: Status::Error, error, reported: Item::new() }
    }
}

async fn execute(work: &Work, context: Context) -> Execution {
    let (answer, took) = call_agent(work, context.clone()).await;
    let latency_ms = milliseconds(took);
    // From here on, nothing that the agent left behind can add to this execution or to the next.
    let mut recorded = context.recorder().close();
    match answer.and_then(|output| accepted(output, &mut recorded)) {
        Ok(output) => {
            let output = Arc::new(output.with_recorded(recorded));
            let (item, key) = (Arc::clone(context.shared_item()), Arc::clone(context.shared_key()));
            let cx = EvalContext::of(item, key, context.index(), context.run_index(), Arc::clone(&output));
            let evaluations = evaluate(work, &cx).await;
            let output = Some(Arc::unwrap_or_clone(output));
            Execution { output, latency_ms, evaluations, ..Execution::default() }
        }
        Err(Failure { status, error, mut reported }) => {
            recorded.add_to(&mut reported);
            Execution { status, latency_ms, error: Some(error), recorded: reported, ..Execution::default() }
        }
    }
}

/// The output, unless what it or the agent reported cannot be used.
fn accepted(mut output: Output, recorded: &mut Recorded) -> Result<Output, Failure> {
    match output.problem().or_else(|| recorded.problem()) {
        None => Ok(output),
        Some(error) => Err(Failure { reported: output.into_metadata(), ..Failure::error(error) }),
    }
}

/// To the microsecond: more digits would only lengthen the files.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// Calls the agent in a task of its own, so that a panic, or a call that blocks, is its own.
async fn call_agent(work: &Work, context: Context) -> (Result<Output, Failure>, Duration) {
    let limit = work.definition.timeout;
    let agent = Arc::clone(&work.agent);
    let called = Instant::now();
    // Caught in the task, on whose thread the panic's place is known.
    let answer = async move { catch_panic(agent(context)).await.map_err(|panic| panics::describe(&*panic)) };
    let mut task = AbortOnDrop::new(tokio::spawn(answer));
    let failed = |error: String| Err(Failure::error(error));
    match timeout(limit, task.join()).await {
        Ok(Ok(Ok((Ok(output), took)))) => (output.checked().or_else(|error| failed(error.to_string())), took),
        Ok(Ok(Ok((Err(error), took)))) => (failed(error.to_string()), took),
        Ok(Ok(Err(panic))) => (failed(panic), called.elapsed()),
        Ok(Err(join)) => (failed(format!("the agent's task ended early: {join}")), called.elapsed()),
        Err(_) => {
            let failure = Failure { status: Status::Timeout, ..Failure::error(ran_out(limit)) };
            (Err(failure), called.elapsed())
        }
    }
}

fn ran_out(limit: Duration) -> String {
    format!("timed out after {}", humantime::format_duration(limit))
}

/// Asks all evaluators side by side.
async fn evaluate(work: &Work, cx: &EvalContext) -> Evaluations {
    let scores = match &work.definition.evaluators[..] {
        [evaluator] => vec![score(work, &**evaluator, cx).await],
        evaluators => {
            let scores =
                evaluators.iter().map(|evaluator| -> std::pin::Pin<Box<dyn Future<Output = _> + Send>> {
                    Box::pin(score(work, &**evaluator, cx))
                });
            join_all(scores.collect()).await
        }
    };
    work.names.iter().cloned().zip(scores).collect()
}

async fn score(work: &Work, evaluator: &dyn Evaluator, cx: &EvalContext) -> ScoredEvaluation {
    let asking = Asking::new(Arc::clone(&work.models));
    let cx = cx.asking(asking.clone()).within(work.definition.timeout);
    // The call itself may panic before there is a future to wait for.
    let mut evaluation = Box::pin(async { evaluator.evaluate(&cx).await });
    let outcome = match evaluator.time_limit(work.definition.timeout) {
        Some(limit) => timeout(limit, catch_panic(&mut evaluation)).await.map_err(|_| limit),
        None => Ok(catch_panic(&mut evaluation).await),
    };
    // So may what it holds, when it is cancelled; the outcome stays what it is.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(evaluation)));
    let scored = match outcome {
        Ok(Ok(Ok(score))) => score.into_evaluation(),
        Ok(Ok(Err(error))) => without_score(error.to_string()),
        Ok(Err(panic)) => without_score(panics::describe(&*panic)),
        Err(limit) => without_score(ran_out(limit)),
    };
    ScoredEvaluation { judge: asking.usage().map(Box::new), ..scored }
}

fn without_score(error: String) -> ScoredEvaluation {
    ScoredEvaluation { error: Some(error), ..ScoredEvaluation::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiment::Recorder;
    use crate::item::ModelCall;

    #[test]
    fn an_output_that_is_refused_leaves_what_it_reports() {
        let refused_record = ModelCall::new("a").cost(f64::NAN);
        let output = || Output::new("").model("gpt-4o-mini").tokens(20, 3);
        for (output, record) in
            [(output(), Some(refused_record)), (output().cost(f64::NAN), None), (output().cost(-1.0), None)]
        {
            let recorder = Recorder::new();
            record.into_iter().for_each(|call| recorder.record(call.into()));
            let failure = accepted(output, &mut recorder.close()).unwrap_err();
            assert!(failure.error.starts_with("the agent reports a cost of "), "{}", failure.error);
            let expected = json!({ "model": "gpt-4o-mini", "tokens": { "input": 20, "output": 3 } });
            assert_eq!(json!(failure.reported), expected);
        }
    }
}
