//! The conversation of one execution while it goes on.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::duration::milliseconds;
use cobalt_core::item::usage::{self, ModelUsage};
use cobalt_core::prices::PriceTable;
#[cfg(feature = "judge")]
use cobalt_core::report::UserMistake;
use cobalt_core::report::{ConversationEnd, Status, Transcript, Turn};
use cobalt_core::trace::Trace;

use super::script::Expectation;
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
    /// The time that the user took, without the message that it is writing.
    user_time: Duration,
    /// Since when the user writes a message.
    user_since: Option<Instant>,
}

#[derive(Debug, Default)]
struct TurnRecords {
    expect: Vec<Expectation>,
    usage: Vec<ModelUsage>,
}

/// What the agent recorded in a turn.
#[derive(Debug, Default)]
pub struct TurnRecord {
    pub usage: Vec<ModelUsage>,
    pub tool_calls: Vec<String>,
}

impl TurnRecord {
    /// What was recorded between two points in time.
    pub fn between(before: RecordsSoFar, after: RecordsSoFar) -> Self {
        Self {
            usage: usage::since(&before.usage, &after.usage),
            tool_calls: after.tool_calls.into_iter().skip(before.tool_calls.len()).collect(),
        }
    }
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

    /// The user says something.
    pub fn begin_turn(&self, message: &str, expect: Vec<Expectation>, start: Duration) {
        let mut progress = self.progress();
        let start_ms = milliseconds(start);
        let turn = Turn { message: message.to_owned(), start_ms, ..Turn::default() };
        progress.transcript.turns.push(turn);
        progress.turns.push(TurnRecords { expect, usage: Vec::new() });
    }

    /// The agent replies, or fails.
    pub fn end_turn(&self, reply: Result<String, String>, latency: Duration, record: TurnRecord) {
        let mut progress = self.progress();
        let Progress { transcript, turns, .. } = &mut *progress;
        if let (Some(turn), Some(records)) = (transcript.turns.last_mut(), turns.last_mut()) {
            turn.latency_ms = milliseconds(latency);
            turn.tool_calls = record.tool_calls;
            records.usage = record.usage;
            match reply {
                Ok(reply) => turn.reply = Some(reply),
                Err(error) => turn.error = Some(error),
            }
        }
    }

    /// The conversation ends.
    pub fn end(&self, end: ConversationEnd) {
        self.progress().transcript.end = end;
    }

    /// A model plays the user.
    pub fn simulate(&self) {
        self.progress().transcript.simulated = true;
    }

    /// Adds mistakes of the simulated user, or why it was not checked.
    #[cfg(feature = "judge")]
    pub fn add_mistakes(&self, mistakes: Vec<UserMistake>, unchecked: Option<String>) {
        let transcript = &mut self.progress().transcript;
        transcript.mistakes.extend(mistakes);
        transcript.unchecked = transcript.unchecked.take().or(unchecked);
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

    /// The agent failed, this long after the start of the execution.
    pub fn fail(&self, status: Status, error: &str, elapsed: Duration) {
        let end = if status == Status::Timeout { ConversationEnd::Timeout } else { ConversationEnd::Error };
        self.progress().transcript.fail(end, error, milliseconds(elapsed));
    }

    /// Takes the transcript at the end, with what the trace says of each turn; `None` if there was no conversation.
    pub fn take(&self, trace: &Trace, prices: &PriceTable) -> Option<Transcript> {
        let Progress { mut transcript, turns, .. } = mem::take(&mut *self.progress());
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
        Some(transcript)
    }
}
