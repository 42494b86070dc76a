//! What a threshold measures, and which metrics, bounds and comparisons suit that.

use std::fmt;

use super::comparison::{Comparison, Direction};
use super::metric::{Metric, VS_BASELINE};
use super::words::{listing, not_from_zero_to_one};

/// The word that stands before the name of an evaluator that is no identifier: `evaluators["any name"]`.
pub(crate) const EVALUATORS: &str = "evaluators";

/// What a threshold measures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// All scores of all evaluators, each from 0 to 1.
    Score,
    /// The scores of the evaluator of this name, each from 0 to 1.
    Evaluator(String),
    /// How long the agent took for an item, in milliseconds.
    Latency,
    /// The tokens that the agent used for an item.
    Tokens,
    /// What the agent's calls cost for an item, in US dollars.
    Cost,
    /// What the judges' calls cost for an item, in US dollars.
    JudgeCost,
}

impl Category {
    /// The names of the categories; any other name is an evaluator's.
    pub(crate) const NAMES: [&'static str; 5] = ["score", "latency", "tokens", "cost", "judge_cost"];

    /// The category of this name, unless it is the name of an evaluator.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "score" => Self::Score,
            "latency" => Self::Latency,
            "tokens" => Self::Tokens,
            "cost" => Self::Cost,
            "judge_cost" => Self::JudgeCost,
            _ => return None,
        })
    }

    /// The category's name, or the evaluator's.
    pub fn name(&self) -> &str {
        match self {
            Self::Score => "score",
            Self::Evaluator(name) => name,
            Self::Latency => "latency",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::JudgeCost => "judge_cost",
        }
    }

    /// The names of the metrics that this category has.
    pub fn metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["avg", "min", "max", "p50", "p95", "p99", "pass_rate"],
            Self::Latency => &["avg", "min", "max", "p50", "p95", "p99", "total"],
            Self::JudgeCost => &["total", "avg", "min", "max", "p50", "p95", "p99"],
            Self::Tokens | Self::Cost => &["avg", "min", "p50", "p95", "p99", "total"],
        }
    }

    /// The names of the metrics that this category has against a baseline.
    pub fn baseline_metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["drop"],
            Self::Latency | Self::Tokens | Self::Cost => &["rise", "ratio"],
            // It hangs on what the cache holds, and says nothing of the agent.
            Self::JudgeCost => &[],
        }
    }

    /// Whether the values are scores, which lie between 0 and 1.
    pub(crate) fn is_score(&self) -> bool {
        matches!(self, Self::Score | Self::Evaluator(_))
    }

    /// The metric of this name, without a mark, or what to write instead.
    pub(crate) fn metric(&self, name: &str) -> Result<Metric, String> {
        match Metric::from_name(name) {
            Some(metric) if self.metrics().contains(&name) => Ok(metric),
            _ => Err(self.no_such_metric(name)),
        }
    }

    /// The metric of this name that is one of two runs, or what to write instead.
    pub(crate) fn baseline_metric(&self, name: &str) -> Result<Metric, String> {
        let known = self.baseline_metrics();
        match Metric::from_name(name) {
            Some(metric) if known.contains(&name) => return Ok(metric),
            _ if known.is_empty() => {
                let message =
                    format!("`{self}` is held against no baseline: it hangs on what the cache holds");
                return Err(message);
            }
            _ => {}
        }
        let listed = listing(known);
        Err(match Metric::meant_by(name, known).filter(|meant| known.contains(meant)) {
            Some(meant) => format!(
                "against a baseline, `{self}` has no metric `{name}`: did you mean `{meant}`? (it has {listed})"
            ),
            None => format!("against a baseline, `{self}` has no metric `{name}`: it has {listed}"),
        })
    }

    fn no_such_metric(&self, name: &str) -> String {
        let category = self;
        if self.baseline_metrics().contains(&name) {
            return format!(
                "`{category}` has no metric `{name}` by itself: against a baseline write \
                 `{VS_BASELINE}.{category}.{name}`"
            );
        }
        if name == "max" && self.metrics().contains(&"total") {
            return format!("`{category}` has no `max`: for the sum over all items write `{category}.total`");
        }
        let known = listing(self.metrics());
        match Metric::meant_by(name, self.metrics()).filter(|meant| self.metrics().contains(meant)) {
            Some(meant) => {
                format!("`{category}` has no metric `{name}`: did you mean `{meant}`? (it has {known})")
            }
            None => format!("`{category}` has no metric `{name}`: it has {known}"),
        }
    }

    /// The side on which the good values of a metric lie.
    pub(crate) fn direction(&self, metric: Metric) -> Direction {
        match (self.is_score(), metric) {
            (_, metric) if metric.is_against_baseline() => Direction::Upper,
            (true, Metric::Max) => Direction::Upper,
            (true, _) | (false, Metric::Min) => Direction::Lower,
            (false, _) => Direction::Upper,
        }
    }

    /// Refuses a comparison that would ask for bad values; `bound` is shown as it was written.
    pub(crate) fn check_comparison(
        &self,
        metric: Metric,
        comparison: Comparison,
        bound: &str,
    ) -> Result<(), String> {
        let direction = self.direction(metric);
        if comparison.direction() == direction {
            return Ok(());
        }
        let right = comparison.mirrored();
        let side = match direction {
            Direction::Lower => "must not fall below its bound",
            Direction::Upper => "must not rise above its bound",
        };
        let figure = self.figure(metric);
        let message = format!("`{figure}` {side}: write `{figure} {right} {bound}`");
        Err(message)
    }

    /// A figure as it is written in a threshold: `score.avg`, `vs_baseline.score.drop`.
    pub(crate) fn figure(&self, metric: Metric) -> String {
        metric.of(&self.to_string())
    }

    /// Says that a bound is of the wrong kind, and of which it must be.
    pub(crate) fn wrong_bound(&self, metric: Metric, bound: &str) -> String {
        let subject = if metric.is_against_baseline() { self.figure(metric) } else { self.to_string() };
        format!("the bound of `{subject}` is {}, not `{bound}`", self.unit(metric))
    }

    /// Refuses a bound that no value can be held against.
    pub(crate) fn check_bound(&self, bound: f64) -> Result<(), String> {
        if self.is_score() && !(0.0..=1.0).contains(&bound) {
            return Err(format!("scores {}", not_from_zero_to_one(bound)));
        }
        if !bound.is_finite() || bound < 0.0 {
            let message = format!("the bound of `{self}` must be a number from 0 upwards, not {bound}");
            return Err(message);
        }
        Ok(())
    }

    /// What a bound of this category is, for messages.
    fn unit(&self, metric: Metric) -> &'static str {
        match self {
            _ if metric == Metric::Ratio => "a number such as `1.1`, for a tenth more than the baseline",
            Self::Score | Self::Evaluator(_) => "a number from 0 to 1",
            Self::Latency => "a duration such as `5s` or `800ms`, or a number of milliseconds",
            Self::Tokens => "a number of tokens",
            Self::Cost | Self::JudgeCost => "an amount in US dollars",
        }
    }
}

/// The category as it is written in a threshold: `score`, `concise`, `evaluators["any name"]`.
impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluator(name) if !is_plain(name) => {
                let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
                write!(formatter, r#"{EVALUATORS}["{escaped}"]"#)
            }
            _ => formatter.write_str(self.name()),
        }
    }
}

/// Whether a name stands for an evaluator without quotes: an identifier that is not taken.
pub(crate) fn is_plain(name: &str) -> bool {
    let identifier = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    identifier && ![EVALUATORS, VS_BASELINE].contains(&name) && Category::from_name(name).is_none()
}
