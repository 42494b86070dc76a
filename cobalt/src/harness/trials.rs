//! Cases as libtest-mimic runs them: each only waits for its verdict.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libtest_mimic::{Completion, Conclusion, Failed, Trial};

use super::args::Args;
use super::board::{Board, Verdict};
use super::cases::View;
use super::ending::print;
use super::schedule::{Case, WaitsFor};
use crate::reporters::printable;
use crate::session::Interrupter;

/// Turns cases into trials that wait at the board.
pub(super) struct Trials {
    board: Arc<Board>,
    /// Stops the session after the first failure, where that was asked for.
    stop: Option<Interrupter>,
    failed: Arc<AtomicBool>,
}

impl Trials {
    /// `stop` is what the first failure is to stop.
    pub(super) fn new(board: Arc<Board>, stop: Option<Interrupter>) -> Self {
        Self { board, stop, failed: Arc::default() }
    }

    pub(super) fn run(&self, cases: Vec<Case>, args: &Args) -> Conclusion {
        let selected = |case: Case| {
            let is_selected = case.is_selected(args);
            self.trial(case).with_ignored_flag(is_selected)
        };
        let mut trials: Vec<_> = cases.into_iter().map(selected).collect();
        if let Some(seed) = args.shuffle {
            print(args, &format!("shuffle seed: {seed}"));
            fastrand::Rng::with_seed(seed).shuffle(&mut trials);
        }
        libtest_mimic::run(&args.for_mimic(), trials)
    }

    fn trial(&self, case: Case) -> Trial {
        let (board, stop, failed) = (Arc::clone(&self.board), self.stop.clone(), Arc::clone(&self.failed));
        Trial::ignorable_test(case.name, move || {
            if stop.is_some() && failed.load(Ordering::Acquire) {
                return Ok(Completion::ignored_with("not run after the first failure"));
            }
            let verdict = match case.waits_for {
                WaitsFor::View(experiment, View::Item(index)) => board.item(experiment, index),
                WaitsFor::View(experiment, View::Threshold(index)) => board.threshold(experiment, index),
                WaitsFor::View(experiment, View::Whole) => board.whole(experiment),
                // It may quote what a server says.
                WaitsFor::Failure { why, .. } => Verdict::Failed(printable(&why).into()),
                WaitsFor::Variable { variable, .. } => {
                    return Ok(Completion::ignored_with(format!("{variable} is not set")));
                }
                WaitsFor::Unselected => Verdict::NotRun,
            };
            match verdict {
                Verdict::Passed => Ok(Completion::Completed),
                Verdict::NotRun => Ok(Completion::ignored_with("not run")),
                Verdict::Failed(why) => {
                    failed.store(true, Ordering::Release);
                    if let Some(session) = stop {
                        session.interrupt();
                    }
                    Err(Failed::from(why))
                }
            }
        })
    }
}
