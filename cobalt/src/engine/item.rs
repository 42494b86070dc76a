//! The path of one item: the agent, then the evaluators, as often as the experiment has runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Work;
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::{Context, Output};
use crate::future::{AbortOnDrop, catch_panic, join_all};
use crate::llm::Asking;
use crate::panics;
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
    ItemResult { index, key: key.to_string(), input: Arc::clone(work.dataset.shared(index)), passed, runs }
}

/// Whether a run has no error and, where the experiment is strict, no low score.
fn passes(work: &Work, run: &Execution) -> bool {
    let reaches_mark = |evaluator: &Arc<dyn Evaluator>| {
        let score = run.evaluations.get(evaluator.name()).and_then(|evaluation| evaluation.score);
        score.is_some_and(|score| score >= evaluator.pass_mark())
    };
    !run.is_in_error() && (!work.definition.strict || work.definition.evaluators.iter().all(reaches_mark))
}

/// Why an agent gave no output.
struct Failure {
    status: Status,
    error: String,
}

async fn execute(work: &Work, context: Context) -> Execution {
    let (answer, took) = call_agent(work, context.clone()).await;
    let latency_ms = milliseconds(took);
    match answer {
        Ok(output) => {
            let output = Arc::new(output);
            let evaluations = evaluate(work, &EvalContext::of(&context, Arc::clone(&output))).await;
            let output = Some(Arc::unwrap_or_clone(output));
            Execution { status: Status::Ok, output, latency_ms, evaluations, error: None }
        }
        Err(Failure { status, error }) => {
            Execution { status, latency_ms, error: Some(error), ..Execution::default() }
        }
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
    let failed = |error: String| Err(Failure { status: Status::Error, error });
    match timeout(limit, task.join()).await {
        Ok(Ok(Ok((Ok(output), took)))) => (output.checked().or_else(|error| failed(error.to_string())), took),
        Ok(Ok(Ok((Err(error), took)))) => (failed(error.to_string()), took),
        Ok(Ok(Err(panic))) => (failed(panic), called.elapsed()),
        Ok(Err(join)) => (failed(format!("the agent's task ended early: {join}")), called.elapsed()),
        Err(_) => (Err(Failure { status: Status::Timeout, error: ran_out(limit) }), called.elapsed()),
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
    ScoredEvaluation { judge: asking.usage(), ..scored }
}

fn without_score(error: String) -> ScoredEvaluation {
    ScoredEvaluation { error: Some(error), ..ScoredEvaluation::default() }
}
