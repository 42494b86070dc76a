//! What a run found: the result model, its statistics, and the thresholds that judge it.

mod item;
mod model;
pub mod stats;
mod summary;
mod threshold;
mod verdict;

pub use item::{Evaluations, Execution, ItemResult, RunAggregation, ScoredEvaluation, Status};
pub(crate) use model::SCHEMA;
pub use model::{CiStatus, DatasetSummary, GitState, Report, RunConfig, Timestamp, Violation};
pub use summary::{Figures, LatencyStats, ScoreStats, Summary};
pub use threshold::{Category, Comparison, LatencyBound, Metric, NumberBound, Threshold, ThresholdError};
pub(crate) use verdict::ci_status;
pub use verdict::{ThresholdOutcome, judge};
