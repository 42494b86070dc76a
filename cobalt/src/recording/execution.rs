//! The model traffic of one trial: what is answered from its recording, and what is new.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::item::Item;
use cobalt_core::prices::PriceTable;
use cobalt_core::recordings::{
    Body, Cassette, Interaction, JudgeAnswer, RecordedRequest, RequestKey, Trial, nearest,
};
use cobalt_core::report::Traffic;
use cobalt_core::timestamp::Timestamp;
use serde_json::Value;
use tokio::sync::Notify;

use super::asked::AskedMessages;
use super::experiment::ExperimentTraffic;
use super::settings::RecordMode;

/// How long the end of a trial waits for responses that the agent no longer reads.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of differences that an error lists.
const MAX_DIFFERENCES: usize = 3;

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
    /// The judges' recorded answers of the item.
    judges: Vec<JudgeAnswer>,
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
    Pending,
    Answered(Box<Interaction>),
    /// Sent, and never answered.
    Lost,
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
        if let Some(cassette) = cassette.filter(|_| mode != Mode::Live) {
            state.judges.clone_from(&cassette.judges);
            if let Some(trial) = cassette.trials.get(run) {
                state.recorded_at = trial.recorded_at;
                state.recorded_latency = trial.latency_ms;
                let recorded = |interaction: &Interaction| Recorded {
                    key: interaction.request.key(experiment.ignore()),
                    interaction: Arc::new(interaction.clone()),
                    is_used: false,
                };
                state.recorded = trial.interactions.iter().map(recorded).collect();
            }
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

    /// Whether new requests are recorded.
    pub fn records(&self) -> bool {
        self.mode.records()
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

    /// Decides about a request of this trial.
    pub fn decide(&self, request: &RecordedRequest) -> Decision {
        let key = request.key(self.experiment.ignore());
        let mut state = self.lock();
        state.asked.add(request);
        if state.mode != Mode::Live {
            if let Some(found) = state.take_recorded(&key) {
                return Decision::Replay(found);
            }
            let difference = state.explain(request, self.run);
            if state.mode == Mode::Replay {
                let problem = self.not_recorded(request, &difference);
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
        state.entries.push(Entry::Pending);
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
        state.asked.add(request);
        Some(found)
    }

    /// Notes that a request which may belong to this trial was refused.
    pub fn refuse(&self, problem: &str) {
        self.lock().problem.get_or_insert_with(|| problem.to_owned());
    }

    /// The error for a request that is not recorded.
    fn not_recorded(&self, request: &RecordedRequest, difference: &str) -> String {
        let RecordedRequest { method, path, .. } = request;
        let cassette = self.experiment.cassette_for_display(self.index);
        format!(
            "not recorded: {method} {path} of `{cassette}`; {difference}. To record the new part, run with \
             `COBALT_RECORD=auto`; to record everything again, with `COBALT_RECORD=record`"
        )
    }

    /// Completes an entry; `None` if there was no response.
    pub fn complete(&self, entry: usize, interaction: Option<Interaction>, prices: &PriceTable) {
        let mut state = self.lock();
        if !matches!(state.entries.get(entry), Some(Entry::Pending)) || state.is_closed {
            return;
        }
        state.pending -= 1;
        state.entries[entry] = match interaction {
            Some(interaction) => {
                if let (Some(model), Some(tokens)) = (&interaction.model, interaction.tokens) {
                    state.traffic.live_cost += prices.estimate(model, tokens).unwrap_or(0.0);
                }
                Entry::Answered(Box::new(interaction))
            }
            None => Entry::Lost,
        };
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
        let deadline = tokio::time::Instant::now() + SETTLE_TIMEOUT;
        loop {
            let settled = self.settled.notified();
            if self.lock().pending == 0 || tokio::time::timeout_at(deadline, settled).await.is_err() {
                break;
            }
        }
        let mut state = self.lock();
        state.is_closed = true;
        let waited = state.waits.total();
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

    /// Ends the trial: writes what is new, and returns what to report.
    pub fn end(&self) -> Result<Option<Traffic>, String> {
        let mut state = self.lock();
        state.is_closed = true;
        let written = if self.mode.records() { self.write(&mut state) } else { Ok(()) };
        let mut traffic = std::mem::take(&mut state.traffic);
        traffic.asked = std::mem::take(&mut state.asked).into_hashes();
        if traffic.replayed > 0 || traffic.replayed_judges > 0 {
            traffic.recorded_at = traffic.recorded_at.or(state.recorded_at);
        }
        written?;
        Ok((traffic != Traffic::default()).then_some(traffic))
    }

    fn write(&self, state: &mut State) -> Result<(), String> {
        let has_new = state.entries.iter().any(|entry| matches!(entry, Entry::Answered(_)));
        // An agent that sends nothing any more has no recording any more.
        let is_obsolete = self.mode == RecordMode::Record && state.entries.is_empty();
        if !has_new && !is_obsolete && state.new_judges.is_empty() {
            return Ok(());
        }
        let trial = (has_new || is_obsolete).then(|| Trial {
            recorded_at: has_new.then(Timestamp::now),
            latency_ms: state.recorded_latency.filter(|_| has_new),
            interactions: state.entries.drain(..).filter_map(Entry::into_interaction).collect(),
        });
        let judges = std::mem::take(&mut state.new_judges);
        self.experiment
            .write((self.index, self.run), self.mode, trial, judges)
            .map_err(|error| error.to_string())
    }

    /// The judges' part of this trial.
    pub fn judge_answer(&self, key: &str, model: &str, is_chosen: bool) -> Option<JudgeAnswer> {
        if !self.mode.replays() {
            return None;
        }
        let fits = |answer: &&JudgeAnswer| answer.key == key && (answer.model == model || !is_chosen);
        let own = self.lock().judges.iter().find(fits).cloned();
        let answer = own.or_else(|| self.experiment.judge_answer_of_other_item(key, model, is_chosen))?;
        let mut state = self.lock();
        state.traffic.replayed_judges += 1;
        let recorded = state.traffic.recorded_at;
        state.traffic.recorded_at = recorded.into_iter().chain(answer.recorded_at).min();
        Some(answer)
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
        (self.mode == RecordMode::Replay).then(|| {
            format!(
                "the judge's answer is not recorded in `{}`; to record it, run with `COBALT_RECORD=auto`",
                self.experiment.cassette_for_display(self.index)
            )
        })
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

    /// Why a request is not recorded.
    fn explain(&self, request: &RecordedRequest, run: usize) -> String {
        if self.recorded.is_empty() {
            return match run {
                0 => "the item has no recording".to_owned(),
                run => format!("the item has no recording of trial {}", run + 1),
            };
        }
        let left = || self.recorded.iter().filter(|recorded| !recorded.is_used);
        if left().next().is_none() {
            let number = self.recorded.len();
            return format!("all {number} recorded requests are used, and this is one more");
        }
        let numbers: HashMap<_, _> = self
            .recorded
            .iter()
            .enumerate()
            .map(|(at, recorded)| (Arc::as_ptr(&recorded.interaction), at))
            .collect();
        let Some((interaction, differences)) =
            nearest(left().map(|recorded| &*recorded.interaction), request)
        else {
            return String::new();
        };
        let number = numbers.get(&std::ptr::from_ref(interaction)).map_or(0, |at| at + 1);
        let mut texts: Vec<_> = differences.iter().take(MAX_DIFFERENCES).map(ToString::to_string).collect();
        if differences.len() > MAX_DIFFERENCES {
            texts.push(format!("and {} more", differences.len() - MAX_DIFFERENCES));
        }
        format!("the nearest recorded request, number {number}, differs in {}", texts.join("; "))
    }
}

impl Entry {
    fn into_interaction(self) -> Option<Interaction> {
        match self {
            Self::Replayed(interaction) => Some(Arc::unwrap_or_clone(interaction)),
            Self::Answered(interaction) => Some(*interaction),
            Self::Pending | Self::Lost => None,
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
