//! Why a program gave no score, in words that say what to do.

use std::process::ExitStatus;
use std::time::Duration;

use super::answer::quoted;
use super::process::Process;
use super::streams::{Heard, LONGEST};
use crate::evaluators::EvalError;
use crate::wording::count;

/// An error with the last lines that the program wrote to stderr.
pub(super) fn with_messages(problem: &str, process: &Process) -> EvalError {
    let lines = process.messages.last_lines();
    EvalError::new(match lines.is_empty() {
        true => format!("{problem}; it wrote nothing to stderr"),
        false => format!("{problem}; its last lines on stderr:\n{}", lines.join("\n")),
    })
}

/// How it ended, as after "the program".
pub(super) fn ended(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => status.code().map_or_else(
            || format!("was ended by a {}", signal(status)),
            |code| format!("ended with exit code {code}"),
        ),
        None => "closed its stdout".to_owned(),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map_or_else(|| "signal".to_owned(), |number| format!("signal {number}"))
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> String {
    "signal".to_owned()
}

/// A program that is kept ended while it was asked.
pub(super) fn ended_unasked(status: Option<ExitStatus>, answered: usize) -> String {
    let how = ended(status);
    match answered {
        0 => format!("the program {how} before its first answer"),
        1 => format!(
            "the program {how} after one answer, and is to answer a line for each line until its stdin ends; set \
             `keep-alive = false` for one that answers once"
        ),
        answered => format!("the program {how} after {} and before this one", count(answered, "answer")),
    }
}

/// The time is up.
pub(super) fn too_slow(limit: Duration, keep_alive: bool, is_first: bool) -> String {
    let limit = humantime::format_duration(limit);
    let start = if is_first { "; its start is counted with its first answer" } else { "" };
    match keep_alive {
        true => format!(
            "the program gave no answer within {limit}{start}. It must flush its stdout after each line; one that reads \
             its stdin to the end before it answers needs `keep-alive = false`; else give it more time by `timeout`"
        ),
        false => format!("the program did not end within {limit}; give it more time by `timeout`"),
    }
}

/// Nothing is heard of it any more.
pub(super) fn too_long() -> String {
    format!("the program's answer is longer than {} MiB", LONGEST >> 20)
}

/// It wrote more than one answer.
pub(super) fn too_much(heard: &Heard) -> String {
    match heard {
        Heard::TooLong => too_long(),
        Heard::Answer { bytes, .. } => format!(
            "the program wrote more than one line for an output, such as {}; write a score as JSON in one line, and \
             nothing else, to stdout",
            quoted(&String::from_utf8_lossy(bytes))
        ),
    }
}
