//! The model traffic of one trial: what is answered from its recording, and what is new.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cobalt_core::duration::milliseconds;
use cobalt_core::prices::Tokens;
use cobalt_core::recordings::{
    Addition, Body, Cassette, Interaction, JudgeAnswer, RecordedRequest, RecordingError, RecordingFolder,
    RequestKey, Trial,
};
use cobalt_core::report::{Execution, Status, Traffic};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::trace::GatewayCall;
use cobalt_core::wording::count;
use serde_json::Value;
use tokio::sync::Notify;

use super::asked::AskedMessages;
use super::experiment::{ExperimentTraffic, REMEDY};
use super::lock::lock;
use super::settings::{RECORD_VARIABLE, RecordMode};
use super::shared_request::SharedRequest;
use super::status::is_answer;
use super::tool_decision::ToolDecision;
use super::trial_requests::TrialRequests;
use super::trial_tools::{TrialTools, outcome_of, stored_call};
use crate::budget::Account;
use crate::log;

/// How long the end of an attempt waits for responses that the agent no longer reads.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// Its recording before it started.
    recorded: Option<Trial>,
    account: Account,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    requests: TrialRequests,
    tools: TrialTools,
    recorded_latency: Option<f64>,
    /// The judges' recorded answers of the trial, and whether each was used.
    judges: Vec<(JudgeAnswer, bool)>,
    asked: AskedMessages,
    traffic: Traffic,
    /// Whether the gateway saw a request that it sent, or may have sent.
    has_sent: bool,
    /// Why a request was refused.
    problem: Option<String>,
    /// New answers of judges.
    new_judges: Vec<JudgeAnswer>,
    waits: Waits,
    /// What was sent or replayed since the last attempt of the agent.
    calls: Vec<GatewayCall>,
    /// Requests that may be its own, which cannot be known.
    unattributed: Vec<(RequestKey, Arc<SharedRequest>)>,
    /// The identifiers of the responses and tool calls that models answered.
    answer_ids: HashSet<String>,
    is_closed: bool,
    /// Whether the recording has requests that were answered during the trial.
    is_kept_so_far: bool,
    /// Whether it failed because the budget is used up.
    is_over_budget: bool,
    /// Whether everything is written.
    is_ended: bool,
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
    /// Why a request was refused: an error of the item.
    pub problem: Option<String>,
    /// Whether requests may be the agent's that could not be attributed.
    pub is_incomplete: bool,
}

impl ExecutionTraffic {
    pub fn new(
        experiment: Arc<ExperimentTraffic>,
        token: Arc<str>,
        (index, run): (usize, usize),
        (record_mode, cassette): (RecordMode, Option<&Cassette>),
        account: Account,
    ) -> Self {
        let mode = match record_mode {
            RecordMode::Off | RecordMode::Record => Mode::Live,
            RecordMode::Replay => Mode::Replay,
            RecordMode::Auto => Mode::ReplayUntilDiverged,
        };
        let mut state = State { mode, ..State::default() };
        let recorded = cassette.and_then(|cassette| cassette.trial(run)).cloned();
        if let Some(trial) = recorded.as_ref().filter(|_| mode != Mode::Live) {
            state.requests = TrialRequests::of(trial, experiment.ignore());
            state.tools = TrialTools::of(trial);
            state.recorded_latency = trial.latency_ms;
            state.judges = trial.judges.iter().map(|answer| (answer.clone(), false)).collect();
        }
        Self {
            token,
            experiment,
            index,
            run,
            mode: record_mode,
            recorded,
            account,
            state: Mutex::new(state),
            settled: Notify::new(),
        }
    }

    pub fn token(&self) -> &Arc<str> {
        &self.token
    }

    /// Whether its agent is still running.
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
        lock(&self.state)
    }

    /// Decides about a request of this trial. `body` is that of the request with its long texts.
    pub fn decide(&self, request: &RecordedRequest, body: &[u8]) -> Decision {
        let key = request.key(self.experiment.ignore());
        let mut state = self.lock();
        state.has_sent = true;
        state.asked.add(request, self.experiment.ignore());
        if state.mode != Mode::Live {
            let ignore = self.experiment.ignore();
            let folder = self.experiment.folder();
            let found = state.replay(&key, request, folder, ignore).or_else(|| {
                // A long text is compared as a whole.
                let is_long = request.body.as_ref().is_some_and(Body::has_blob);
                let in_full = || RecordedRequest { body: Body::of_request_in_full(body), ..request.clone() };
                is_long.then(|| state.replay(&key, &in_full(), folder, ignore)).flatten()
            });
            if let Some(found) = found {
                log::debug!(
                    experiment = self.experiment.name(),
                    item = self.item_key(),
                    trial = self.run,
                    method = request.method,
                    path = without_query(&request.path),
                    status = found.response.status,
                    liberty = self.liberty(&found, &key),
                    "answered from the recording"
                );
                return Decision::Replay(found);
            }
            let difference = state.requests.explain(
                request,
                body,
                self.run,
                self.experiment.folder(),
                self.experiment.ignore(),
            );
            log::debug!(
                experiment = self.experiment.name(),
                item = self.item_key(),
                trial = self.run,
                method = request.method,
                path = without_query(&request.path),
                refused = state.mode == Mode::Replay,
                "matches no recorded request"
            );
            if state.mode == Mode::Replay {
                let problem = not_recorded(request, &difference);
                state.problem.get_or_insert_with(|| problem.clone());
                return Decision::Refuse(problem);
            }
            // What follows belongs to another conversation than the recorded one.
            state.mode = Mode::Live;
            if state.requests.has_recording() && !self.is_partly_recorded() {
                state.traffic.diverged.get_or_insert(difference);
            }
        }
        state.traffic.live += 1;
        log::debug!(
            experiment = self.experiment.name(),
            item = self.item_key(),
            trial = self.run,
            method = request.method,
            path = without_query(&request.path),
            mode = self.mode,
            "sends the request"
        );
        Decision::Send(state.requests.send(key))
    }

    fn item_key(&self) -> &str {
        self.experiment.item_key(self.index)
    }

    /// In what a request may differ from the recorded one that answers it.
    fn liberty(&self, found: &Interaction, key: &RequestKey) -> &'static str {
        let is_equal = found.request.key(self.experiment.ignore()) == *key;
        if is_equal { "none" } else { "redacted secrets" }
    }

    /// Answers a request from this trial's recording, if it is there; for a request that may belong to it.
    pub fn answer_if_recorded(&self, request: &RecordedRequest) -> Option<Arc<Interaction>> {
        let key = request.key(self.experiment.ignore());
        let mut state = self.lock();
        if state.mode == Mode::Live {
            return None;
        }
        let folder = self.experiment.folder();
        let found = state.replay(&key, request, folder, self.experiment.ignore())?;
        log::debug!(
            experiment = self.experiment.name(),
            item = self.item_key(),
            trial = self.run,
            path = without_query(&request.path),
            status = found.response.status,
            liberty = self.liberty(&found, &key),
            "answered a request without a token from the recording"
        );
        state.has_sent = true;
        state.asked.add(request, self.experiment.ignore());
        Some(found)
    }

    /// Notes that the gateway saw a request that this trial may have sent.
    pub fn note_request(&self) {
        self.lock().has_sent = true;
    }

    /// Notes that a request which may belong to this trial was refused.
    pub fn refuse(&self, problem: &str) {
        let mut state = self.lock();
        // An agent that has ended did not send it.
        if !state.is_closed {
            state.problem.get_or_insert_with(|| problem.to_owned());
        }
    }

    /// Notes that it failed because the budget is used up: what was answered is kept for the next run, which sends the rest.
    pub fn note_spent_budget(&self) {
        self.lock().is_over_budget = true;
    }

    /// Where payments for its requests are noted.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Whether its recording is that of a trial which was not finished.
    fn is_partly_recorded(&self) -> bool {
        self.recorded.as_ref().is_some_and(|trial| trial.partial)
    }

    /// Notes that a request was not sent after all.
    pub fn withdraw(&self, entry: usize) {
        self.end_request(entry, None, |traffic| traffic.live -= 1);
    }

    /// Notes that a request got no response.
    pub fn give_up(&self, entry: usize) {
        self.end_request(entry, None, |_| {});
    }

    /// Notes that the provider of a request could not be reached. In a mode that records, that is an error of the item, unless the same
    /// request is answered later.
    pub fn fail_to_send(&self, entry: usize, problem: &str) {
        self.lock().requests.fail(entry, problem);
        self.settled.notify_waiters();
    }

    /// Completes an entry with its response, whose cost is in USD.
    pub fn complete(&self, entry: usize, interaction: Interaction, cost: f64) {
        let is_kept = self.mode.records() && interaction.response.status < 400;
        let kept =
            is_kept.then(|| Interaction { recorded_at: Some(Timestamp::now()), ..interaction.clone() });
        let mut state = self.lock();
        let is_completed = state.end_request(entry, Some(interaction), |traffic| traffic.live_cost += cost);
        if is_completed && let Some(interaction) = kept {
            let addition = Addition { run: self.run, interaction: Some(interaction), judge: None };
            self.write_so_far(&mut state, addition);
        }
        drop(state);
        self.settled.notify_waiters();
    }

    /// Writes what was answered so far, so that a process which is killed loses nothing that was paid for. `latest` is the last answer.
    fn write_so_far(&self, state: &mut State, latest: Addition) {
        if !self.mode.records() || state.is_ended {
            return;
        }
        let written = if state.is_kept_so_far {
            self.experiment.add_so_far(self.index, latest)
        } else {
            self.write_all_so_far(state)
        };
        match written {
            Ok(()) => state.is_kept_so_far = true,
            // The end of the trial writes it again, and fails the item if that is impossible.
            Err(error) => self.experiment.fail_to_write(&error),
        }
    }

    fn write_all_so_far(&self, state: &State) -> Result<(), RecordingError> {
        let before = self.recorded.clone().unwrap_or_else(|| Trial { partial: true, ..Trial::default() });
        let so_far = state.requests.interactions_so_far();
        let interactions: Vec<_> = match self.mode {
            // Nothing was replayed. Until everything is recorded again, the earlier conversation is the one that is replayed.
            RecordMode::Record => before.interactions.iter().cloned().chain(so_far).collect(),
            _ => so_far,
        };
        let new_judges = state.new_judges.iter().cloned();
        let judges = before.judges.iter().cloned().chain(new_judges).collect();
        let now = (!interactions.is_empty()).then(Timestamp::now);
        let trial = Trial { recorded_at: before.recorded_at.or(now), interactions, judges, ..before };
        self.experiment.write_so_far((self.index, self.run), trial)
    }

    /// Restores the recording as it was before the trial.
    fn restore(&self) -> Result<(), String> {
        let before = self.recorded.clone().unwrap_or_default();
        self.experiment.write_so_far((self.index, self.run), before).map_err(|error| error.to_string())
    }

    fn end_request(&self, entry: usize, interaction: Option<Interaction>, count: impl FnOnce(&mut Traffic)) {
        self.lock().end_request(entry, interaction, count);
        self.settled.notify_waiters();
    }

    /// Counts a request as retried.
    pub fn count_retry(&self) {
        self.lock().traffic.retried += 1;
    }

    /// Adds a request with its response to the trace.
    pub fn add_call(&self, call: Option<GatewayCall>) {
        let mut state = self.lock();
        if !state.is_closed {
            for call in call.iter() {
                let ids = call.requested.iter().filter_map(|requested| requested.id.clone());
                state.answer_ids.extend(ids.chain(call.model.response_id.clone()));
            }
            state.calls.extend(call);
        }
    }

    /// Those of these texts that are identifiers of responses or tool calls that models answered to this trial, each once.
    pub fn answer_ids<'a>(&self, texts: &[&'a str]) -> HashSet<&'a str> {
        let state = self.lock();
        texts.iter().copied().filter(|text| state.answer_ids.contains(*text)).collect()
    }

    /// Notes that a request may be one of this trial, which cannot be known.
    pub fn note_unattributed(&self, request: &Arc<SharedRequest>) {
        let mut state = self.lock();
        if !state.is_closed {
            let key = request.request.key(self.experiment.ignore());
            state.unattributed.push((key, Arc::clone(request)));
        }
    }

    /// Notes that a request was answered which may be one of this trial.
    pub fn note_answer(&self, request: &RecordedRequest) {
        let state = self.lock();
        if !state.unattributed.is_empty() {
            state.note_answer(&request.key(self.experiment.ignore()));
        }
    }

    /// Whether the recording lacks a request that is to be answered from it.
    pub fn lacks(&self, request: &RecordedRequest) -> bool {
        let state = self.lock();
        let ignore = self.experiment.ignore();
        let has = |key| state.requests.has(key, request, self.experiment.folder(), ignore);
        state.mode != Mode::Live && !has(&request.key(ignore))
    }

    /// Makes an answer to a request part of the recording.
    pub fn adopt(&self, request: &RecordedRequest, interaction: Interaction) {
        self.lock().requests.adopt(request.key(self.experiment.ignore()), interaction);
    }

    /// Takes the requests of an attempt, for its trace.
    pub fn take_calls(&self) -> Vec<GatewayCall> {
        std::mem::take(&mut self.lock().calls)
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

    /// Waits for responses that the agent no longer reads.
    pub async fn settle(&self) {
        let deadline = tokio::time::Instant::now() + SETTLE_TIMEOUT;
        loop {
            let settled = self.settled.notified();
            if !self.lock().requests.has_pending()
                || tokio::time::timeout_at(deadline, settled).await.is_err()
            {
                break;
            }
        }
    }

    /// Whether its agent has sent a request.
    pub fn has_sent(&self) -> bool {
        self.lock().has_sent
    }

    /// Notes the error of the agent: all agents of the experiment may fail for lack of a key.
    pub fn note_error(&self, error: &str) {
        if self.mode.records() && !self.has_sent() {
            self.experiment.note_agent_error(error);
        }
    }

    /// Ends the agent's part: waits for responses that it no longer reads.
    pub async fn end_agent(&self, latency: Duration) -> AgentTraffic {
        // The agent no longer waits for what follows.
        let waited = self.waited();
        self.settle().await;
        let mut state = self.lock();
        state.is_closed = true;
        state.traffic.waited_ms = milliseconds(waited);
        let is_replayed = state.traffic.is_replayed() && !state.tools.has_new();
        let own = milliseconds(latency.saturating_sub(waited));
        let recorded_latency = state.recorded_latency.filter(|_| is_replayed);
        if state.traffic.live > 0 || state.tools.has_new() {
            // What was replayed took no time.
            let replayed = state.requests.replayed_latency() + state.tools.replayed_latency();
            state.recorded_latency = Some(own + replayed);
        }
        let left = state.unattributed.iter().filter(|(_, request)| !request.is_repeated()).count();
        state.traffic.unattributed = left;
        let unreachable = || state.requests.unreachable().map(str::to_owned).or_else(|| state.unreachable());
        let problem = state.problem.clone().or_else(|| unreachable().filter(|_| self.mode.records()));
        let is_incomplete = state.traffic.unattributed > 0;
        AgentTraffic { recorded_latency, waited, problem, is_incomplete }
    }

    /// Why the result of an agent does not count: its requests should have passed through the gateway, and none did. Where requests may
    /// be sent, outside of CI, it is only a warning. `uses_model`: whether the agent shows that it asked a model; `has_output`: whether
    /// it gave an output.
    pub fn check_requests(&self, uses_model: bool, has_output: bool) -> Option<String> {
        let state = self.lock();
        if self.mode == RecordMode::Off || state.has_sent || !(uses_model || has_output) {
            return None;
        }
        // A simulated user's answers are recorded by now, and those of judges are not.
        let has_user = !state.new_judges.is_empty() || state.judges.iter().any(|(_, is_used)| *is_used);
        let is_unused = state.tools.is_empty() && !has_user;
        let recorded = state.requests.number_recorded();
        let problem = match recorded {
            _ if uses_model => "the agent asked a model, but sent no request through the gateway".to_owned(),
            0 if self.experiment.needs_requests() => {
                "the agent sent no request through the gateway".to_owned()
            }
            0 => return None,
            recorded => {
                let requests = count(recorded, "request");
                format!("the recording has {requests}, but the agent sent none through the gateway")
            }
        };
        let is_error = uses_model || recorded > 0 || is_unused;
        if is_error && (self.mode == RecordMode::Replay || self.experiment.is_ci()) {
            return Some(format!("{problem}; {REMEDY}"));
        }
        self.experiment.note_unseen(self.index);
        None
    }

    /// Ends the trial: writes what is new, and returns what to report. `outcome` is the result of the trial.
    pub fn end(&self, outcome: &Execution) -> Result<Option<Traffic>, String> {
        let mut state = self.lock();
        (state.is_closed, state.is_ended) = (true, true);
        let replayed = [state.requests.replayed_since(), state.tools.replayed_since()].into_iter().flatten();
        let replayed = replayed.min();
        let written = if self.mode.records() { self.write(&mut state, outcome) } else { Ok(()) };
        let mut traffic = std::mem::take(&mut state.traffic);
        traffic.asked = std::mem::take(&mut state.asked).into_hashes();
        traffic.recorded_at = traffic.recorded_at.into_iter().chain(replayed).min();
        written?;
        Ok((traffic != Traffic::default()).then_some(traffic))
    }

    fn write(&self, state: &mut State, outcome: &Execution) -> Result<(), String> {
        let has_new = state.requests.has_new() || state.tools.has_new() || self.is_partly_recorded();
        let is_unused = state.requests.is_empty() && state.tools.is_empty();
        // An agent that sends nothing any more has no recording any more.
        let is_obsolete = self.mode == RecordMode::Record && is_unused;
        if !has_new && !is_obsolete && state.new_judges.is_empty() {
            return Ok(());
        }
        let is_recorded = self.experiment.is_recorded(self.index, self.run);
        // A request that may be one of several trials counts, too.
        let is_refused = state.problem.is_some() || state.unreachable().is_some();
        let incomplete = state.requests.incomplete(outcome, is_refused, is_recorded);
        let unpaid = || state.is_over_budget.then(|| "the budget was used up".to_owned());
        if let Some(reason) = incomplete.or_else(|| unsent(is_unused, outcome)).or_else(unpaid) {
            log::warn!(
                experiment = self.experiment.name(),
                item = self.item_key(),
                trial = self.run,
                reason = reason,
                "does not record the trial"
            );
            let (is_kept, id) = (state.is_kept_so_far && state.is_over_budget, (self.index, self.run));
            self.experiment.note_unrecorded(id, is_recorded, (has_new, is_kept), &reason);
            return if is_kept {
                self.write_all_so_far(state).map_err(|error| error.to_string())
            } else if state.is_kept_so_far {
                self.restore()
            } else {
                Ok(())
            };
        }
        let trial = if has_new || is_obsolete {
            Some(Trial {
                partial: false,
                recorded_at: has_new.then(Timestamp::now),
                latency_ms: state.recorded_latency.filter(|_| has_new),
                interactions: state.requests.take_interactions(),
                judges: Vec::new(),
                tools: state.tools.take(),
            })
        } else {
            state.is_kept_so_far.then(|| self.recorded.clone().unwrap_or_default())
        };
        log::debug!(
            experiment = self.experiment.name(),
            item = self.item_key(),
            trial = self.run,
            requests = trial.as_ref().map_or(0, |trial| trial.interactions.len()),
            new_judge_answers = state.new_judges.len(),
            "writes the recording"
        );
        let used = state.judges.drain(..).filter(|(_, is_used)| *is_used).map(|(answer, _)| answer);
        let mut judges: Vec<_> = used.collect();
        judges.append(&mut state.new_judges);
        // An evaluator that failed may need its recorded answers the next time.
        let keeps_others = outcome.evaluations.iter().any(|(_, evaluation)| evaluation.error.is_some());
        self.experiment
            .write((self.index, self.run), trial, judges, keeps_others)
            .inspect_err(|error| self.experiment.fail_to_write(error))
            .map_err(|error| error.to_string())
    }

    /// Decides about a call of a tool.
    pub fn decide_tool(&self, tool: &str, arguments: &Value) -> ToolDecision {
        let mut state = self.lock();
        if state.mode == Mode::Live {
            return ToolDecision::Call;
        }
        let problem = match state.tools.replay(tool, arguments) {
            Some(call) => match outcome_of(&call, self.experiment.folder()) {
                Ok(outcome) => {
                    state.traffic.replayed_tools += 1;
                    log::debug!(
                        experiment = self.experiment.name(),
                        item = self.item_key(),
                        trial = self.run,
                        tool = tool,
                        "answered the tool call from the recording"
                    );
                    return ToolDecision::Replay(outcome);
                }
                Err(error) => format!("the recorded result of the tool `{tool}` cannot be read: {error}"),
            },
            // The conversation may still be the recorded one: its next request tells.
            None if state.mode == Mode::ReplayUntilDiverged => return ToolDecision::Call,
            None => {
                let reason = state.tools.explain(tool, self.run);
                format!(
                    "not recorded: a call of the tool `{tool}`; {reason}; to record what is new, run with `{RECORD_VARIABLE}=auto`"
                )
            }
        };
        log::debug!(
            experiment = self.experiment.name(),
            item = self.item_key(),
            trial = self.run,
            tool = tool,
            "refuses a tool call that is not recorded"
        );
        if !state.is_closed {
            state.problem.get_or_insert_with(|| problem.clone());
        }
        ToolDecision::Refuse(problem)
    }

    /// Keeps the result of a call, or the tool's error.
    pub fn keep_tool_result(
        &self,
        call: (&str, usize),
        arguments: &Value,
        outcome: &Result<Value, String>,
        latency: Duration,
    ) {
        if !self.mode.records() {
            return;
        }
        let stored = stored_call(call, arguments, outcome, milliseconds(latency), self.experiment.folder());
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        match stored {
            Ok(stored) => state.tools.add(stored),
            Err(error) => {
                let problem = format!("the result of the tool `{}` cannot be recorded: {error}", call.0);
                self.experiment.fail_to_write(&problem);
                state.problem.get_or_insert(problem);
            }
        }
    }

    /// Notes that a fault hid the result of a call from the agent.
    pub fn hide_tool_result(&self, tool: &str, arguments: &Value) {
        self.lock().tools.hide(tool, arguments);
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
        log::debug!(
            experiment = self.experiment.name(),
            item = self.item_key(),
            trial = self.run,
            model = model,
            answers = answers.len(),
            "answered the judge's question from the recording"
        );
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
        let mut state = self.lock();
        let answer = JudgeAnswer { question: question.ok().flatten(), ..answer };
        state.new_judges.push(answer.clone());
        self.write_so_far(&mut state, Addition { run: self.run, interaction: None, judge: Some(answer) });
    }

    /// The error for a question that is not recorded, if questions must not be asked.
    pub fn refused_question(&self) -> Option<String> {
        (self.mode == RecordMode::Replay).then(|| {
            format!("the judge's answer is not recorded; to record it, run with `{RECORD_VARIABLE}=auto`")
        })
    }
}

/// Why a trial must not be recorded that has neither sent anything nor called a tool.
fn unsent(is_unused: bool, outcome: &Execution) -> Option<String> {
    (is_unused && outcome.status != Status::Ok).then(|| "the agent failed before it sent anything".to_owned())
}

impl State {
    /// Why the provider could not be reached for a request that may be one of several trials.
    fn unreachable(&self) -> Option<String> {
        self.unattributed.iter().find_map(|(_, request)| request.unreachable())
    }

    /// Ends a request. Returns whether the trial still waited for it.
    fn end_request(
        &mut self,
        entry: usize,
        interaction: Option<Interaction>,
        count: impl FnOnce(&mut Traffic),
    ) -> bool {
        let is_awaited = self.requests.is_pending(entry) && !self.is_closed;
        if is_awaited {
            count(&mut self.traffic);
            if interaction.as_ref().is_some_and(|it| is_answer(it.response.status))
                && let Some(key) = self.requests.key(entry)
            {
                self.note_answer(key);
            }
            self.requests.end(entry, interaction);
        }
        is_awaited
    }

    /// Notes that a request was answered: one that failed before was not the last.
    fn note_answer(&self, key: &RequestKey) {
        let equal = self.unattributed.iter().filter(|(other, _)| other == key);
        equal.for_each(|(_, request)| request.repeat());
    }

    /// Answers a request from the recording, if it is there.
    fn replay(
        &mut self,
        key: &RequestKey,
        request: &RecordedRequest,
        folder: &RecordingFolder,
        ignore: &[String],
    ) -> Option<Arc<Interaction>> {
        let found = self.requests.replay(key, request, folder, ignore)?;
        self.traffic.replayed += 1;
        if is_answer(found.response.status) {
            self.note_answer(key);
        }
        Some(found)
    }

    /// The place of the next answer to a question, or else of the last one; of one model or of any.
    fn judge_answer(&self, key: &str, model: Option<&str>) -> Option<usize> {
        let fits = |(answer, _): &(JudgeAnswer, bool)| {
            answer.key == key && model.is_none_or(|model| answer.model == model)
        };
        let next = self.judges.iter().position(|recorded| !recorded.1 && fits(recorded));
        next.or_else(|| self.judges.iter().rposition(fits))
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

/// A path without its query, which may hold a key.
pub fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// The error for a request that is not recorded. Without the item's name, so the same difference is one error of many items.
fn not_recorded(RecordedRequest { method, path, .. }: &RecordedRequest, difference: &str) -> String {
    format!(
        "not recorded: {method} {path}; {difference}; to record what is new, run with `{RECORD_VARIABLE}=auto`"
    )
}
