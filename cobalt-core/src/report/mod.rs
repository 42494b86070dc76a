//! The result of a run: the result model, its statistics, and the thresholds that it is evaluated against.

mod check;
pub mod comparison;
mod config;
mod figures;
mod identity;
mod item;
mod measurements;
mod model;
mod outcome;
#[cfg(feature = "schema")]
mod schema;
mod shard;
pub mod stats;
mod summary;
mod threshold;
mod verdict;

pub use crate::timestamp::Timestamp;
pub(crate) use check::check_item;
pub use check::{ItemProblem, check_items};
pub use config::{DEFAULT_PASS_MARK, DatasetSummary, Fetch, GitState, RunConfig, SourcePlace};
pub use figures::Figures;
pub use identity::ItemNames;
pub use item::{Evaluations, Execution, ItemResult, RunAggregation, ScoredEvaluation, Status};
pub use measurements::{EvaluatorSettings, MeasuredItem, Measurements, TrialAmounts};
pub(crate) use model::Said;
pub use model::{Report, ReportJsonError, SCHEMA};
pub use outcome::{CiStatus, RunVerdict, ThresholdOutcome, Violation};
pub use shard::Shard;
pub(crate) use summary::ItemCounts;
pub use summary::{LatencyStats, ScoreStats, Summary};
pub use threshold::{
    Category, Comparison, LatencyBound, Metric, NumberBound, Threshold, ThresholdError, duration,
};
pub use verdict::{Against, ci_status, judge, judge_all};
