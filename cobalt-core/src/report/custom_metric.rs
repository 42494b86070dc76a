//! Metrics of an agent's own: numbers that it records, with a unit and a direction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stats::Interval;
use crate::redact::redact;

/// The metric of conversations that counts the mistakes of simulated users; a script has none.
pub const USER_MISTAKES: &str = "user_mistakes";

/// The metrics of one execution, by name.
pub type Metrics = BTreeMap<String, MetricValue>;

/// The value of a metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MetricValue {
    /// The value, a finite number.
    pub value: f64,
    /// The unit, such as `ms` or `documents`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether higher or lower values are better, if either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// The metric without secrets in its texts.
pub fn redacted_metric((mut name, mut metric): (String, MetricValue)) -> (String, MetricValue) {
    redact(&mut name);
    metric.unit.iter_mut().for_each(redact);
    (name, metric)
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Higher values.
    Higher,
    /// Lower values.
    Lower,
}

/// A metric's values over all executions that recorded it.
///
/// Percentiles interpolate linearly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MetricStats {
    /// The mean.
    pub avg: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The sum; the largest number, about 1.8e308, if it is larger.
    pub total: f64,
    /// The number of executions that recorded it.
    pub count: usize,
    /// The 95% CI of the mean, by clusters of items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Interval>,
    /// The unit, such as `ms` or `documents`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether higher or lower values are better, if either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// A metric of the whole run, which a summary function calculates from all items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunMetric {
    /// The value.
    pub value: f64,
    /// The 95% CI, from a bootstrap over clusters of items; absent if it cannot be calculated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Interval>,
    /// Why there is no 95% CI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether higher or lower values are better, if either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// The results of a run's summary functions, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummaries {
    /// The metrics.
    pub metrics: BTreeMap<String, RunMetric>,
    /// The tables.
    pub tables: BTreeMap<String, RunTable>,
    /// Why functions failed.
    pub errors: BTreeMap<String, String>,
}

/// A table of the whole run, such as a confusion matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunTable {
    /// The header of the rows' names, such as `expected`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with its name and one value per column.
    pub rows: Vec<(String, Vec<f64>)>,
}
