//! What is known of a call, from its events while it runs and from its results at the end, and what shows it.

mod outcome;
mod reporter;
mod state;

pub(crate) use self::outcome::{Broken, CutOff, Finished, Results};
pub(crate) use self::reporter::{Output, Reporter};
pub(crate) use self::state::{Experiment, NoResult, Problem, RunState};
