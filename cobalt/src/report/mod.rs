//! What a run found: the result model, its statistics, and the thresholds that judge it.
//!
//! A [`Report`] is what [`Experiment::run`](crate::Experiment::run) returns and what a result file holds, those of the
//! original tool included. It is plain data: every figure is a field, and [`files`](crate::files) has a table of them
//! with their units.
//!
//! ```
//! use cobalt::{ExactMatch, Experiment};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), cobalt::Error> {
//! let sums = cobalt::Dataset::from_items([
//!     cobalt::item! { "id": "small", "input": [2, 2], "expectedOutput": 4 },
//!     cobalt::item! { "id": "large", "input": [300, 1], "expectedOutput": 301 },
//!     cobalt::item! { "id": "odd", "input": ["two", 2], "expectedOutput": 4 },
//! ]);
//! let report = Experiment::new("sums", sums)
//!     .evaluator(ExactMatch::new("exact", "expectedOutput"))
//!     .save(false)
//!     .run(|item: cobalt::Item| async move {
//!         let numbers: Vec<u8> = serde_json::from_value(item["input"].clone())?;
//!         Ok::<u64, serde_json::Error>(numbers.into_iter().map(u64::from).sum())
//!     })
//!     .await?;
//!
//! // An agent's error is no low score: the mean is that of the scores there are.
//! let summary = &report.summary;
//! assert_eq!((summary.successful_items, summary.failed_items), (1, 2));
//! assert_eq!(summary.scores["exact"].avg, 1.0);
//!
//! let failed = report.items.iter().find(|item| item.key == "large").expect("each item is in the report");
//! assert!(failed.error().is_some_and(|error| error.contains("u8")));
//! # Ok(())
//! # }
//! ```
//!
//! # Judging again
//!
//! A report can be held against other thresholds than those of its experiment:
//!
//! ```
//! use cobalt::llm::prices::PriceTable;
//! use cobalt::report::{Figures, Report, Threshold, judge};
//!
//! fn meets(report: &Report, threshold: &Threshold) -> bool {
//!     let config = &report.config;
//!     let names = config.evaluators.iter().map(String::as_str);
//!     let evaluators: Vec<_> = names.zip(config.pass_marks.iter().copied()).collect();
//!     let figures = Figures::gather(&report.items, &evaluators, &PriceTable::default());
//!     judge(threshold, &figures).passed
//! }
//! ```

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
pub use model::{Report, ReportJsonError};
pub(crate) use model::{SCHEMA, Said};
pub use outcome::{CiStatus, RunVerdict, ThresholdOutcome, Violation};
pub use shard::Shard;
pub(crate) use summary::ItemCounts;
pub use summary::{LatencyStats, ScoreStats, Summary};
pub(crate) use threshold::duration;
pub use threshold::{Category, Comparison, LatencyBound, Metric, NumberBound, Threshold, ThresholdError};
pub use verdict::judge;
pub(crate) use verdict::{Against, ci_status, judge_all};
