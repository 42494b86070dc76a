//! The state of an invocation while it runs, its results at the end, and the interface of reporters.

mod distribution;
mod excerpt;
mod outcome;
mod state;

pub use distribution::{LATENCY_BINS, LatencyBins, SCORE_BINS, ScoreBins};
pub use excerpt::{Excerpt, NamedItem};
pub use outcome::{BrokenExperiment, FinishedExperiment, InterruptedRun, Output, Reporter, Results};
pub use state::{ExperimentProgress, MissingResult, Problem, RunState};
