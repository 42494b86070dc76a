//! Runs the items of experiments, the agent first and then the evaluators. Knows nothing of terminals or files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use cobalt_core::item::{Item, Output};
use cobalt_core::redact::redacted_item;
use cobalt_core::report::{Evaluations, Execution, ItemResult, ScoredEvaluation, Status};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::dataset::Dataset;
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::{AgentFn, Context, Definition, Recorded};
use crate::llm::{Asking, Models};
use crate::threads::{self, AbortOnDrop, catch_panic, join_all};

/// How long evaluators may take to let go of what they hold, all together.
const FINISHING: Duration = Duration::from_secs(10);

/// An experiment's work: which items to run, and all that it takes.
pub struct Work {
    /// The number under which events speak of the experiment.
    pub(crate) experiment: usize,
    pub(crate) definition: Arc<Definition>,
    /// The evaluators' names, shared by all results.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) agent: AgentFn,
    pub(crate) dataset: Dataset,
    /// What evaluators may ask.
    pub(crate) models: Arc<Models>,
    /// The items' keys, by index.
    pub(crate) keys: Arc<[Arc<str>]>,
    /// The indexes of the items to run, in the order in which they are started.
    pub(crate) items: Vec<usize>,
    /// As many permits as items may be worked on at a time. An item takes one; whoever keeps the results gives it back
    /// when the item is safe, so that never more than that many can be lost, and closes them where items cannot be kept.
    pub(crate) slots: Arc<Semaphore>,
}

/// What happens in a run. The events of all experiments go through one channel, which puts them in one order.
#[derive(Debug)]
pub enum Event {
    /// An agent's output was evaluated, or the agent failed: in this run of the item with this index.
    ExecutionFinished { experiment: usize, index: usize, run: usize },
    /// All runs of an item are done.
    ItemFinished { experiment: usize, item: ItemResult },
    /// All items of an experiment are done, or no more of them will be.
    ExperimentFinished { experiment: usize },
    /// The experiments that are not finished will not be.
    Interrupted,
}

impl Event {
    /// The experiment that it is about; none where it is about all.
    pub fn experiment(&self) -> Option<usize> {
        match self {
            Self::ExecutionFinished { experiment, .. }
            | Self::ItemFinished { experiment, .. }
            | Self::ExperimentFinished { experiment } => Some(*experiment),
            Self::Interrupted => None,
        }
    }
}

/// Runs the items, `concurrency` of them at a time. Dropping the future cancels what is going on.
pub async fn run(work: Work, events: Sender<Event>) {
    // Told however this ends, so that nobody waits for items that will not come.
    let _told_at_the_end = TellsAtTheEnd { experiment: work.experiment, events: events.clone() };
    let work = Arc::new(work);
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..work.definition.concurrency.min(work.items.len()) {
        workers.spawn(run_items(Arc::clone(&work), Arc::clone(&next), events.clone()));
    }
    while let Some(ended) = workers.join_next().await {
        // Agents and evaluators are guarded one by one: a panic here is a fault of this library, not to be hidden.
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    finish(work.definition.evaluators.clone()).await;
}

/// Lets the evaluators go of what they hold, each on a thread where it may block. One that hangs is left behind.
async fn finish(evaluators: Vec<Arc<dyn Evaluator>>) {
    let finishing = evaluators.into_iter().map(|evaluator| -> Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(threads::run(move || evaluator.finish()))
    });
    // What was scored stays so, whatever comes of this.
    let _ = timeout(FINISHING, join_all(finishing.collect())).await;
}

struct TellsAtTheEnd {
    experiment: usize,
    events: Sender<Event>,
}

impl Drop for TellsAtTheEnd {
    fn drop(&mut self) {
        send(&self.events, Event::ExperimentFinished { experiment: self.experiment });
    }
}

/// Takes the next item, as soon as there is a slot for it, until there is none or the slots are closed.
async fn run_items(work: Arc<Work>, next: Arc<AtomicUsize>, events: Sender<Event>) {
    while let Ok(slot) = work.slots.acquire().await
        && let Some(&index) = work.items.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let item = run_item(&work, index, |run| {
            send(&events, Event::ExecutionFinished { experiment: work.experiment, index, run });
        });
        let item = item.await;
        slot.forget();
        send(&events, Event::ItemFinished { experiment: work.experiment, item });
    }
}

/// Nobody listens any more only when the run was given up.
fn send(events: &Sender<Event>, event: Event) {
    let _ = events.send(event);
}

/// Runs an item, one run after another, and calls `executed` with its number after each.
pub async fn run_item(work: &Work, index: usize, executed: impl Fn(usize)) -> ItemResult {
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
    let passed = runs.iter().all(|run_item| passes(work, run_item));
    let input = redacted_item(work.dataset.shared(index));
    ItemResult { index, key: key.to_string(), input, passed, runs }
}

/// Whether a trial has no error and reaches every pass mark.
fn passes(work: &Work, run_item: &Execution) -> bool {
    let reaches_mark = |evaluator: &Arc<dyn Evaluator>| {
        let score = run_item.evaluations.get(evaluator.name()).and_then(|evaluation| evaluation.score);
        score.is_some_and(|score| score >= evaluator.pass_mark())
    };
    !run_item.is_in_error() && work.definition.evaluators.iter().all(reaches_mark)
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
        Ok(mut output) => {
            recorded.add_to(output.metadata_mut());
            let output = Arc::new(output);
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
    let answer = async move { catch_panic(agent(context)).await.map_err(|panic| threads::describe(&*panic)) };
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
        Ok(Err(panic)) => without_score(threads::describe(&*panic)),
        Err(limit) => without_score(ran_out(limit)),
    };
    ScoredEvaluation { judge: asking.usage().map(Box::new), ..scored }
}

fn without_score(error: String) -> ScoredEvaluation {
    ScoredEvaluation { error: Some(error), ..ScoredEvaluation::default() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use cobalt_core::item::ModelCall;
    use serde_json::json;

    use super::*;
    use crate::evaluators::{EvalContext, EvalError, Evaluation};
    use crate::experiment::Recorder;

    #[derive(Debug)]
    struct Panics;

    impl Evaluator for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            Box::pin(async { Err(EvalError::new("never asked")) })
        }

        fn finish(&self) {
            panic!("as a test wants it");
        }
    }

    #[derive(Debug, Default)]
    struct Notes(AtomicBool);

    impl Evaluator for Notes {
        fn name(&self) -> &'static str {
            "notes"
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            Box::pin(async { Err(EvalError::new("never asked")) })
        }

        fn finish(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn an_evaluator_that_panics_at_the_end_keeps_no_other_from_finishing() {
        let notes = Arc::new(Notes::default());
        finish(vec![Arc::new(Panics), Arc::clone(&notes) as Arc<dyn Evaluator>]).await;
        assert!(notes.0.load(Ordering::SeqCst));
    }

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
