//! The model traffic of one trial: what is answered from its recording, and what is new.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::item::Item;
use cobalt_core::prices::{PriceTable, Tokens};
use cobalt_core::recordings::{
    Body, Cassette, Interaction, JudgeAnswer, RecordedRequest, RequestKey, Trial, differences_in_full,
    nearest,
};
use cobalt_core::report::{Execution, Status, Traffic};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::count;
use serde_json::Value;
use tokio::sync::Notify;

use super::asked::AskedMessages;
use super::experiment::ExperimentTraffic;
use super::settings::RecordMode;
use crate::http::is_transient;

/// How long the end of a trial waits for responses that the agent no longer reads.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of differences that an error lists.
const MAX_DIFFERENCES: usize = 3;

/// Whether a status says that the provider does not accept the key.
pub fn refuses_key(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Whether a status says that the provider has no answer now: it is busy or broken, or the quota is used up.
pub fn could_not_answer(status: u16) -> bool {
    is_transient(status) || matches!(status, 402 | 425)
}

/// What to do with a request.
#[derive(Debug)]
pub enum Decision {
    /// Answer it from the recording.
    Replay(Arc<Interaction>),
    /// Send it, and complete this entry.
    Send(usize),
    /// Refuse it, with the reason.
    Refuse(String),
}

/// The model traffic of one trial.
#[derive(Debug)]
pub struct ExecutionTraffic {
    token: Arc<str>,
    experiment: Arc<ExperimentTraffic>,
    index: usize,
    run: usize,
    /// How this trial uses its recording.
    mode: RecordMode,
    /// The texts of the item, by which a request without a token is attributed.
    texts: Vec<String>,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    recorded: Vec<Recorded>,
    /// When the trial was recorded.
    recorded_at: Option<Timestamp>,
    recorded_latency: Option<f64>,
    /// The judges' recorded answers of the trial, and whether each was used.
    judges: Vec<(JudgeAnswer, bool)>,
    /// Requests in order.
    entries: Vec<Entry>,
    pending: usize,
    asked: AskedMessages,
    traffic: Traffic,
    /// Why a request was refused.
    problem: Option<String>,
    /// New answers of judges.
    new_judges: Vec<JudgeAnswer>,
    waits: Waits,
    is_closed: bool,
}

/// How requests are answered now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Live,
    Replay,
    /// Until the first request that is not recorded.
    ReplayUntilDiverged,
}

#[derive(Debug)]
struct Recorded {
    key: RequestKey,
    interaction: Arc<Interaction>,
    is_used: bool,
}

#[derive(Debug)]
enum Entry {
    Replayed(Arc<Interaction>),
    /// Sent, and not answered yet.
    Pending(RequestKey),
    Answered(Box<Interaction>),
    /// Never answered, or not sent.
    Lost(RequestKey),
}

/// Measures the time in which all requests wait at once.
#[derive(Debug, Default)]
struct Waits {
    in_flight: usize,
    waiting: usize,
    since: Option<Instant>,
    total: Duration,
}

impl Waits {
    fn update(&mut self, change: impl FnOnce(&mut Self)) {
        if let Some(since) = self.since.take() {
            self.total += since.elapsed();
        }
        change(self);
        self.since = (self.waiting > 0 && self.waiting == self.in_flight).then(Instant::now);
    }

    fn total(&self) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// What the traffic says about an agent that has ended.
#[derive(Debug, Default)]
pub struct AgentTraffic {
    /// The latency of the recording, if everything was replayed.
    pub recorded_latency: Option<f64>,
    /// How long the agent waited for limits and retries.
    pub waited: Duration,
    /// A request that was not recorded: an error of the item.
    pub problem: Option<String>,
}

impl ExecutionTraffic {
    pub fn new(
        experiment: Arc<ExperimentTraffic>,
        token: Arc<str>,
        item: &Item,
        (index, run): (usize, usize),
        (record_mode, cassette): (RecordMode, Option<&Cassette>),
    ) -> Self {
        let mode = match record_mode {
            RecordMode::Off | RecordMode::Record => Mode::Live,
            RecordMode::Replay => Mode::Replay,
            RecordMode::Auto => Mode::ReplayUntilDiverged,
        };
        let mut state = State { mode, ..State::default() };
        let recorded = cassette.and_then(|cassette| cassette.trial(run));
        if let Some(trial) = recorded.filter(|_| mode != Mode::Live) {
            state.recorded_at = trial.recorded_at;
            state.recorded_latency = trial.latency_ms;
            let recorded = |interaction: &Interaction| Recorded {
                key: interaction.request.key(experiment.ignore()),
                interaction: Arc::new(interaction.clone()),
                is_used: false,
            };
            state.recorded = trial.interactions.iter().map(recorded).collect();
            state.judges = trial.judges.iter().map(|answer| (answer.clone(), false)).collect();
        }
        let mut texts = Vec::new();
        item.values().for_each(|value| collect_texts(value, &mut texts));
        Self {
            token,
            experiment,
            index,
            run,
            mode: record_mode,
            texts,
            state: Mutex::new(state),
            settled: Notify::new(),
        }
    }

    pub fn token(&self) -> &Arc<str> {
        &self.token
    }

    /// Whether its agent still works.
    pub fn is_open(&self) -> bool {
        !self.lock().is_closed
    }

    /// How this trial uses its recording.
    pub fn mode(&self) -> RecordMode {
        self.mode
    }

    /// Whether new requests are recorded.
    pub fn records(&self) -> bool {
        self.mode.records()
    }

    /// Whether everything is recorded again.
    #[cfg(feature = "judge")]
    pub fn renews(&self) -> bool {
        self.mode == RecordMode::Record
    }

    pub fn experiment(&self) -> &Arc<ExperimentTraffic> {
        &self.experiment
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How well a conversation fits the item: the length of the longest text of the item that is in it. A whole message counts more
    /// than a part of one, which may be there by chance.
    pub fn overlap(&self, sent: &[&str]) -> (usize, usize) {
        let is_message = |text: &&String| sent.iter().any(|sent| sent.trim() == text.trim());
        let is_part =
            |text: &&String| text.len() >= MIN_PART && sent.iter().any(|sent| sent.contains(text.as_str()));
        let longest = |texts: &mut dyn Iterator<Item = &String>| texts.map(String::len).max().unwrap_or(0);
        (longest(&mut self.texts.iter().filter(is_message)), longest(&mut self.texts.iter().filter(is_part)))
    }

    /// Decides about a request of this trial. `body` is that of the request with its long texts.
    pub fn decide(&self, request: &RecordedRequest, body: &[u8]) -> Decision {
        let key = request.key(self.experiment.ignore());
        let mut state = self.lock();
        state.asked.add(request, self.experiment.ignore());
        if state.mode != Mode::Live {
            if let Some(found) = state.take_recorded(&key) {
                return Decision::Replay(found);
            }
            let difference = state.explain(request, body, self.run, &self.experiment);
            if state.mode == Mode::Replay {
                let problem = not_recorded(request, &difference);
                state.problem.get_or_insert_with(|| problem.clone());
                return Decision::Refuse(problem);
            }
            // What follows belongs to another conversation than the recorded one.
            state.mode = Mode::Live;
            if !state.recorded.is_empty() {
                state.traffic.diverged.get_or_insert(difference);
            }
        }
        state.traffic.live += 1;
        state.pending += 1;
        state.entries.push(Entry::Pending(key));
        Decision::Send(state.entries.len() - 1)
    }

    /// Answers a request from this trial's recording, if it is there; for a request that may belong to it.
    pub fn answer_if_recorded(&self, request: &RecordedRequest) -> Option<Arc<Interaction>> {
        let key = request.key(self.experiment.ignore());
        let mut state = self.lock();
        if state.mode == Mode::Live {
            return None;
        }
        let found = state.take_recorded(&key)?;
        state.asked.add(request, self.experiment.ignore());
        Some(found)
    }

    /// Notes that a request which may belong to this trial was refused.
    pub fn refuse(&self, problem: &str) {
        let mut state = self.lock();
        // An agent that has ended did not send it.
        if !state.is_closed {
            state.problem.get_or_insert_with(|| problem.to_owned());
        }
    }

    /// Notes that a request was not sent after all.
    pub fn withdraw(&self, entry: usize) {
        let mut state = self.lock();
        if let Some(key) = state.pending_key(entry) {
            state.traffic.live -= 1;
            state.end_request(entry, Entry::Lost(key));
        }
        drop(state);
        self.settled.notify_waiters();
    }

    /// Completes an entry; `None` if there was no response.
    pub fn complete(&self, entry: usize, interaction: Option<Interaction>, prices: &PriceTable) {
        let mut state = self.lock();
        let Some(key) = state.pending_key(entry) else { return };
        let completed = match interaction {
            Some(interaction) => {
                if let (Some(model), Some(tokens)) = (&interaction.model, interaction.tokens) {
                    state.traffic.live_cost += prices.estimate(model, tokens).unwrap_or(0.0);
                }
                Entry::Answered(Box::new(interaction))
            }
            None => Entry::Lost(key),
        };
        state.end_request(entry, completed);
        drop(state);
        self.settled.notify_waiters();
    }

    /// Counts a request as retried.
    pub fn count_retry(&self) {
        self.lock().traffic.retried += 1;
    }

    /// Counts a request as in flight, until it is dropped.
    pub fn in_flight(self: &Arc<Self>) -> InFlight {
        self.lock().waits.update(|waits| waits.in_flight += 1);
        InFlight { traffic: Arc::clone(self), is_waiting: false }
    }

    /// How long all requests have waited for limits and retries.
    pub fn waited(&self) -> Duration {
        self.lock().waits.total()
    }

    /// Whether a request was refused, which is an error of the item.
    pub fn has_problem(&self) -> bool {
        self.lock().problem.is_some()
    }

    /// Ends the agent's part: waits for responses that it no longer reads.
    pub async fn end_agent(&self, latency: Duration) -> AgentTraffic {
        // The agent no longer waits for what follows.
        let waited = self.lock().waits.total();
        let deadline = tokio::time::Instant::now() + SETTLE_TIMEOUT;
        loop {
            let settled = self.settled.notified();
            if self.lock().pending == 0 || tokio::time::timeout_at(deadline, settled).await.is_err() {
                break;
            }
        }
        let mut state = self.lock();
        state.is_closed = true;
        state.traffic.waited_ms = milliseconds(waited);
        let is_replayed = state.traffic.is_replayed();
        let own = milliseconds(latency.saturating_sub(waited));
        let recorded_latency = state.recorded_latency.filter(|_| is_replayed);
        if state.traffic.live > 0 {
            // What was replayed took no time.
            let replayed = state.entries.iter().map(|entry| match entry {
                Entry::Replayed(interaction) => interaction.latency_ms,
                _ => 0.0,
            });
            state.recorded_latency = Some(own + replayed.sum::<f64>());
        }
        AgentTraffic { recorded_latency, waited, problem: state.problem.clone() }
    }

    /// Ends the trial: writes what is new, and returns what to report. `outcome` is what became of the trial.
    pub fn end(&self, outcome: &Execution) -> Result<Option<Traffic>, String> {
        let mut state = self.lock();
        state.is_closed = true;
        let replayed = state.entries.iter().filter_map(|entry| match entry {
            Entry::Replayed(interaction) => interaction.recorded_at.or(state.recorded_at),
            _ => None,
        });
        let replayed = replayed.min();
        let written = if self.mode.records() { self.write(&mut state, outcome) } else { Ok(()) };
        let mut traffic = std::mem::take(&mut state.traffic);
        traffic.asked = std::mem::take(&mut state.asked).into_hashes();
        traffic.recorded_at = traffic.recorded_at.into_iter().chain(replayed).min();
        written?;
        Ok((traffic != Traffic::default()).then_some(traffic))
    }

    fn write(&self, state: &mut State, outcome: &Execution) -> Result<(), String> {
        let has_new = state.entries.iter().any(|entry| !matches!(entry, Entry::Replayed(_)));
        // An agent that sends nothing any more has no recording any more.
        let is_obsolete = self.mode == RecordMode::Record && state.entries.is_empty();
        if !has_new && !is_obsolete && state.new_judges.is_empty() {
            return Ok(());
        }
        let is_recorded = self.experiment.is_recorded(self.index, self.run);
        if let Some(reason) = state.incomplete(outcome, is_recorded, self.experiment.ignore()) {
            self.experiment.keep_recording((self.index, self.run), is_recorded, has_new, &reason);
            return Ok(());
        }
        let recorded_at = state.recorded_at;
        let trial = (has_new || is_obsolete).then(|| Trial {
            recorded_at: has_new.then(Timestamp::now),
            latency_ms: state.recorded_latency.filter(|_| has_new),
            interactions: state
                .entries
                .drain(..)
                .filter_map(|entry| entry.into_interaction(recorded_at))
                .collect(),
            judges: Vec::new(),
        });
        let used = state.judges.drain(..).filter(|(_, is_used)| *is_used).map(|(answer, _)| answer);
        let mut judges: Vec<_> = used.collect();
        judges.append(&mut state.new_judges);
        // An evaluator that failed may need its recorded answers the next time.
        let keeps_others = outcome.evaluations.iter().any(|(_, evaluation)| evaluation.error.is_some());
        self.experiment
            .write((self.index, self.run), trial, judges, keeps_others)
            .map_err(|error| error.to_string())
    }

    /// The judges' recorded answers to different questions, by their keys; `None` if one of them is not recorded. Each trial has its own
    /// answers, even to a question that is the same for all. If a question is asked several times, it has several answers, in their
    /// order; when these are used, the last one is shared.
    pub fn judge_answers(&self, keys: &[String], model: &str, is_chosen: bool) -> Option<Vec<JudgeAnswer>> {
        if !self.mode.replays() {
            return None;
        }
        let mut state = self.lock();
        let places: Vec<_> = keys
            .iter()
            .map(|key| {
                state
                    .judge_answer(key, Some(model))
                    .or_else(|| state.judge_answer(key, None).filter(|_| !is_chosen))
            })
            .collect::<Option<_>>()?;
        let mut answers = Vec::with_capacity(places.len());
        for place in places {
            let (answer, is_used) = &mut state.judges[place];
            let tokens = if std::mem::replace(is_used, true) { Tokens::default() } else { answer.tokens };
            answers.push(JudgeAnswer { tokens, ..answer.clone() });
        }
        state.traffic.replayed_judges += answers.len();
        let recorded = answers.iter().filter_map(|answer| answer.recorded_at);
        state.traffic.recorded_at = recorded.chain(state.traffic.recorded_at).min();
        Some(answers)
    }

    /// Keeps an answer of a judge.
    pub fn keep_judge_answer(&self, answer: JudgeAnswer, question: Value) {
        if !self.mode.records() {
            return;
        }
        let folder = self.experiment.folder();
        // Only people read the question: without it, the answer is as good.
        let question = Body::of(question.to_string().as_bytes(), &mut |data: &[u8]| folder.write_blob(data));
        self.lock().new_judges.push(JudgeAnswer { question: question.ok().flatten(), ..answer });
    }

    /// The error for a question that is not recorded, if questions must not be asked.
    pub fn refused_question(&self) -> Option<String> {
        let problem = "the judge's answer is not recorded; to record it, run with `COBALT_RECORD=auto`";
        (self.mode == RecordMode::Replay).then(|| problem.to_owned())
    }
}

impl State {
    fn take_recorded(&mut self, key: &RequestKey) -> Option<Arc<Interaction>> {
        let recorded = self.recorded.iter_mut().find(|recorded| !recorded.is_used && recorded.key == *key)?;
        recorded.is_used = true;
        let interaction = Arc::clone(&recorded.interaction);
        self.traffic.replayed += 1;
        self.entries.push(Entry::Replayed(Arc::clone(&interaction)));
        Some(interaction)
    }

    /// The key of a request that is not answered yet; `None` if the trial has ended.
    fn pending_key(&self, entry: usize) -> Option<RequestKey> {
        match self.entries.get(entry) {
            Some(Entry::Pending(key)) if !self.is_closed => Some(key.clone()),
            _ => None,
        }
    }

    fn end_request(&mut self, entry: usize, end: Entry) {
        self.pending -= 1;
        self.entries[entry] = end;
    }

    /// The place of the next answer to a question, or else of the last one; of one model or of any.
    fn judge_answer(&self, key: &str, model: Option<&str>) -> Option<usize> {
        let fits = |(answer, _): &(JudgeAnswer, bool)| {
            answer.key == key && model.is_none_or(|model| answer.model == model)
        };
        let next = self.judges.iter().position(|recorded| !recorded.1 && fits(recorded));
        next.or_else(|| self.judges.iter().rposition(fits))
    }

    /// Why the trial must not be recorded; `None` if it is complete. `is_recorded`: whether it would replace a recording.
    fn incomplete(&self, outcome: &Execution, is_recorded: bool, ignore: &[String]) -> Option<String> {
        // An agent that succeeds in spite of them has seen all that it needs.
        let failures = if outcome.status == Status::Ok { Vec::new() } else { self.failures(ignore) };
        if let Some(status) = failures.iter().find(|status| refuses_key(**status)) {
            return Some(format!("the provider does not accept the key (status {status})"));
        }
        if let Some(status) = failures.first().filter(|_| is_recorded) {
            return Some(format!("the provider could not answer (status {status})"));
        }
        if outcome.status == Status::Timeout {
            return Some("the agent timed out".to_owned());
        }
        if self.problem.is_some() {
            return Some("a request was refused".to_owned());
        }
        // A client may have sent it again.
        let is_answered_later = |at: usize, key: &RequestKey| {
            self.entries[at + 1..]
                .iter()
                .filter_map(Entry::interaction)
                .any(|it| it.request.key(ignore) == *key)
        };
        let is_unanswered = |(at, entry): (usize, &Entry)| match entry {
            Entry::Pending(key) | Entry::Lost(key) => !is_answered_later(at, key),
            Entry::Replayed(_) | Entry::Answered(_) => false,
        };
        if self.entries.iter().enumerate().any(is_unanswered) {
            return Some("a request was not answered".to_owned());
        }
        let is_unsent = self.entries.is_empty() && outcome.status != Status::Ok;
        is_unsent.then(|| "the agent failed before it sent anything".to_owned())
    }

    /// The statuses of new responses that are no answers, unless the client has sent the request again and got one.
    fn failures(&self, ignore: &[String]) -> Vec<u16> {
        let is_failure = |status| refuses_key(status) || could_not_answer(status);
        let mut answered = HashSet::new();
        let mut failures = Vec::new();
        for entry in self.entries.iter().rev() {
            let Some(interaction) = entry.interaction() else { continue };
            let (status, key) = (interaction.response.status, interaction.request.key(ignore));
            if !is_failure(status) {
                answered.insert(key);
            } else if matches!(entry, Entry::Answered(_)) && !answered.contains(&key) {
                failures.push(status);
            }
        }
        failures
    }

    /// Why a request is not recorded.
    fn explain(
        &self,
        request: &RecordedRequest,
        body: &[u8],
        run: usize,
        experiment: &ExperimentTraffic,
    ) -> String {
        if self.recorded.is_empty() {
            return match run {
                0 => "the item has no recording".to_owned(),
                run => format!("the item has no recording of trial {}", run + 1),
            };
        }
        let left = || self.recorded.iter().filter(|recorded| !recorded.is_used);
        if left().next().is_none() {
            let number = self.recorded.len();
            return format!("the recording has {}, and this is one more", count(number, "request"));
        }
        let numbers: HashMap<_, _> = self
            .recorded
            .iter()
            .enumerate()
            .map(|(at, recorded)| (Arc::as_ptr(&recorded.interaction), at))
            .collect();
        let Some((interaction, differences)) =
            nearest(left().map(|recorded| &*recorded.interaction), request, experiment.ignore())
        else {
            return String::new();
        };
        let read = |hash: &str| experiment.folder().read_blob(hash);
        let in_full = differences_in_full(&interaction.request, (request, body), &read, experiment.ignore());
        let differences = in_full.unwrap_or(differences);
        let number = numbers.get(&std::ptr::from_ref(interaction)).map_or(0, |at| at + 1);
        let mut texts: Vec<_> = differences.iter().take(MAX_DIFFERENCES).map(ToString::to_string).collect();
        if differences.len() > MAX_DIFFERENCES {
            texts.push(format!("and {} more", differences.len() - MAX_DIFFERENCES));
        }
        format!("the nearest recorded request, number {number}, differs in {}", texts.join("; "))
    }
}

impl Entry {
    fn interaction(&self) -> Option<&Interaction> {
        match self {
            Self::Replayed(interaction) => Some(interaction),
            Self::Answered(interaction) => Some(interaction),
            Self::Pending(_) | Self::Lost(_) => None,
        }
    }

    /// The interaction to write. `recorded_at` is when those were recorded that are kept.
    fn into_interaction(self, recorded_at: Option<Timestamp>) -> Option<Interaction> {
        match self {
            Self::Replayed(interaction) => {
                let kept = Arc::unwrap_or_clone(interaction);
                Some(Interaction { recorded_at: kept.recorded_at.or(recorded_at), ..kept })
            }
            Self::Answered(interaction) => Some(*interaction),
            Self::Pending(_) | Self::Lost(_) => None,
        }
    }
}

/// A request in flight.
#[derive(Debug)]
pub struct InFlight {
    traffic: Arc<ExecutionTraffic>,
    is_waiting: bool,
}

impl InFlight {
    /// Sets whether it waits for a limit or a retry.
    pub fn set_waiting(&mut self, is_waiting: bool) {
        if self.is_waiting == is_waiting {
            return;
        }
        self.is_waiting = is_waiting;
        self.traffic.lock().waits.update(|waits| {
            waits.waiting = if is_waiting { waits.waiting + 1 } else { waits.waiting - 1 };
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.set_waiting(false);
        self.traffic.lock().waits.update(|waits| waits.in_flight -= 1);
    }
}

/// The error for a request that is not recorded. Without the item's name, so the same difference is one error of many items.
fn not_recorded(RecordedRequest { method, path, .. }: &RecordedRequest, difference: &str) -> String {
    format!(
        "not recorded: {method} {path}; {difference}; to record what is new, run with `COBALT_RECORD=auto`"
    )
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// The shortest part of a message that can attribute a request, in bytes.
const MIN_PART: usize = 8;

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}
