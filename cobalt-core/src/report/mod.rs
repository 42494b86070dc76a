//! The result of a run: the result model, its statistics, and the thresholds that it is evaluated against.

#[doc(hidden)]
pub mod builders;
mod clusters;
pub mod comparison;
mod config;
mod custom_metric;
mod custom_metric_stats;
mod evaluate_thresholds;
mod evaluator_metrics;
mod fault;
mod group_stats;
mod groups;
mod identity;
mod item;
mod item_outcome;
mod item_scores;
mod lists;
mod measured_items;
mod measurements;
mod metrics;
mod model;
mod outcome;
pub mod ranking;
mod rescored;
mod retried;
#[cfg(feature = "schema")]
mod schema;
mod shard;
mod shard_plan;
mod source_state;
pub mod stats;
mod summary;
mod threshold;
mod trace_metrics;
mod traffic;
mod transcript;
mod validate;
mod variant;
mod workspace;

pub use crate::timestamp::Timestamp;
#[doc(hidden)]
pub use clusters::cluster_numbers;
pub use config::{DEFAULT_PASS_MARK, DatasetSummary, Fetch, GitState, RunConfig, SourceLocation};
pub use custom_metric::{
    Direction, MetricStats, MetricValue, Metrics, RunMetric, RunSummaries, RunTable, USER_MISTAKES,
};
pub use evaluate_thresholds::{
    BaselineContext, InconclusivePolicy, ci_status, evaluate, evaluate_all, stricter_outcomes,
};
pub use evaluator_metrics::FurtherTrials;
pub use fault::InjectedFault;
pub use group_stats::{FieldGroups, GroupScore, GroupStats};
pub use identity::{ItemNames, item_keys};
pub use item::{
    Evaluations, Execution, ItemResult, ItemWithoutContents, ScoredEvaluation, Status, TrialStats,
};
pub use item_outcome::ItemOutcome;
pub use item_scores::ItemScores;
pub use measured_items::{MeasuredItemRef, MeasuredItems};
pub use measurements::{EvaluatorSettings, MeasuredItem, Measurements, MetricSettings, TrialMeasurements};
pub use metrics::RunMetrics;
pub(crate) use metrics::significant_decimals;
pub(crate) use model::StoredVerdict;
pub use model::{Report, ReportJsonError, SCHEMA, SCHEMA_OF_PARTS};
pub use outcome::{CiStatus, RunVerdict, ScoreDrift, ThresholdOutcome, Violation};
pub use rescored::Rescored;
pub use retried::RetriedExecution;
pub use shard::Shard;
pub use shard_plan::{Microseconds, ShardPlan, ShardPlans};
pub use source_state::SourceState;
pub(crate) use summary::ItemCounts;
pub use summary::{LatencyStats, ScoreStats, Summary};
pub use threshold::{
    Category, Comparison, LatencyBound, Metric, NumberBound, Threshold, ThresholdError, parse_duration,
};
pub use traffic::{SETTINGS_HASH_PREFIX, Traffic, TrafficSummary};
pub use transcript::{ConversationEnd, Transcript, Turn, TurnCheck, UserMistake, UserMistakeKind};
pub use validate::{ItemError, validate_items};
pub(crate) use validate::{validate_item, validate_stored_item};
pub use variant::RunVariant;
#[doc(hidden)]
pub use workspace::PatchLine;
pub use workspace::{ChangedFile, FileChange, WorkspaceChanges};
