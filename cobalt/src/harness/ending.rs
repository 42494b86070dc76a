//! The end of a process: what is told last, what is left behind, and what happens when it is asked to end early.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::args::Args;
use super::board::{Board, Summary};
use super::exit_code::INTERRUPTED;
use super::exit_guard::leave;
use super::process::SharedRuntime;
use crate::evaluators::EndsAll;
use crate::reporters::{Warning, printable, unpriced};
use crate::session::{Interrupted, Interrupter};
use crate::threads;
use crate::wording::count;

/// How long agents that are cancelled may take to drop what they hold.
const CLEANING_UP: Duration = Duration::from_millis(200);

/// What is to be done when the process is asked to end.
pub(super) struct Stop {
    pub(super) session: Interrupter,
    pub(super) board: Arc<Board>,
    pub(super) runtime: SharedRuntime,
    pub(super) args: Args,
}

impl Stop {
    /// Keeps what is finished, says how to go on, and ends the process.
    pub(super) fn now(self) -> ! {
        self.board.close();
        self.session.interrupt();
        self.board.wait_for_all();
        println!();
        tell(&self.args, &self.board);
        shut_down(&self.runtime);
        leave(INTERRUPTED)
    }
}

/// Lets agents that were cancelled drop what they hold, and leaves behind those that block.
pub(super) fn shut_down(runtime: &SharedRuntime) {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(runtime) = runtime {
        runtime.shutdown_timeout(CLEANING_UP);
    }
    drop(EndsAll);
    let left = threads::abandoned();
    if left > 0 {
        let calls = count(left, "call");
        eprintln!(
            "note: {calls} of plain functions past their timeout are left behind, and end with this process"
        );
    }
}

/// Whether all that was run is done and kept.
pub(super) enum Whole {
    Yes,
    /// Something was stopped before its end.
    CutOff,
    /// Some results could not be written.
    Unsaved,
}

/// Prints what the experiments came to.
pub(super) fn tell(args: &Args, board: &Board) -> Whole {
    let mut whole = Whole::Yes;
    let (mut cut_off, mut is_cut_off) = (Vec::new(), false);
    let mut without_price = Vec::new();
    for summary in board.take_summaries() {
        match summary {
            Ok(Summary { text, unpriced_models, warning, unsaved }) => {
                print(args, &text);
                warning.iter().for_each(warn);
                without_price.extend(unpriced_models);
                if let Some(error) = unsaved {
                    whole = Whole::Unsaved;
                    eprintln!("error: the results are not kept: {error}");
                }
            }
            Err(Interrupted { error: Some(error), .. }) => {
                whole = Whole::Unsaved;
                eprintln!("error: {error}");
            }
            Err(Interrupted { id, kept, .. }) => {
                is_cut_off = true;
                // Where no item is kept, there is nothing to resume.
                cut_off.extend((kept > 0).then_some(id));
            }
        }
    }
    if let Some(note) = unpriced(&without_price) {
        print(args, &note);
    }
    if !is_cut_off {
        return whole;
    }
    match cut_off.join(",") {
        ids if ids.is_empty() => eprintln!("interrupted before any item was finished"),
        ids => eprintln!("interrupted; finished items are saved. Resume with COBALT_RESUME={ids}"),
    }
    if matches!(whole, Whole::Yes) { Whole::CutOff } else { whole }
}

/// Says what is probably not as it was meant.
pub(super) fn warn(warning: &Warning) {
    eprintln!("warning: {}", printable(&warning.to_string()));
}

/// Prints a text beside the cases.
pub(super) fn print(args: &Args, text: &str) {
    // Stdout is for the program that reads the JSON.
    if args.is_json() { eprintln!("{text}") } else { println!("{text}") }
}
