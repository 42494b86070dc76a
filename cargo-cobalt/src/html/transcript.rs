//! The transcripts of conversations as data for the script.

use cobalt_core::report::{Transcript, Turn, TurnCheck, UserMistake};
use cobalt_core::reporters::{format_conversation, format_turn_usage, format_user_usage};
use serde::Serialize;

/// The conversation of a trial.
#[derive(Debug, Serialize)]
pub struct TranscriptData<'a> {
    /// How long it was and how it ended.
    summary: String,
    /// The usage and cost of the simulated user, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// What the simulated user did wrong: the turn with the kind, and the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<(String, &'a str)>,
    /// Why the simulated user was not checked for mistakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<&'a str>,
    turns: Vec<TurnData<'a>>,
    /// What the script expects in turns that were not played.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unplayed: &'a [TurnCheck],
}

#[derive(Debug, Serialize)]
struct TurnData<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a str>,
    /// Its latency, tokens and cost, in words.
    usage: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    calls: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    checks: &'a [TurnCheck],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> TranscriptData<'a> {
    pub fn of(transcript: &'a Transcript) -> Self {
        let mistake = |mistake: &'a UserMistake| {
            (format!("turn {}, {}", mistake.turn, mistake.kind.label()), &*mistake.reason)
        };
        Self {
            summary: format_conversation(transcript),
            user: transcript.user.as_deref().map(format_user_usage),
            mistakes: transcript.mistakes.iter().map(mistake).collect(),
            unchecked: transcript.unchecked.as_deref(),
            turns: transcript.turns.iter().map(TurnData::of).collect(),
            unplayed: &transcript.unplayed,
        }
    }
}

impl<'a> TurnData<'a> {
    fn of(turn: &'a Turn) -> Self {
        Self {
            message: &turn.message,
            reply: turn.reply.as_deref(),
            usage: format_turn_usage(turn),
            calls: &turn.tool_calls,
            checks: &turn.checks,
            error: turn.error.as_deref(),
        }
    }
}
