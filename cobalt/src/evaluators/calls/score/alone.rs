//! Checks that need nothing but the calls that were made.

use std::cmp::Reverse;

use serde_json::json;

use super::share;
use crate::evaluators::Score;
use crate::evaluators::calls::call::ToolCall;
use crate::evaluators::calls::loops::{Loop, Repeats};
use crate::evaluators::calls::shown;
use crate::wording::count;

/// 1 where the tool was called with arguments that can be read.
pub(in crate::evaluators::calls) fn called(tool: &str, calls: &[ToolCall]) -> Score {
    let (right, unread): (Vec<_>, Vec<_>) =
        calls.iter().filter(|call| call.name == tool).partition(|call| call.arguments_error.is_none());
    let reason = match (right.first(), unread.first()) {
        (Some(first), _) => format!("called {}: {}", times(right.len()), shown::call(first)),
        (None, Some(first)) => format!("called in vain: {}", shown::failed(first)),
        (None, None) if calls.is_empty() => format!("`{tool}` was not called; nothing was"),
        (None, None) => {
            let mut others = names(calls);
            others.sort_unstable();
            others.dedup();
            format!("`{tool}` was not called, but {}", shown::list(&others))
        }
    };
    Score::from(!right.is_empty()).reason(reason).metadata("calls", right.len())
}

/// 1 where the tool was not called, whatever came of it.
pub(in crate::evaluators::calls) fn not_called(tool: &str, calls: &[ToolCall]) -> Score {
    let of_tool: Vec<_> = calls.iter().filter(|call| call.name == tool).collect();
    let reason = match &of_tool[..] {
        [] => format!("`{tool}` was not called"),
        of_tool => {
            let shown: Vec<_> = of_tool.iter().map(|call| shown::call(call)).collect();
            format!("called {}: {}", times(of_tool.len()), shown::list(&shown))
        }
    };
    Score::from(of_tool.is_empty()).reason(reason).metadata("calls", of_tool.len())
}

/// The share of the calls that did not fail; 1 of none.
pub(in crate::evaluators::calls) fn succeeded(calls: &[ToolCall]) -> Score {
    let failed: Vec<_> = calls.iter().filter(|call| !call.succeeded()).map(shown::failed).collect();
    let right = calls.len() - failed.len();
    if calls.is_empty() {
        return Score::new(1.0).reason("no calls were made").metadata("calls", 0).metadata("failed", 0);
    }
    let tail = if failed.is_empty() { String::new() } else { format!("; failed: {}", shown::list(&failed)) };
    Score::new(share(right, calls.len()))
        .reason(format!("{right} of {} succeeded{tail}", count(calls.len(), "call")))
        .metadata("calls", calls.len())
        .metadata("failed", failed.len())
}

/// 1 up to so many calls, and their share in all calls beyond.
pub(in crate::evaluators::calls) fn at_most(most: usize, calls: &[ToolCall]) -> Score {
    let made = calls.len();
    let score = if made <= most { 1.0 } else { share(most, made) };
    let tail = if made <= most { String::new() } else { format!(": {}", shown::list(&names(calls))) };
    Score::new(score)
        .reason(format!("{}, at most {most}{tail}", count(made, "call")))
        .metadata("calls", made)
        .metadata("most", most)
}

/// 1 up to so many repeated calls; beyond, the share of the calls that are no repeat too many.
pub(in crate::evaluators::calls) fn repeats_at_most(most: usize, calls: &[ToolCall]) -> Score {
    let repeats = Repeats::of(calls);
    let surplus = repeats.count.saturating_sub(most);
    let score = if surplus == 0 { 1.0 } else { share(calls.len() - surplus, calls.len()) };
    let reason =
        format!("{}, at most {most}{}", count(repeats.count, "repeated call"), repeated(&repeats, calls));
    let score = Score::new(score)
        .reason(reason)
        .metadata("calls", calls.len())
        .metadata("repeats", repeats.count)
        .metadata("most", most);
    match repeats.longest {
        Some(Loop { start, length, times }) => {
            score.metadata("loop", json!({ "start": start, "length": length, "times": times }))
        }
        None => score,
    }
}

/// What was called again: in a row, and, where that is not all, in all.
fn repeated(repeats: &Repeats, calls: &[ToolCall]) -> String {
    let mut text = String::new();
    let mut in_a_row = 0;
    if let Some(Loop { start, length, times: often }) = repeats.longest {
        let round = shown::list(&names(&calls[start..start + length]));
        text = format!("; in a row: {round} {}", times(often));
        in_a_row = length * (often - 1);
    }
    if in_a_row < repeats.count {
        let mut most_first = repeats.calls.clone();
        most_first.sort_by_key(|(_, times)| Reverse(*times));
        let of = |(index, often): (usize, usize)| format!("{} {}", shown::call(&calls[index]), times(often));
        let all: Vec<_> = most_first.into_iter().map(of).collect();
        text = format!("{text}; in all: {}", shown::list(&all));
    }
    text
}

fn names(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| call.name.clone()).collect()
}

fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{number} times"),
    }
}
