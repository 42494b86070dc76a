//! Transcripts of items: in full, or as a text.

use cobalt_core::report::{Execution, ItemResult};
use cobalt_core::reporters::{Style, render_transcript};
use serde_json::{Map, Value};

use super::truncate;

/// The field that replaces a transcript.
const TEXT: &str = "transcriptText";
/// The most bytes of an item's texts in a list.
pub const IN_LIST: usize = 2_000;
/// The fewest bytes of a text.
const LEAST: usize = 300;
/// The length of what surrounds a message.
const LINE: usize = 60;

/// Replaces the transcripts of an item by texts of at most `room` bytes together. Long messages are cut before whole turns are.
pub fn shorten(fields: &mut Map<String, Value>, item: &ItemResult, room: usize) {
    let conversations = item.runs.iter().filter(|run| run.transcript.is_some()).count();
    let room = (room / conversations.max(1)).max(LEAST);
    let replace = |fields: &mut Map<String, Value>, run: &Execution| {
        let Some(transcript) = run.transcript.as_deref().filter(|_| fields.contains_key("transcript")) else {
            return;
        };
        fields.shift_remove("transcript");
        // The user's and the agent's texts of each turn.
        let share = room / (2 * transcript.turns.len()).max(1);
        let text = |max_chars| render_transcript(transcript, max_chars, Style::Plain);
        let whole = text(usize::MAX);
        let text = if truncate::size_up_to(&whole, room) <= room {
            whole
        } else {
            text(share.saturating_sub(LINE).max(LINE))
        };
        fields.insert(TEXT.to_owned(), truncate::text(&text, room).into());
    };
    if let Some(Value::Array(trials)) = fields.get_mut("runs") {
        let trials = trials.iter_mut().filter_map(Value::as_object_mut);
        trials.zip(&item.runs).for_each(|(fields, run)| replace(fields, run));
    }
    replace(fields, item.first_trial());
}
