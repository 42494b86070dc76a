//! The metric of a threshold.

use std::fmt;

use crate::messages::{closest, out_of_range_message};

/// The metric of a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The share of scores, from 0 to 1, at or above a pass mark: this one, or else the evaluator's.
    PassRate(Option<f64>),
    /// The sum over all items.
    Total,
    /// The value for the whole run.
    Value,
    /// How much the mean is below that of the baseline or of another variant: of a score, from 0 to 1.
    Drop,
    /// How much the mean is above that of the baseline or of another variant: milliseconds per item, tokens or US dollars per trial.
    Rise,
    /// The mean divided by that of the baseline or of another variant: 1.1 for 10% more.
    Ratio,
    /// The smallest mean of a group of items.
    MinAvg,
    /// The smallest pass rate of a group of items, with this pass mark or else the evaluator's.
    MinPassRate(Option<f64>),
    /// The largest mean of a group of items.
    MaxAvg,
}

impl Metric {
    /// The metric with this name; `pass_rate` without a pass mark.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "avg" => Self::Avg,
            "min" => Self::Min,
            "max" => Self::Max,
            "p50" => Self::P50,
            "p95" => Self::P95,
            "p99" => Self::P99,
            "pass_rate" => Self::PassRate(None),
            "total" => Self::Total,
            "value" => Self::Value,
            "drop" => Self::Drop,
            "rise" => Self::Rise,
            "ratio" => Self::Ratio,
            "min_avg" => Self::MinAvg,
            "min_pass_rate" => Self::MinPassRate(None),
            "max_avg" => Self::MaxAvg,
            _ => return None,
        })
    }

    /// The metric's name, without its pass mark.
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
            Self::Value => "value",
            Self::Drop => "drop",
            Self::Rise => "rise",
            Self::Ratio => "ratio",
            Self::MinAvg => "min_avg",
            Self::MinPassRate(_) => "min_pass_rate",
            Self::MaxAvg => "max_avg",
        }
    }

    /// Whether the metric compares a run with another one: its baseline, or that of another variant.
    pub fn compares_runs(self) -> bool {
        matches!(self, Self::Drop | Self::Rise | Self::Ratio)
    }

    /// The metric's name against another variant: `drop_from` in `drop_from(large)`.
    #[doc(hidden)]
    pub fn variant_name(self) -> Option<&'static str> {
        Some(match self {
            Self::Drop => "drop_from",
            Self::Rise => "rise_from",
            Self::Ratio => "ratio_to",
            _ => return None,
        })
    }

    /// The metric with this name against another variant.
    #[doc(hidden)]
    pub fn from_variant_name(name: &str) -> Option<Self> {
        [Self::Drop, Self::Rise, Self::Ratio].into_iter().find(|metric| metric.variant_name() == Some(name))
    }

    /// Synonyms, and the metrics that they refer to.
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

    /// The known metric closest to `word`, also by synonyms.
    pub(crate) fn suggest(word: &str, known: &[&'static str]) -> Option<&'static str> {
        let synonyms = Self::SYNONYMS.map(|(synonym, _)| synonym);
        closest(word, known).or_else(|| {
            let synonym = closest(word, &synonyms)?;
            Self::SYNONYMS.iter().find(|(word, _)| *word == synonym).map(|(_, name)| *name)
        })
    }

    /// Sets the pass mark, as in `pass_rate(0.6)`; only a pass rate takes one.
    #[doc(hidden)]
    pub fn with_pass_mark(self, mark: f64) -> Result<Self, String> {
        match self {
            Self::PassRate(_) if (0.0..=1.0).contains(&mark) => Ok(Self::PassRate(Some(mark))),
            Self::MinPassRate(_) if (0.0..=1.0).contains(&mark) => Ok(Self::MinPassRate(Some(mark))),
            Self::PassRate(_) | Self::MinPassRate(_) => {
                Err(format!("pass marks {}", out_of_range_message(mark)))
            }
            _ => Err(format!("only `pass_rate` takes a pass mark: write `{self}` without parentheses")),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PassRate(Some(mark)) | Self::MinPassRate(Some(mark)) => {
                write!(formatter, "{}({mark})", self.name())
            }
            _ => formatter.write_str(self.name()),
        }
    }
}
