//! The conversation of one execution while it runs.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::duration::milliseconds;
use cobalt_core::item::usage::{self, ModelUsage};
use cobalt_core::prices::PriceTable;
#[cfg(feature = "judge")]
use cobalt_core::report::UserMistake;
use cobalt_core::report::{ConversationEnd, Status, Transcript, Turn, TurnCheck};
use cobalt_core::trace::Trace;

#[cfg(feature = "judge")]
use super::mistakes::plain_mistakes;
use super::script::{Expectation, Goal};
use super::settings::Conversation;
use crate::experiment::record::RecordsSoFar;
use crate::llm::LlmHandle;

/// The settings of a conversation, the handle for the simulated user, and the transcript so far, which is kept if the agent fails.
#[derive(Debug)]
pub struct ConversationRun {
    settings: Arc<Conversation>,
    user: LlmHandle,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    transcript: Transcript,
    /// The expectations of each turn, and what was recorded in it.
    turns: Vec<TurnRecords>,
    /// The goal of a simulated user.
    goal: Option<Goal>,
    /// The time that the user took, without the message that it is writing.
    user_time: Duration,
    /// Since when the user writes a message.
    user_since: Option<Instant>,
}

#[derive(Debug, Default)]
struct TurnRecords {
    expect: Vec<Expectation>,
    /// What the agent had recorded before the turn.
    before: RecordsSoFar,
    usage: Vec<ModelUsage>,
}

impl ConversationRun {
    /// A conversation without turns.
    pub fn new(settings: Arc<Conversation>, user: LlmHandle) -> Self {
        Self { settings, user, progress: Mutex::default() }
    }

    /// Another attempt: the usage of the simulated user is that of all attempts.
    pub fn again(&self) -> Self {
        Self::new(Arc::clone(&self.settings), self.user.clone())
    }

    pub fn settings(&self) -> &Conversation {
        &self.settings
    }

    /// The handle for the simulated user.
    #[cfg(feature = "judge")]
    pub fn user(&self) -> &LlmHandle {
        &self.user
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The transcript so far.
    #[cfg(feature = "judge")]
    pub fn transcript(&self) -> Transcript {
        self.progress().transcript.clone()
    }

    /// Calls a function with the transcript so far.
    pub fn with_transcript<R>(&self, read: impl FnOnce(&Transcript) -> R) -> R {
        read(&self.progress().transcript)
    }

    /// The user says something. `before` is what the agent recorded until now.
    pub fn begin_turn(&self, message: &str, expect: Vec<Expectation>, start: Duration, before: RecordsSoFar) {
        let mut progress = self.progress();
        let start_ms = milliseconds(start);
        let turn = Turn { message: message.to_owned(), start_ms, ..Turn::default() };
        progress.transcript.turns.push(turn);
        progress.turns.push(TurnRecords { expect, before, usage: Vec::new() });
    }

    /// The agent replies, or fails. `after` is what it recorded until now.
    pub fn end_turn(&self, reply: Result<String, String>, latency: Duration, after: RecordsSoFar) {
        let mut progress = self.progress();
        progress.record_turn(after);
        if let Some(turn) = progress.transcript.turns.last_mut() {
            turn.latency_ms = milliseconds(latency);
            match reply {
                Ok(reply) => turn.reply = Some(reply),
                Err(error) => turn.error = Some(error),
            }
        }
    }

    /// The agent ended the conversation before these expectations of the script.
    pub fn add_unplayed(&self, unplayed: impl Iterator<Item = String>) {
        let checks = unplayed.map(|expected| TurnCheck { expected, passed: false });
        self.progress().transcript.unplayed.extend(checks);
    }

    /// The conversation ends.
    pub fn end(&self, end: ConversationEnd) {
        self.progress().transcript.end = end;
    }

    /// A model plays the user, with this goal.
    pub fn simulate(&self, goal: Goal) {
        let mut progress = self.progress();
        progress.transcript.simulated = true;
        progress.goal = Some(goal);
    }

    /// A model has found these mistakes of the simulated user.
    #[cfg(feature = "judge")]
    pub fn set_checked(&self, mistakes: Vec<UserMistake>) {
        let transcript = &mut self.progress().transcript;
        (transcript.mistakes, transcript.unchecked) = (mistakes, None);
    }

    /// No model could look for mistakes of the simulated user.
    #[cfg(feature = "judge")]
    pub fn set_unchecked(&self, reason: String) {
        self.progress().transcript.unchecked = Some(reason);
    }

    /// The time that the simulated user took so far; it is not the agent's.
    pub fn user_time(&self) -> Duration {
        let progress = self.progress();
        progress.user_time + progress.user_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits for the user.
    pub async fn wait_for_user<F: Future>(&self, user: F) -> F::Output {
        self.progress().user_since = Some(Instant::now());
        let message = user.await;
        let mut progress = self.progress();
        if let Some(since) = progress.user_since.take() {
            progress.user_time += since.elapsed();
        }
        message
    }

    /// The agent failed, this long after the start of the execution. `after` is what it recorded until then.
    pub fn fail(&self, status: Status, error: &str, elapsed: Duration, after: RecordsSoFar) {
        let mut progress = self.progress();
        if progress.transcript.turns.last().is_some_and(|turn| turn.reply.is_none() && turn.error.is_none()) {
            progress.record_turn(after);
        }
        if progress.goal.is_some() {
            progress.transcript.unchecked.get_or_insert_with(|| "the conversation failed".to_owned());
        }
        let end = if status == Status::Timeout { ConversationEnd::Timeout } else { ConversationEnd::Error };
        progress.transcript.fail(end, error, milliseconds(elapsed));
    }

    /// Takes the transcript at the end, with what the trace says of each turn; `None` if there was no conversation.
    pub fn take(&self, trace: &Trace, prices: &PriceTable) -> Option<Transcript> {
        let Progress { mut transcript, turns, goal, .. } = mem::take(&mut *self.progress());
        transcript.user = self.user.usage().map(Box::new);
        if transcript.turns.is_empty() && transcript.user.is_none() {
            return None;
        }
        for (turn, records) in transcript.turns.iter_mut().zip(&turns) {
            turn.set_usage(records.usage.clone(), prices);
        }
        transcript.add_trace(trace, prices);
        for (turn, TurnRecords { expect, .. }) in transcript.turns.iter_mut().zip(turns) {
            turn.checks = expect.iter().map(|expected| expected.check(turn)).collect();
        }
        if let Some(goal) = goal {
            add_plain_mistakes(&mut transcript, &goal);
        }
        Some(transcript)
    }
}

impl Progress {
    /// Adds what was recorded in the current turn.
    fn record_turn(&mut self, after: RecordsSoFar) {
        if let (Some(turn), Some(records)) = (self.transcript.turns.last_mut(), self.turns.last_mut()) {
            records.usage = usage::since(&records.before.usage, &after.usage);
            turn.tool_calls = after.tool_calls.into_iter().skip(records.before.tool_calls.len()).collect();
        }
    }
}

/// Adds the mistakes that are found without a model. They replace the model's of the same turn and kind.
#[cfg(feature = "judge")]
fn add_plain_mistakes(transcript: &mut Transcript, goal: &Goal) {
    for mistake in plain_mistakes(transcript, goal) {
        let is_same = |known: &UserMistake| (known.turn, known.kind) == (mistake.turn, mistake.kind);
        match transcript.mistakes.iter_mut().find(|known| is_same(known)) {
            Some(known) => *known = mistake,
            None => transcript.mistakes.push(mistake),
        }
    }
    transcript.mistakes.sort_by_key(|mistake| (mistake.turn, mistake.kind));
}

#[cfg(not(feature = "judge"))]
fn add_plain_mistakes(_: &mut Transcript, _: &Goal) {}
