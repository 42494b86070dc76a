//! The figure that a threshold looks at: one of a run, or one of a run and its baseline.

use std::fmt;

use super::words::{closest, not_from_zero_to_one};

/// The word that stands before a figure that is one of two runs: `vs_baseline.score.drop`.
pub(crate) const VS_BASELINE: &str = "vs_baseline";

/// A threshold against a baseline, as messages show one.
pub(crate) const VS_BASELINE_EXAMPLE: &str = "vs_baseline.score.drop <= 0.02";

/// The figure that a threshold looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Metric {
    /// The arithmetic mean.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The median.
    P50,
    /// The 95th percentile, interpolated linearly.
    P95,
    /// The 99th percentile, interpolated linearly.
    P99,
    /// The share of scores, from 0 to 1, that reach a mark: this one, or else the evaluator's pass mark.
    PassRate(Option<f64>),
    /// The sum over all items.
    Total,
    /// By how much the mean score is below that of the baseline, from 0 to 1.
    Drop,
    /// By how much the mean is above that of the baseline: milliseconds for an item, tokens or US dollars for one run of it.
    Rise,
    /// The mean as a share of that of the baseline: 1.1 for a tenth more.
    Ratio,
}

impl Metric {
    /// The metric of this name; `pass_rate` without a mark.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "avg" => Self::Avg,
            "min" => Self::Min,
            "max" => Self::Max,
            "p50" => Self::P50,
            "p95" => Self::P95,
            "p99" => Self::P99,
            "pass_rate" => Self::PassRate(None),
            "total" => Self::Total,
            "drop" => Self::Drop,
            "rise" => Self::Rise,
            "ratio" => Self::Ratio,
            _ => return None,
        })
    }

    /// The metric's name, without its mark.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::PassRate(_) => "pass_rate",
            Self::Total => "total",
            Self::Drop => "drop",
            Self::Rise => "rise",
            Self::Ratio => "ratio",
        }
    }

    /// Whether the figure is one of two runs: this one and the baseline.
    pub fn is_against_baseline(self) -> bool {
        matches!(self, Self::Drop | Self::Rise | Self::Ratio)
    }

    /// The figure of a subject as it is written in a threshold.
    pub(crate) fn of(self, subject: &str) -> String {
        match self.is_against_baseline() {
            true => format!("{VS_BASELINE}.{subject}.{self}"),
            false => format!("{subject}.{self}"),
        }
    }

    /// Other words for the figures, and the names that they mean.
    const SYNONYMS: [(&'static str, &'static str); 14] = [
        ("mean", "avg"),
        ("average", "avg"),
        ("minimum", "min"),
        ("maximum", "max"),
        ("median", "p50"),
        ("passed", "pass_rate"),
        ("success_rate", "pass_rate"),
        ("accuracy", "pass_rate"),
        ("sum", "total"),
        ("count", "total"),
        ("decrease", "drop"),
        ("regression", "drop"),
        ("increase", "rise"),
        ("factor", "ratio"),
    ];

    /// The one of these names that was most likely meant by a word.
    pub(super) fn meant_by(word: &str, known: &[&'static str]) -> Option<&'static str> {
        let synonyms = Self::SYNONYMS.map(|(synonym, _)| synonym);
        closest(word, known).or_else(|| {
            let synonym = closest(word, &synonyms)?;
            Self::SYNONYMS.iter().find(|(word, _)| *word == synonym).map(|(_, name)| *name)
        })
    }

    /// Gives the metric a mark, as `pass_rate(0.6)` does; only a pass rate takes one.
    pub(crate) fn with_mark(self, mark: f64) -> Result<Self, String> {
        match self {
            Self::PassRate(_) if (0.0..=1.0).contains(&mark) => Ok(Self::PassRate(Some(mark))),
            Self::PassRate(_) => Err(format!("marks {}", not_from_zero_to_one(mark))),
            _ => Err(format!("only `pass_rate` takes a mark: write `{self}` without parentheses")),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PassRate(Some(mark)) => write!(formatter, "pass_rate({mark})"),
            _ => formatter.write_str(self.name()),
        }
    }
}
