//! Runs the items of experiments: first the agent, then the evaluators. Independent of terminals and files.

#[cfg(all(test, feature = "judge"))]
mod conversation_tests;
#[cfg(test)]
pub mod retry_tests;
#[cfg(test)]
mod tool_tests;
#[cfg(all(test, feature = "tracing"))]
mod trace_tests;
mod workspaces;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::back_off::BackOff;
use cobalt_core::duration::milliseconds;
use cobalt_core::item::{ExecutionUsage, Item, ItemKeys, Output};
use cobalt_core::prices::{PriceTable, Tokens};
use cobalt_core::redact::redacted_item;
use cobalt_core::report::{
    Direction, Evaluations, Execution, ItemResult, MetricValue, Metrics, RetriedExecution, ScoredEvaluation,
    Status, Transcript, USER_MISTAKES,
};
use cobalt_core::store::{Payer, Payment};
use cobalt_core::trace::ContentLimits;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::budget::{self, Account, Charge};
use crate::dataset::{Dataset, DatasetError};
use crate::error::Error;
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::{AgentFn, Context, ConversationRun, Records, ResolvedDefinition};
use crate::llm::{LlmHandle, Models};
use crate::log;
use crate::recording::{
    Admission, AgentTraffic, ExecutionTraffic, RecordingFailure, RunTraffic, Wait, within,
};
use crate::rescore::Rescoring;
use crate::thread_pool::{self, AbortOnDrop, catch_panic, join_all};
use crate::trace::{ExecutionTrace, outside_of_traces};
use crate::wait_timeout::timeout_without_waits;
use crate::workspace::ExecutionWorkspace;
pub use workspaces::Workspaces;

/// How long all evaluators together may take to release resources.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);
/// How many of the next items are looked at for one that need not wait.
const MAX_LOOKAHEAD: usize = 64;

/// An experiment's work: the items to run, and everything needed to run them.
pub struct Work {
    /// The experiment's number in events.
    pub(crate) experiment: usize,
    pub(crate) definition: Arc<ResolvedDefinition>,
    /// The evaluators' names, shared by all results.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) agent: AgentFn,
    pub(crate) dataset: Dataset,
    /// The models that evaluators may call.
    pub(crate) models: Arc<Models>,
    /// The items' keys, by index.
    pub(crate) keys: Arc<ItemKeys>,
    /// The indexes of the items to run, in start order.
    pub(crate) items: Vec<usize>,
    /// The prices for what the agent reports.
    pub(crate) prices: PriceTable,
    /// The model traffic, if it passes through the gateway.
    pub(crate) traffic: Option<Arc<RunTraffic>>,
    /// How much of the contents of traces is kept.
    pub(crate) trace_limits: ContentLimits,
    /// The stored outputs that are scored instead of calling the agent.
    pub(crate) rescoring: Option<Arc<Rescoring>>,
    /// The waits before retries of a trial.
    pub(crate) back_off: BackOff,
    /// One permit per item that may run in parallel. An item takes one; the recorder returns it when the item is saved, which bounds
    /// how many results can be lost. The recorder closes the semaphore if items cannot be saved or read.
    pub(crate) slots: Arc<Semaphore>,
    /// The files that the agent works on.
    pub(crate) workspaces: Option<Workspaces>,
}

/// An event of a run. The events of all experiments go through one channel, which defines their order.
#[derive(Debug)]
pub enum Event {
    /// A trial is done: the agent's output was evaluated, or the agent failed.
    TrialFinished { experiment: usize, index: usize, run: usize },
    /// Something was paid for a trial.
    Paid { experiment: usize, payment: Payment },
    /// All trials of an item are done.
    ItemFinished { experiment: usize, item: ItemResult },
    /// An item can no longer be read, or not be recorded: the experiment must be stopped.
    Failed { experiment: usize, error: Error },
    /// All items of an experiment are done, or no more will be.
    ExperimentFinished { experiment: usize },
    /// The result of a large run was evaluated and written, or could not be.
    ResultWritten { experiment: usize },
    /// Unfinished experiments were interrupted.
    Interrupted,
}

impl Event {
    /// The experiment that it concerns; `None` if it concerns all.
    pub fn experiment(&self) -> Option<usize> {
        match self {
            Self::TrialFinished { experiment, .. }
            | Self::Paid { experiment, .. }
            | Self::ItemFinished { experiment, .. }
            | Self::Failed { experiment, .. }
            | Self::ExperimentFinished { experiment }
            | Self::ResultWritten { experiment } => Some(*experiment),
            Self::Interrupted => None,
        }
    }
}

/// Runs the items, up to `concurrency` in parallel. Dropping the future cancels running items.
pub async fn run(work: Work, events: Sender<Event>) {
    // Sent however this ends, so that nothing waits for items that will not come.
    let _sent_at_the_end = FinishedOnDrop { experiment: work.experiment, events: events.clone() };
    let work = Arc::new(work);
    let queue: Arc<Queue> = Arc::new(Mutex::new(work.items.iter().copied().collect()));
    let mut workers = JoinSet::new();
    let parallel = work.definition.concurrency.min(work.items.len());
    log::debug!(
        experiment = work.definition.name,
        items = work.items.len(),
        concurrency = parallel,
        "starts the experiment"
    );
    for _ in 0..parallel {
        workers.spawn(run_items(Arc::clone(&work), Arc::clone(&queue), events.clone()));
    }
    while let Some(ended) = workers.join_next().await {
        // Panics of agents and evaluators are caught elsewhere: a panic here is a bug in this library and must not be hidden.
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    finish_evaluators(work.definition.evaluators.clone()).await;
}

/// Lets the evaluators release resources, each on a thread where it may block. One that hangs is abandoned.
async fn finish_evaluators(evaluators: Vec<Arc<dyn Evaluator>>) {
    let finishing = evaluators.into_iter().map(|evaluator| -> Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(thread_pool::run(move || evaluator.finish()))
    });
    // The scores stay valid, whatever happens here.
    let _ = timeout(FINISH_TIMEOUT, join_all(finishing.collect())).await;
}

struct FinishedOnDrop {
    experiment: usize,
    events: Sender<Event>,
}

impl Drop for FinishedOnDrop {
    fn drop(&mut self) {
        send(&self.events, Event::ExperimentFinished { experiment: self.experiment });
    }
}

/// The items that are not started yet, in order.
type Queue = Mutex<VecDeque<usize>>;

/// Runs the next item whenever a slot is free, until there are no more items, the slots are closed, or the rest of the budget
/// cannot pay for an item.
async fn run_items(work: Arc<Work>, queue: Arc<Queue>, events: Sender<Event>) {
    while run_next_item(&work, &queue, &events).await.is_continue() {}
}

async fn run_next_item(work: &Work, queue: &Queue, events: &Sender<Event>) -> ControlFlow<()> {
    let experiment = work.experiment;
    if let Ok(slot) = work.slots.acquire().await
        && let Some((index, _admission)) = take_next(work, queue).await
        && let Some(item_budget) = budget::start_item(experiment, is_replayed(work, index)).await
    {
        log::debug!(
            experiment = work.definition.name,
            item = work.keys[index],
            replayed = is_replayed(work, index),
            scored_again = work.rescoring.is_some(),
            "starts the item"
        );
        let account = |run| {
            let events = events.clone();
            item_budget.account(move |by, usd| {
                let payment = Payment { index, run, by, usd };
                send(&events, Event::Paid { experiment, payment });
            })
        };
        let item = run_item(work, index, account, |run| {
            send(events, Event::TrialFinished { experiment, index, run });
        });
        let error = match item.await {
            Ok(item) => {
                log::debug!(
                    experiment = work.definition.name,
                    item = item.key,
                    passed = item.passed,
                    in_error = item.is_in_error(),
                    trials = item.runs.len(),
                    "finished the item"
                );
                item_budget.finish(item_cost(work, &item), item.is_in_error());
                slot.forget();
                send(events, Event::ItemFinished { experiment, item });
                return ControlFlow::Continue(());
            }
            Err(Unfinished::BudgetUsedUp) => {
                log::warn!(
                    experiment = work.definition.name,
                    item = work.keys[index],
                    "stopped the item; the budget is used up"
                );
                return ControlFlow::Break(());
            }
            Err(Unfinished::Unreadable(error)) => error.into(),
            Err(Unfinished::Unrecorded(error)) => error.into(),
        };
        send(events, Event::Failed { experiment, error });
    }
    ControlFlow::Break(())
}

/// Takes the next item that need not wait for others whose requests could be confused with its own.
async fn take_next(work: &Work, queue: &Queue) -> Option<(usize, Option<Admission>)> {
    loop {
        let traffic = work.traffic.as_ref().filter(|_| work.rescoring.is_none());
        let change = traffic.map(|traffic| traffic.admission_change());
        let has_failed = traffic.is_some_and(|traffic| traffic.failure().is_some());
        if work.slots.is_closed() || budget::refusal().is_some() || has_failed {
            return None;
        }
        match take_admitted(work, queue, traffic.map(Arc::as_ref)) {
            Err(wait) => {
                log::debug!(
                    experiment = work.definition.name,
                    reason = format_args!("{wait:?}"),
                    "waits to start an item whose requests could be confused with others"
                );
                change?.after(wait).await;
            }
            Ok(next) => return next,
        }
    }
}

/// The first item that may run now, or none if there are no more; an error if all must wait, for the shortest time.
fn take_admitted(
    work: &Work,
    queue: &Queue,
    traffic: Option<&RunTraffic>,
) -> Result<Option<(usize, Option<Admission>)>, Wait> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut waits = Vec::new();
    for place in 0..queue.len().min(MAX_LOOKAHEAD) {
        // An item that cannot be read ends the run when it is started.
        let item = traffic.and_then(|traffic| Some((traffic, work.dataset.read(queue[place]).ok()?)));
        match item.map(|(traffic, item)| traffic.admit(&item)).transpose() {
            Ok(admission) => return Ok(queue.remove(place).map(|index| (index, admission))),
            Err(wait) => waits.push(wait),
        }
    }
    let Some(wait) = waits.iter().copied().min() else { return Ok(None) };
    if let Some(traffic) = traffic.filter(|_| waits.contains(&Wait::ForItem)) {
        traffic.say_that_items_wait();
    }
    Err(wait)
}

/// Whether an item is answered from its recordings. Judges that score it again may ask something else than before.
fn is_replayed(work: &Work, index: usize) -> bool {
    work.rescoring.is_none() && work.traffic.as_ref().is_some_and(|traffic| traffic.replays(index))
}

/// What an item cost or would have cost, in USD, as far as it is known; 0 for a stored output, whose judges pay as they are asked.
fn item_cost(work: &Work, item: &ItemResult) -> f64 {
    if work.rescoring.is_some() {
        return 0.0;
    }
    let trial = |execution: &Execution| {
        let judges = execution.evaluations.iter().filter_map(|(_, evaluation)| evaluation.judge.as_ref());
        let user = execution.transcript.as_ref().and_then(|transcript| transcript.user.as_ref());
        let models: f64 = judges.map(|usage| usage.cost).chain(user.map(|usage| usage.cost)).sum();
        models + execution.cost(&work.prices).unwrap_or(0.0)
    };
    item.runs.iter().map(trial).sum()
}

/// The receiver is gone only if the run was abandoned.
fn send(events: &Sender<Event>, event: Event) {
    let _ = events.send(event);
}

/// Why an item has no result. A resumed run runs it again.
#[derive(Debug)]
pub enum Unfinished {
    /// The budget was used up before all of its trials were done.
    BudgetUsedUp,
    /// The file of its dataset can no longer be read, or was changed.
    Unreadable(DatasetError),
    /// It cannot be recorded, and neither can others.
    Unrecorded(RecordingFailure),
}

/// Runs the trials of an item one after another, and calls `executed` with the trial's number after each. `account` gives the account of a
/// trial.
pub async fn run_item(
    work: &Work,
    index: usize,
    account: impl Fn(usize) -> Account,
    executed: impl Fn(usize),
) -> Result<ItemResult, Unfinished> {
    let item = run_trials(work, index, account, executed).await;
    if let Some(traffic) = &work.traffic {
        traffic.close(index);
    }
    item
}

async fn run_trials(
    work: &Work,
    index: usize,
    account: impl Fn(usize) -> Account,
    executed: impl Fn(usize),
) -> Result<ItemResult, Unfinished> {
    let key = work.keys[index].to_owned();
    let item = work.dataset.read(index).map_err(Unfinished::Unreadable)?;
    let trials = work.rescoring.as_ref().map_or(work.definition.runs, |stored| stored.trials(index).len());
    let mut runs = Vec::with_capacity(trials);
    for run_index in 0..trials {
        let refused = budget::refused_requests();
        let mut execution = match &work.rescoring {
            Some(stored) => score_trial(work, stored, &item, (index, run_index), account(run_index)).await,
            None => run_trial(work, &item, (index, run_index), account(run_index)).await,
        };
        if lacks_budget(&execution, refused) {
            return Err(Unfinished::BudgetUsedUp);
        }
        if execution.is_in_error()
            && let Some(failure) = work.traffic.as_ref().and_then(|traffic| traffic.failure())
        {
            return Err(Unfinished::Unrecorded(failure.clone()));
        }
        // Further requests are refused one by one, except those that bypass the gateway.
        let is_last = run_index + 1 == trials;
        if !is_last && work.rescoring.is_none() && !budget::pays_for_trial(unseen_cost(work, &execution)) {
            return Err(Unfinished::BudgetUsedUp);
        }
        // Agents and evaluators have seen everything; what is saved and displayed must not contain keys.
        execution.redact();
        runs.push(execution);
        executed(run_index);
    }
    let passed = runs.iter().all(|run_item| passes(work, run_item));
    let input = redacted_item(&item);
    Ok(ItemResult { index, key, input, passed, runs })
}

/// Whether a trial failed, or its simulated user was not checked, because the budget was used up. `refused`: the number of requests that
/// were refused before it.
fn lacks_budget(execution: &Execution, refused: usize) -> bool {
    let transcript = execution.transcript.as_ref();
    let is_unchecked = transcript.is_some_and(|transcript| transcript.unchecked.is_some());
    (execution.is_in_error() || is_unchecked) && budget::refused_requests() > refused
}

/// Whether a trial has no error and reaches every pass mark.
fn passes(work: &Work, run_item: &Execution) -> bool {
    let reaches_mark = |evaluator: &Arc<dyn Evaluator>| {
        let evaluation = run_item.evaluations.get(evaluator.name());
        evaluation.is_some_and(|evaluation| match evaluation.score {
            Some(score) => score >= evaluator.pass_mark(),
            None => evaluation.not_applicable,
        })
    };
    !run_item.is_in_error() && work.definition.evaluators.iter().all(reaches_mark)
}

/// Why there is no output of an agent.
struct AgentFailure {
    status: Status,
    error: String,
    /// The metadata of a refused output.
    reported: Item,
    /// Whether the agent said that it is transient.
    is_transient: bool,
}

impl AgentFailure {
    fn error(error: String) -> Self {
        Self { status: Status::Error, error, reported: Item::new(), is_transient: false }
    }
}

/// The last attempt at a trial, and those before it.
struct Attempts {
    context: Context,
    answer: Result<Output, AgentFailure>,
    /// How long the last attempt took, with all waits of the traffic, also those of earlier attempts.
    took: Duration,
    retried: Vec<RetriedExecution>,
    /// The workspace of the last attempt.
    workspace: Option<Arc<ExecutionWorkspace>>,
}

async fn run_trial(
    work: &Work,
    item: &Arc<Item>,
    (index, run_index): (usize, usize),
    account: Account,
) -> Execution {
    let refused = budget::refused_requests();
    let begun = work.traffic.as_ref().map(|traffic| traffic.begin(item, (index, run_index), account.clone()));
    let traffic = match begun.transpose() {
        Ok(traffic) => traffic,
        Err(error) => return Execution { status: Status::Error, error: Some(error), ..Execution::default() },
    };
    let _registration = work.traffic.as_ref().zip(traffic.as_ref()).map(|(run, it)| run.registration(it));
    let settings = work.definition.conversation.clone().unwrap_or_default();
    let user = LlmHandle::paid_by(Payer::User, &account, &work.models, traffic.clone());
    let conversation = ConversationRun::new(settings, user);
    let key = Arc::from(&work.keys[index]);
    let context = Context::new(work.dataset.clone(), Arc::clone(item), index, key, run_index, conversation);
    let context = context.with_traffic(traffic.clone()).with_variant(work.definition.variant.clone());
    let context = context.with_faults(&work.definition.faults);
    let (mut execution, workspace) = run_agent_and_evaluators(work, context, traffic.clone(), &account).await;
    if lacks_budget(&execution, refused) {
        traffic.iter().for_each(|traffic| traffic.note_spent_budget());
    }
    let end = |trial: Arc<ExecutionTraffic>| work.traffic.as_ref()?.end(&trial, &execution).transpose();
    let ended = traffic.and_then(end).transpose();
    match ended {
        Ok(traffic) => execution.traffic = traffic.map(Box::new),
        // The output is valid, but the next run would not replay what this one saw.
        Err(error) => {
            execution = Execution { status: Status::Error, error: Some(error), output: None, ..execution };
        }
    }
    spend(work, &execution, &account);
    if let (Some(workspaces), Some(workspace)) = (&work.workspaces, workspace) {
        let passed = passes(work, &execution);
        workspaces.end(workspace, index, run_index, passed, &mut execution).await;
    }
    execution
}

/// Scores the stored output of a trial. Judges answer from recordings if the experiment replays; nothing is recorded.
async fn score_trial(
    work: &Work,
    stored: &Rescoring,
    item: &Arc<Item>,
    (index, run_index): (usize, usize),
    account: Account,
) -> Execution {
    let mut execution = stored.trials(index)[run_index].clone();
    let Some(output) = execution.output.take().map(Arc::new) else { return execution };
    let begun = work.traffic.as_ref().map(|traffic| traffic.begin(item, (index, run_index), account.clone()));
    let traffic = match begun.transpose() {
        Ok(traffic) => traffic,
        Err(error) => {
            let output = Some(Arc::unwrap_or_clone(output));
            let evaluations =
                work.names.iter().map(|name| (Arc::clone(name), evaluation_error(error.clone())));
            return Execution { output, evaluations: evaluations.collect(), ..execution };
        }
    };
    let _registration = work.traffic.as_ref().zip(traffic.as_ref()).map(|(run, it)| run.registration(it));
    let trace = Arc::new(std::mem::take(&mut execution.trace));
    let key = Arc::from(&work.keys[index]);
    let cx = EvalContext::for_trial(Arc::clone(item), key, index, run_index, Arc::clone(&output))
        .with_trace(Arc::clone(&trace))
        .with_incomplete_trace(execution.traffic.as_ref().is_some_and(|traffic| traffic.unattributed > 0))
        .with_optional_transcript(execution.transcript.clone().map(Arc::from))
        .in_workspace(execution.workspace.as_deref().cloned().map(Arc::new), None);
    let evaluations = evaluate(work, &cx, traffic.as_ref(), &account, Some(&execution.evaluations)).await;
    drop(cx);
    execution.evaluations = evaluations;
    execution.output = Some(Arc::unwrap_or_clone(output));
    execution.trace = Arc::unwrap_or_clone(trace);
    if let (Some(trial), Some(traffic)) = (traffic, &work.traffic) {
        // Without requests of an agent there is nothing to report or to write.
        let _ = traffic.end(&trial, &execution);
    }
    execution
}

/// The cost that an agent reports although no request of it passed through the gateway, in USD.
fn unseen_cost(work: &Work, execution: &Execution) -> f64 {
    let is_seen = execution.traffic.as_ref().is_some_and(|traffic| traffic.live + traffic.replayed > 0);
    execution.cost(&work.prices).filter(|_| !is_seen).unwrap_or(0.0)
}

/// Adds to what is spent the cost that the agent reports, as far as its requests were not counted one by one. If some were replayed,
/// it is unknown how much of what it reports they would have cost. Without a price, it is the highest one.
fn spend(work: &Work, execution: &Execution, account: &Account) {
    let traffic = execution.traffic.as_deref();
    if traffic.is_some_and(|traffic| traffic.replayed > 0) {
        return;
    }
    let usage = execution.usage(&work.prices);
    let is_seen = traffic.is_some_and(|traffic| traffic.live > 0);
    let unpriced = usage.tokens.filter(|_| usage.is_unpriced && !is_seen);
    let model = execution.output.as_ref().and_then(Output::model_name);
    let price = model.and_then(|model| work.prices.price(model)).unwrap_or_else(|| work.prices.highest());
    let most = unpriced.map_or(0.0, |tokens| price.cost(Tokens::new(0, tokens)));
    let counted = traffic.map_or(0.0, |traffic| traffic.live_cost);
    let due = (usage.cost.unwrap_or(most) - counted).max(0.0);
    let charge = work.traffic.as_ref().map_or(due, |traffic| traffic.take_unattributed_cost(due));
    budget::spend(charge);
    account.pay(Payer::Agent, Charge { charged: charge, known: usage.cost.map_or(0.0, |_| charge) });
}

async fn run_agent_and_evaluators(
    work: &Work,
    context: Context,
    traffic: Option<Arc<ExecutionTraffic>>,
    account: &Account,
) -> (Execution, Option<Arc<ExecutionWorkspace>>) {
    let Attempts { context, answer, took, retried, workspace } =
        call_agent_with_retries(work, context, traffic.as_ref()).await;
    let conversation = Arc::clone(context.conversation());
    let (elapsed, records) = (context.spans().started().elapsed(), context.recorder().so_far());
    // Recordings hold what happened without faults.
    let injected_wait = context.tools().waited();
    let AgentTraffic { recorded_latency, waited, problem, is_incomplete } = match &traffic {
        Some(traffic) => {
            if let Err(failure) = &answer {
                traffic.note_error(&failure.error);
            }
            traffic.end_agent(took.saturating_sub(injected_wait + conversation.user_time())).await
        }
        None => AgentTraffic::default(),
    };
    if let (Some(run), Some(trial)) = (&work.traffic, &traffic) {
        run.note_end(trial, answer.is_ok());
    }
    let waited = waited + conversation.user_time();
    let recorded_latency = recorded_latency.map(|latency| latency + milliseconds(injected_wait));
    let latency_ms = recorded_latency.unwrap_or_else(|| milliseconds(took.saturating_sub(waited)));
    // A request that was not recorded is never a score, whatever the agent made of it.
    let answer = match problem {
        Some(problem) => Err(AgentFailure { reported: reported(answer), ..AgentFailure::error(problem) }),
        None => answer,
    };
    let (changes, answer) = workspaces::compare(workspace.as_ref(), answer).await;
    if let Err(AgentFailure { status, error, .. }) = &answer {
        conversation.fail(*status, error, elapsed, records);
    }
    // From here on, tasks left behind by the agent cannot add records to this execution or to the next.
    let mut recorded = context.recorder().close();
    let metrics = recorded.take_metrics();
    let faults = context.tools().close();
    let trace = take_trace(work, &context, traffic.as_ref()).await;
    // Clients know what they have spent themselves.
    if !is_incomplete || trace.has_client_calls() {
        recorded.add_trace_usage(trace.usage());
    }
    let answer = answer.and_then(|output| validate_output(output, &mut recorded));
    let metadata = answer.as_ref().map_or_else(|failure| &failure.reported, Output::all_metadata);
    let uses_model = recorded.has_usage() || ExecutionUsage::of(metadata, &work.prices).is_any();
    // An injected fault may have kept the agent from its requests.
    let has_output = answer.is_ok() && faults.is_empty();
    let unseen = traffic.as_ref().and_then(|traffic| traffic.check_requests(uses_model, has_output));
    let answer = match (answer, unseen) {
        (Ok(output), Some(problem)) => {
            Err(AgentFailure { reported: output.into_metadata(), ..AgentFailure::error(problem) })
        }
        (answer, _) => answer,
    };
    let transcript = conversation.take(&trace.shared(), &work.prices).map(Arc::new);
    let trace = transcript.iter().fold(trace, |trace, transcript| trace.with_turns(transcript));
    let execution = match answer {
        Ok(mut output) => {
            recorded.merge_into(output.metadata_mut());
            let output = Arc::new(output);
            let (item, key) = (Arc::clone(context.shared_item()), Arc::clone(context.shared_key()));
            let cx =
                EvalContext::for_trial(item, key, context.index(), context.run_index(), Arc::clone(&output))
                    .with_trace(trace.shared())
                    .with_incomplete_trace(is_incomplete)
                    .with_optional_transcript(transcript.clone())
                    .in_workspace(
                        changes.clone(),
                        workspace.as_ref().map(|workspace| workspace.dir().clone()),
                    );
            let evaluations = evaluate(work, &cx, traffic.as_ref(), account, None).await;
            drop(cx);
            let output = Some(Arc::unwrap_or_clone(output));
            Execution { output, latency_ms, evaluations, ..Execution::default() }
        }
        Err(AgentFailure { status, error, mut reported, .. }) => {
            recorded.merge_into(&mut reported);
            Execution { status, latency_ms, error: Some(error), recorded: reported, ..Execution::default() }
        }
    };
    let metrics = with_conversation_metrics(metrics, transcript.as_deref());
    let transcript = transcript.map(|transcript| Box::new(Arc::unwrap_or_clone(transcript)));
    let (trace, dropped_spans) = trace.into_kept(&work.prices, work.trace_limits);
    let changes = changes.map(|changes| Box::new(Arc::unwrap_or_clone(changes)));
    (
        Execution {
            retried,
            metrics,
            trace,
            dropped_spans,
            transcript,
            workspace: changes,
            faults,
            ..execution
        },
        workspace,
    )
}

/// Adds the number of turns, and of mistakes of a simulated user, unless the agent recorded metrics with these names.
fn with_conversation_metrics(mut metrics: Metrics, transcript: Option<&Transcript>) -> Metrics {
    let Some(transcript) = transcript else { return metrics };
    let metric = |value: usize, better| MetricValue { value: value as f64, better, ..MetricValue::default() };
    let turns = metric(transcript.turns.len(), None);
    metrics.entry("turns".to_owned()).or_insert(turns);
    if transcript.simulated && transcript.unchecked.is_none() {
        let mistakes = metric(transcript.mistakes.len(), Some(Direction::Lower));
        metrics.entry(USER_MISTAKES.to_owned()).or_insert(mistakes);
    }
    metrics
}

/// What was seen of an attempt.
async fn take_trace(
    work: &Work,
    context: &Context,
    traffic: Option<&Arc<ExecutionTraffic>>,
) -> ExecutionTrace {
    #[cfg(feature = "otlp")]
    crate::trace::wait_for_exports(context.spans()).await;
    let calls = traffic.map(|traffic| traffic.take_calls()).unwrap_or_default();
    ExecutionTrace::take(context.spans(), calls, &work.prices)
}

/// Calls the agent until it gives an output, fails for good, or all retries are used. Each attempt has its own records and time limit.
async fn call_agent_with_retries(
    work: &Work,
    first: Context,
    traffic: Option<&Arc<ExecutionTraffic>>,
) -> Attempts {
    let waited = || traffic.map_or(Duration::ZERO, |traffic| traffic.waited());
    // A request that is not recorded fails the trial, however often it is repeated.
    let is_refused = || traffic.is_some_and(|traffic| traffic.has_problem());
    let (mut context, mut retried) = (first, Vec::new());
    loop {
        let workspace = match workspaces::start(work, &context).await {
            Ok(workspace) => workspace,
            Err(failure) => {
                let (answer, took) = (Err(failure), Duration::ZERO);
                return Attempts { context, answer, took, retried, workspace: None };
            }
        };
        context = context.with_workspace(workspace.as_ref().map(|workspace| workspace.dir().clone()));
        let waited_before = waited();
        let (answer, took) = call_agent(work, context.clone(), traffic).await;
        if let Some(workspace) = &workspace {
            // Also those that the agent left, or they would change files while these are compared.
            workspace.end_processes().await;
        }
        let failure = match answer {
            Err(failure)
                if failure.is_transient && retried.len() < work.definition.retries && !is_refused() =>
            {
                failure
            }
            // All waits are subtracted at the end of the trial.
            answer => {
                return Attempts { context, answer, took: took + waited_before, retried, workspace };
            }
        };
        let mut metadata = failure.reported;
        let mut recorded = context.recorder().close();
        // A response that arrives later would be in the trace of the next attempt.
        if let Some(traffic) = traffic {
            traffic.settle().await;
        }
        recorded.add_trace_usage(take_trace(work, &context, traffic).await.usage());
        recorded.merge_into(&mut metadata);
        let waits = waited().saturating_sub(waited_before) + context.conversation().user_time();
        let own = took.saturating_sub(waits);
        let number = u32::try_from(retried.len()).unwrap_or(u32::MAX);
        retried.push(RetriedExecution::new(&failure.error, milliseconds(own), metadata));
        let pause = work.back_off.wait(number, None);
        log::debug!(
            experiment = work.definition.name,
            item = work.keys[context.index()],
            trial = context.run_index(),
            attempt = retried.len(),
            pause = humantime::format_duration(pause),
            "calls the agent again after a transient failure"
        );
        tokio::time::sleep(pause).await;
        workspaces::discard(workspace).await;
        context = context.for_next_attempt();
    }
}

/// The metadata of an answer that does not count.
fn reported(answer: Result<Output, AgentFailure>) -> Item {
    match answer {
        Ok(output) => output.into_metadata(),
        Err(failure) => failure.reported,
    }
}

/// Refuses the output if it or the agent's records are invalid.
fn validate_output(mut output: Output, recorded: &mut Records) -> Result<Output, AgentFailure> {
    match output.take_problem().or_else(|| recorded.problem()) {
        None => Ok(output),
        Some(error) => Err(AgentFailure { reported: output.into_metadata(), ..AgentFailure::error(error) }),
    }
}

/// Calls the agent in its own task, so that a panic or a blocking call stays isolated.
async fn call_agent(
    work: &Work,
    context: Context,
    traffic: Option<&Arc<ExecutionTraffic>>,
) -> (Result<Output, AgentFailure>, Duration) {
    let limit = work.definition.timeout;
    let agent = Arc::clone(&work.agent);
    let conversation = Arc::clone(context.conversation());
    let all_waits = || traffic.map_or(Duration::ZERO, |traffic| traffic.waited()) + conversation.user_time();
    let (called, waited_before) = (Instant::now(), all_waits());
    // Caught in the task, on whose thread the panic's location is known.
    let answer = async move {
        catch_panic(agent(context)).await.map_err(|panic| thread_pool::describe_panic(&*panic))
    };
    let mut task = AbortOnDrop::new(match traffic {
        Some(traffic) => tokio::spawn(within(Arc::clone(traffic.token()), answer)),
        None => tokio::spawn(answer),
    });
    let failed = |error: String| Err(AgentFailure::error(error));
    let waited = || all_waits().saturating_sub(waited_before);
    match timeout_without_waits(limit, called, waited, task.join()).await {
        Ok(Ok(Ok((Ok(output), took)))) => {
            (output.check_depth().or_else(|error| failed(error.to_string())), took)
        }
        Ok(Ok(Ok((Err(error), took)))) => {
            let is_transient = error.is_transient();
            let status = if error.is_timeout() { Status::Timeout } else { Status::Error };
            (Err(AgentFailure { is_transient, status, ..AgentFailure::error(error.to_string()) }), took)
        }
        Ok(Ok(Err(panic))) => (failed(panic), called.elapsed()),
        Ok(Err(join)) => (failed(format!("the agent's task ended early: {join}")), called.elapsed()),
        Err(_) => {
            let failure =
                AgentFailure { status: Status::Timeout, ..AgentFailure::error(timeout_message(limit)) };
            (Err(failure), called.elapsed())
        }
    }
}

fn timeout_message(limit: Duration) -> String {
    format!("timed out after {}", humantime::format_duration(limit))
}

/// Runs all evaluators in parallel. Some of those that score a stored output keep the stored evaluation.
async fn evaluate(
    work: &Work,
    cx: &EvalContext,
    traffic: Option<&Arc<ExecutionTraffic>>,
    account: &Account,
    stored: Option<&Evaluations>,
) -> Evaluations {
    let evaluate = async |place: usize, evaluator: &dyn Evaluator| {
        let copied = work.rescoring.as_ref().zip(stored);
        let copied = copied.and_then(|(run, stored)| run.copied(place, evaluator.name(), stored));
        match copied {
            Some(copied) => copied,
            None => run_evaluator(work, evaluator, cx, traffic, account).await,
        }
    };
    let scores = match &work.definition.evaluators[..] {
        [evaluator] => vec![evaluate(0, &**evaluator).await],
        evaluators => {
            let scores = evaluators.iter().enumerate().map(
                |(place, evaluator)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                    Box::pin(evaluate(place, &**evaluator))
                },
            );
            join_all(scores.collect()).await
        }
    };
    work.names.iter().cloned().zip(scores).collect()
}

async fn run_evaluator(
    work: &Work,
    evaluator: &dyn Evaluator,
    cx: &EvalContext,
    traffic: Option<&Arc<ExecutionTraffic>>,
    account: &Account,
) -> ScoredEvaluation {
    let asking = LlmHandle::paid_by(Payer::Judge, account, &work.models, traffic.cloned());
    let cx = cx.with_llm(asking.clone()).with_timeout(work.definition.evaluator_timeout);
    // The call itself may panic before it returns a future.
    let mut evaluation = Box::pin(outside_of_traces(async { evaluator.evaluate(&cx).await }));
    let outcome = match evaluator.time_limit(work.definition.evaluator_timeout) {
        Some(limit) => timeout(limit, catch_panic(&mut evaluation)).await.map_err(|_| limit),
        None => Ok(catch_panic(&mut evaluation).await),
    };
    // Dropping a cancelled evaluation may panic too; the outcome is not affected.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(evaluation)));
    let scored = match outcome {
        Ok(Ok(Ok(score))) => score.into_evaluation(),
        Ok(Ok(Err(error))) => evaluation_error(error.to_string()),
        Ok(Err(panic)) => evaluation_error(thread_pool::describe_panic(&*panic)),
        Err(limit) => evaluation_error(timeout_message(limit)),
    };
    ScoredEvaluation { judge: asking.usage().map(Box::new), ..scored }
}

fn evaluation_error(error: String) -> ScoredEvaluation {
    ScoredEvaluation { error: Some(error), ..ScoredEvaluation::default() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

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
            panic!("requested by a test");
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
        finish_evaluators(vec![Arc::new(Panics), Arc::clone(&notes) as Arc<dyn Evaluator>]).await;
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
            let failure = validate_output(output, &mut recorder.close()).unwrap_err();
            assert!(failure.error.starts_with("the agent reports a cost of "), "{}", failure.error);
            let expected = json!({ "model": "gpt-4o-mini", "tokens": { "input": 20, "output": 3 } });
            assert_eq!(json!(failure.reported), expected);
        }
    }
}
