//! The grammar of thresholds: categories, metrics, the direction of each bound, and the error messages.
//!
//! `cobalt` and its attributes share it, so they report the same errors at run time and at compile time. Use it through `cobalt`;
//! do not depend on this crate directly.

mod category;
mod comparison;
mod figure;
mod messages;
mod metric;

pub use category::{Category, is_plain_name};
pub use comparison::{Comparison, Direction};
pub use figure::{Figure, Subject};
pub use messages::{DURATION_UNITS, closest, duration_nanos, join_quoted, out_of_range_message};
pub use metric::Metric;

/// The prefix for an evaluator whose name is not an identifier: `evaluators["any name"]`.
pub const EVALUATORS: &str = "evaluators";

/// The prefix for a metric of one's own: `metrics["retrieved"]`.
pub const METRICS: &str = "metrics";

/// The prefix of metrics against a baseline: `vs_baseline.score.drop`.
pub const VS_BASELINE: &str = "vs_baseline";

/// An example of a threshold against a baseline, for messages.
pub const VS_BASELINE_EXAMPLE: &str = "vs_baseline.score.drop <= 0.02";

/// The prefix of thresholds for one variant: `variants.mini.score.avg`.
pub const VARIANTS: &str = "variants";

/// An example of a threshold for one variant, for messages.
pub const VARIANTS_EXAMPLE: &str = "variants.mini.score.avg >= 0.8";

/// What stands before the field of groups: `score.by("category").min_avg`.
pub const BY: &str = "by";
