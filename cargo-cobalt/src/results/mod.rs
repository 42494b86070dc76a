//! What is known of a call, from its events while it runs and from its results at the end, and what shows it.

mod outcome;
mod state;

pub use outcome::{Broken, CutOff, Finished, Output, Reporter, Results};
pub use state::{Experiment, NoResult, Problem, RunState};
