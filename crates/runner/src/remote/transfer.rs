//! Prints runs as they are pushed or pulled, and the totals.

use std::io;
use std::ops::ControlFlow;
use std::process::ExitCode;

use cobalt_core::wording::count;

use super::error::RemoteError;
use crate::error::Error;
use crate::terminal::{one_line, print};

/// Of more runs, only the sums are printed.
const MAX_LINES: usize = 20;

/// A run that was sent or fetched, or did not have to be.
#[derive(Debug)]
pub struct Transferred {
    pub id: String,
    pub name: String,
    /// Whether it was transferred.
    pub is_new: bool,
    /// Its size, or why it was skipped.
    pub note: String,
}

/// How far a push or pull is.
#[derive(Debug)]
pub struct Transfer {
    /// `pushed` or `pulled`.
    word: &'static str,
    runs: usize,
    /// Whether each run is printed.
    prints: bool,
    done: usize,
    skipped: usize,
    failed: Vec<String>,
    /// Whether the store refused a request or the connection is lost: the other runs would fail, too.
    is_stopped: bool,
    print_error: Option<io::Error>,
}

impl Transfer {
    pub fn new(word: &'static str, runs: usize) -> Self {
        let (failed, prints) = (Vec::new(), runs <= MAX_LINES);
        Self { word, runs, prints, done: 0, skipped: 0, failed, is_stopped: false, print_error: None }
    }

    /// The same if only so many runs are worth a line: they are printed if they are few.
    pub fn printing(self, lines: usize) -> Self {
        Self { prints: lines <= MAX_LINES, ..self }
    }

    /// Counts and prints a run. Breaks if the others would fail, too. `what` names the run in an error.
    pub fn add(&mut self, run: Result<Transferred, RemoteError>, what: &str) -> ControlFlow<()> {
        match run {
            Ok(Transferred { id, name, is_new, note }) => {
                self.done += usize::from(is_new);
                self.skipped += usize::from(!is_new);
                let word = if is_new { self.word } else { "skipped" };
                if self.prints && self.print_error.is_none() {
                    let line = format!("{word:7} run {id} of `{}` ({note})\n", one_line(&name));
                    self.print_error = print(&line).err();
                }
            }
            Err(error) => {
                let is_of_the_store = error.is_of_the_store();
                // Of errors that all runs have, one suffices.
                if !(is_of_the_store && self.is_stopped) {
                    self.failed.push(match error {
                        RemoteError::File { .. } => error.to_string(),
                        _ => format!("{what}: {error}"),
                    });
                }
                self.is_stopped |= is_of_the_store;
            }
        }
        match self.is_stopped || self.print_error.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Prints the sums. `place` says where the runs are now.
    pub fn conclude(self, place: &str) -> Result<ExitCode, Error> {
        let Self { word, runs, done, skipped, failed, print_error, .. } = self;
        if let Some(error) = print_error {
            return Err(Error::Print(error));
        }
        let left = runs - done - skipped - failed.len();
        let left = if left > 0 { format!(", {left} left") } else { String::new() };
        let all = count(done, "run");
        print(&format!("{all} {word} {place}; {skipped} skipped, {} failed{left}\n", failed.len()))
            .map_err(Error::Print)?;
        if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(failed)) }
    }
}
