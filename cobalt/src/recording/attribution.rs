//! To which trial a request belongs: by its token, by the response that it continues, or by the texts of its item. Items whose requests
//! could be confused do not run at the same time.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use cobalt_core::item::Item;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::{Instant, timeout};

use super::execution::ExecutionTraffic;
use super::experiment::ExperimentTraffic;
use super::lock::lock;
use super::request_shape::{Fit, ItemTexts, RequestShape, conversation, is_beginning, is_whole};

/// The maximum number of response identifiers that are remembered.
const MAX_IDS: usize = 100_000;
/// How long other items wait for the first ones of an experiment. Slow agents would hold up all experiments, also agents whose requests
/// do not pass through the gateway. Tests must not depend on how busy a machine is, and must notice a lost notification.
pub const FIRST_ITEM: Duration = Duration::from_secs(if cfg!(test) { 600 } else { 2 });

/// To whom a request belongs.
#[derive(Debug)]
pub enum Owner {
    /// An execution that the request names, or the only one.
    Exact(Arc<ExecutionTraffic>),
    /// The only execution whose item the request contains.
    ByContent(Arc<ExecutionTraffic>),
    /// One of these, if any; empty if no item is in progress.
    Unknown(Vec<Arc<ExecutionTraffic>>),
}

impl Owner {
    /// The executions that may have sent the request.
    pub fn candidates(&self) -> &[Arc<ExecutionTraffic>] {
        match self {
            Self::Exact(execution) | Self::ByContent(execution) => std::slice::from_ref(execution),
            Self::Unknown(candidates) => candidates,
        }
    }
}

/// The executions of a gateway, until they end.
#[derive(Debug, Default)]
pub struct RunningExecutions {
    /// By their tokens.
    running: Mutex<HashMap<Arc<str>, Running>>,
    /// The executions that received a response, by its identifier: a later request may continue it.
    responses: Mutex<HashMap<String, Weak<ExecutionTraffic>>>,
    /// The items in progress, which have been admitted.
    admitted: Mutex<Vec<Admitted>>,
    /// Notified when an item may be admitted that was not.
    changed: Notify,
}

#[derive(Clone, Debug)]
struct Running {
    execution: Arc<ExecutionTraffic>,
    texts: ItemTexts,
}

#[derive(Debug)]
struct Admitted {
    number: u64,
    experiment: Arc<ExperimentTraffic>,
    texts: ItemTexts,
    since: Instant,
}

/// A change after which an item that had to wait may be admitted.
#[derive(Debug)]
pub struct AdmissionChange<'a>(Notified<'a>);

/// Why an item must wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// Until the first agent of an experiment has ended and shown what it sends, or has run for a while.
    ForFirstItem,
    /// Until another item has ended: their requests could be confused.
    ForItem,
}

impl AdmissionChange<'_> {
    pub async fn after(self, wait: Wait) {
        match wait {
            Wait::ForFirstItem => {
                let _ = timeout(FIRST_ITEM, self.0).await;
            }
            Wait::ForItem => self.0.await,
        }
    }
}

impl RunningExecutions {
    /// Adds an execution of an item.
    pub fn add(&self, execution: &Arc<ExecutionTraffic>, item: &Item) {
        let running = Running { execution: Arc::clone(execution), texts: ItemTexts::of(item) };
        lock(&self.running).insert(Arc::clone(execution.token()), running);
    }

    /// Removes an execution that has ended.
    pub fn remove(&self, execution: &ExecutionTraffic) {
        lock(&self.running).remove(execution.token());
    }

    /// All executions.
    pub fn all(&self) -> Vec<Arc<ExecutionTraffic>> {
        lock(&self.running).values().map(|running| Arc::clone(&running.execution)).collect()
    }

    /// Admits an item if its requests cannot be confused with those of items in progress.
    pub fn admit(
        &self,
        number: u64,
        experiment: &Arc<ExperimentTraffic>,
        texts: ItemTexts,
    ) -> Result<(), Wait> {
        let mut admitted = lock(&self.admitted);
        let shape = experiment.shape().clone();
        // Each item that is admitted late would otherwise hold up the next one.
        let began = |experiment: &Arc<ExperimentTraffic>| {
            let own = admitted.iter().filter(|other| Arc::ptr_eq(&other.experiment, experiment));
            own.map(|other| other.since).min()
        };
        for other in admitted.iter() {
            if Arc::ptr_eq(experiment, &other.experiment) && shape.seems_exact() {
                continue;
            }
            let other_shape = other.experiment.shape().clone();
            let is_learned = shape.has_ended && other_shape.has_ended;
            let has_taken_long =
                || began(&other.experiment).is_some_and(|since| since.elapsed() >= FIRST_ITEM);
            let is_late = !is_learned && has_taken_long();
            let is_confused = if is_late {
                shape.confuses_late(&texts, &other_shape, &other.texts)
            } else {
                shape.confuses(&texts, &other_shape, &other.texts)
            };
            if is_confused {
                return Err(if is_learned || is_late { Wait::ForItem } else { Wait::ForFirstItem });
            }
        }
        admitted.push(Admitted { number, experiment: Arc::clone(experiment), texts, since: Instant::now() });
        Ok(())
    }

    /// Ends an admission.
    pub fn dismiss(&self, number: u64) {
        lock(&self.admitted).retain(|admitted| admitted.number != number);
        self.changed.notify_waiters();
    }

    /// Waits until an item may be admitted that was not, from this call on.
    pub fn changed(&self) -> AdmissionChange<'_> {
        AdmissionChange(self.changed.notified())
    }

    /// Notes that a request of an experiment has a token.
    pub fn note_token(&self, experiment: &ExperimentTraffic) {
        if !std::mem::replace(&mut experiment.shape().has_tokens, true) {
            self.changed.notify_waiters();
        }
    }

    /// Notes that an agent of an experiment has ended; `is_complete`: with an output, or after it has sent something.
    pub fn note_end(&self, experiment: &ExperimentTraffic, is_complete: bool) {
        if experiment.shape().note_end(is_complete) {
            self.changed.notify_waiters();
        }
    }

    fn learn(&self, running: &Running, sent: &[&str], is_first: bool) {
        if running.execution.experiment().shape().learn(&running.texts, sent, is_first) {
            self.changed.notify_waiters();
        }
    }

    /// The execution with a token, if its agent is still running.
    pub fn with_token(&self, token: &str) -> Option<Arc<ExecutionTraffic>> {
        let running = lock(&self.running);
        running.get(token).map(|running| &running.execution).filter(|it| it.is_open()).cloned()
    }

    /// Remembers that an execution received a response.
    pub fn add_response(&self, id: String, execution: &Arc<ExecutionTraffic>) {
        let mut responses = lock(&self.responses);
        if responses.len() >= MAX_IDS {
            responses.retain(|_, execution| execution.strong_count() > 0);
        }
        responses.insert(id, Arc::downgrade(execution));
    }

    /// The owner of a request without a token: the only execution, or that whose item its body contains.
    pub fn owner_of(&self, body: &[u8]) -> Owner {
        let mut running: Vec<_> = lock(&self.running).values().cloned().collect();
        running.sort_unstable_by(|a, b| a.execution.token().cmp(b.execution.token()));
        let value = serde_json::from_slice::<Value>(body);
        if let Ok(value) = &value
            && let Some(previous) = value["previous_response_id"].as_str()
            && let Some(execution) = lock(&self.responses).get(previous).and_then(Weak::upgrade)
            && execution.is_open()
        {
            return Owner::Exact(execution);
        }
        let sent = value.as_ref().map(conversation).unwrap_or_default();
        let ranked = rank(&running, &sent);
        let is_open = |running: &&Running| running.execution.is_open();
        let open: Vec<_> = running.iter().filter(is_open).collect();
        let is_first = ranked.is_first && value.as_ref().is_ok_and(is_beginning);
        match (&ranked.best[..], &open[..]) {
            (_, []) => Owner::Unknown(Vec::new()),
            // An evaluator may have sent it.
            ([best], _) if !best.execution.is_open() => Owner::Unknown(vec![Arc::clone(&best.execution)]),
            (_, [only]) => {
                if !body.is_empty() {
                    self.learn(only, &sent, is_first);
                }
                Owner::Exact(Arc::clone(&only.execution))
            }
            ([best], _) => {
                self.learn(best, &sent, is_first);
                Owner::ByContent(Arc::clone(&best.execution))
            }
            ([], _) => self.owner_without_texts(&open, body),
            (best, _) => Owner::Unknown(best.iter().map(|it| Arc::clone(&it.execution)).collect()),
        }
    }

    /// The owner of a request that contains no text of an item: the only execution whose requests are such.
    fn owner_without_texts(&self, open: &[&Running], body: &[u8]) -> Owner {
        let with = |is_candidate: &dyn Fn(&RequestShape, &Running) -> bool| {
            let fits = |it: &&&Running| is_candidate(&it.execution.experiment().shape(), it);
            open.iter().filter(fits).copied().collect::<Vec<_>>()
        };
        let usual = with(&|shape, it| shape.may_lack_texts(&it.texts));
        let possible = with(&|shape, _| !shape.is_exact());
        let candidates = [usual, possible, open.to_vec()].into_iter().find(|found| !found.is_empty());
        let candidates = candidates.unwrap_or_default();
        // A list of models, for example, belongs to no conversation.
        if !body.is_empty() {
            candidates.iter().for_each(|candidate| self.learn(candidate, &[], true));
        }
        match candidates[..] {
            [only] => Owner::ByContent(Arc::clone(&only.execution)),
            _ => Owner::Unknown(candidates.iter().map(|it| Arc::clone(&it.execution)).collect()),
        }
    }
}

/// The executions that a request fits best.
struct Ranked<'a> {
    best: Vec<&'a Running>,
    /// Whether the request continues no known response.
    is_first: bool,
}

fn rank<'a>(running: &'a [Running], sent: &[&str]) -> Ranked<'a> {
    // What models answered, such as the identifiers of tool calls, was said to one trial.
    let answers: Vec<_> = running.iter().map(|it| it.execution.answer_ids(sent)).collect();
    let known: HashSet<_> = answers.iter().flatten().copied().collect();
    let fits = running.iter().zip(&answers).filter_map(|(it, own)| {
        let is_in_item = |id: &&&str| it.texts.0.iter().any(|(_, text)| text == **id);
        let others = known.iter().filter(|id| !own.contains(*id)).filter(is_in_item).count();
        let shape = it.execution.experiment().shape();
        let fit = (own.len() + others, Fit::of(&shape, &it.texts, sent));
        // Requests of an experiment that always have tokens are hardly without one.
        (fit.0 + fit.1.all > 0).then(|| (!shape.is_exact(), fit, it))
    });
    let fits: Vec<_> = fits.collect();
    let most = fits.iter().map(|(is_inexact, fit, _)| (*is_inexact, *fit)).max();
    let best = fits.iter().filter(|(is_inexact, fit, _)| Some((*is_inexact, *fit)) == most);
    let mut best: Vec<_> = best.map(|(.., it)| *it).collect();
    if let [only] = best[..]
        && most.is_some_and(|(_, (ids, _))| ids == 0)
    {
        best.extend(also_sent(running, only, sent));
    }
    Ranked { best, is_first: known.is_empty() }
}

/// The executions all of whose texts are sent besides those of the one that fits best, none of which is a whole message: one of the
/// items is there by chance, and it is unknown which.
fn also_sent<'a>(running: &'a [Running], best: &Running, sent: &[&str]) -> Vec<&'a Running> {
    let shape = best.execution.experiment().shape().clone();
    let is_whole_message = shape.sent_texts(&best.texts).any(|(text, _)| is_whole(text, sent));
    if is_whole_message {
        return Vec::new();
    }
    let mut rest: Vec<String> = sent.iter().map(|text| (*text).to_owned()).collect();
    for (text, _) in shape.sent_texts(&best.texts) {
        rest.iter_mut().for_each(|sent| *sent = sent.replace(text, "\0"));
    }
    let rest: Vec<_> = rest.iter().map(String::as_str).collect();
    let is_there = |other: &&Running| {
        let shape = other.execution.experiment().shape();
        let fit = Fit::of(&shape, &other.texts, &rest);
        !shape.is_exact() && !shape.sent.is_empty() && fit.usual > 0 && fit.missing == Reverse(0)
    };
    running.iter().filter(|other| !Arc::ptr_eq(&other.execution, &best.execution)).filter(is_there).collect()
}
