//! The state of an invocation while it runs, its results at the end, and the interface of reporters.

mod outcome;
mod state;

pub use outcome::{BrokenExperiment, FinishedExperiment, InterruptedRun, Output, Reporter, Results};
pub use state::{ExperimentProgress, MissingResult, Problem, RunState};
