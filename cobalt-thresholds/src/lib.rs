//! The grammar of thresholds: categories, metrics, the direction of each bound, and the error messages.
//!
//! `cobalt` and its attributes share it, so they report the same errors at run time and at compile time. Use it through `cobalt`;
//! do not depend on this crate directly.

mod messages;

use std::fmt;

pub use messages::{DURATION_UNITS, closest, duration_nanos, join_quoted, out_of_range_message};

/// The prefix for an evaluator whose name is not an identifier: `evaluators["any name"]`.
pub const EVALUATORS: &str = "evaluators";

/// What a threshold measures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Category {
    /// All scores of all evaluators, each from 0 to 1.
    Score,
    /// The scores of the evaluator of this name, each from 0 to 1.
    Evaluator(String),
    /// The agent's latency per item, in milliseconds.
    Latency,
    /// The agent's tokens per item.
    Tokens,
    /// The agent cost per item, in US dollars.
    Cost,
    /// The judge cost per item, in US dollars.
    JudgeCost,
}

impl Category {
    /// The names of the categories; any other name is an evaluator's.
    #[doc(hidden)]
    pub const NAMES: [&'static str; 5] = ["score", "latency", "tokens", "cost", "judge_cost"];

    /// The category with this name; `None` for the name of an evaluator.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Option<Self> {
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

    /// The names of this category's metrics.
    pub fn metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["avg", "min", "max", "p50", "p95", "p99", "pass_rate"],
            Self::Latency => &["avg", "min", "max", "p50", "p95", "p99", "total"],
            Self::JudgeCost => &["total", "avg", "min", "max", "p50", "p95", "p99"],
            Self::Tokens | Self::Cost => &["avg", "min", "p50", "p95", "p99", "total"],
        }
    }

    /// The names of this category's metrics against a baseline.
    pub fn baseline_metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["drop"],
            Self::Latency | Self::Tokens | Self::Cost => &["rise", "ratio"],
            // It depends on the cache, not on the agent.
            Self::JudgeCost => &[],
        }
    }

    /// Whether the values are scores from 0 to 1.
    #[doc(hidden)]
    pub fn is_score(&self) -> bool {
        matches!(self, Self::Score | Self::Evaluator(_))
    }

    /// The metric with this name, without a pass mark, or an error that suggests one.
    #[doc(hidden)]
    pub fn metric(&self, name: &str) -> Result<Metric, String> {
        match Metric::from_name(name) {
            Some(metric) if self.metrics().contains(&name) => Ok(metric),
            _ => Err(self.unknown_metric_message(name)),
        }
    }

    /// The metric against a baseline with this name, or an error that suggests one.
    #[doc(hidden)]
    pub fn baseline_metric(&self, name: &str) -> Result<Metric, String> {
        let known = self.baseline_metrics();
        match Metric::from_name(name) {
            Some(metric) if known.contains(&name) => return Ok(metric),
            _ if known.is_empty() => {
                let message = format!("`{self}` cannot be compared with a baseline: it depends on the cache");
                return Err(message);
            }
            _ => {}
        }
        let listed = list_metrics(known);
        Err(match Metric::suggest(name, known).filter(|meant| known.contains(meant)) {
            Some(meant) => {
                format!("`{VS_BASELINE}.{self}` has no metric `{name}`: did you mean `{meant}`? ({listed})")
            }
            None => format!("`{VS_BASELINE}.{self}` has no metric `{name}`: {listed}"),
        })
    }

    fn unknown_metric_message(&self, name: &str) -> String {
        let category = self;
        if self.baseline_metrics().contains(&name) {
            return format!(
                "`{category}` has no metric `{name}`: to compare with a baseline, write \
                 `{VS_BASELINE}.{category}.{name}`"
            );
        }
        if name == "max" && self.metrics().contains(&"total") {
            return format!("`{category}` has no `max`: for the sum over all items write `{category}.total`");
        }
        let known = list_metrics(self.metrics());
        match Metric::suggest(name, self.metrics()).filter(|meant| self.metrics().contains(meant)) {
            Some(meant) => {
                format!("`{category}` has no metric `{name}`: did you mean `{meant}`? ({known})")
            }
            None => format!("`{category}` has no metric `{name}`: {known}"),
        }
    }

    /// Whether a metric needs a lower or an upper bound.
    #[doc(hidden)]
    pub fn direction(&self, metric: Metric) -> Direction {
        match (self.is_score(), metric) {
            (_, metric) if metric.is_against_baseline() => Direction::Upper,
            (true, Metric::Max) => Direction::Upper,
            (true, _) | (false, Metric::Min) => Direction::Lower,
            (false, _) => Direction::Upper,
        }
    }

    /// Rejects a comparison that would require bad values; `bound` is its source text.
    #[doc(hidden)]
    pub fn check_comparison(
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
            Direction::Lower => "needs a lower bound",
            Direction::Upper => "needs an upper bound",
        };
        let figure = self.metric_text(metric);
        let message = format!("`{figure}` {side}: write `{figure} {right} {bound}`");
        Err(message)
    }

    /// The left-hand side of a threshold: `score.avg`, `vs_baseline.score.drop`.
    #[doc(hidden)]
    pub fn metric_text(&self, metric: Metric) -> String {
        metric.text_for(&self.to_string())
    }

    /// The message for a bound of the wrong kind.
    #[doc(hidden)]
    pub fn invalid_bound_message(&self, metric: Metric, bound: &str) -> String {
        let subject = if metric.is_against_baseline() { self.metric_text(metric) } else { self.to_string() };
        format!("the bound of `{subject}` must be {}, not `{bound}`", self.bound_kind(metric))
    }

    /// Rejects a bound that is out of range.
    #[doc(hidden)]
    pub fn check_bound(&self, bound: f64) -> Result<(), String> {
        if self.is_score() && !(0.0..=1.0).contains(&bound) {
            return Err(format!("scores {}", out_of_range_message(bound)));
        }
        if !bound.is_finite() || bound < 0.0 {
            let message = format!("the bound of `{self}` must be at least 0, not {bound}");
            return Err(message);
        }
        Ok(())
    }

    /// Describes a bound of this category in messages.
    fn bound_kind(&self, metric: Metric) -> &'static str {
        match self {
            _ if metric == Metric::Ratio => "a number such as `1.1`, for 10% more than the baseline",
            Self::Score | Self::Evaluator(_) => "a number from 0 to 1",
            Self::Latency => "a duration such as `5s` or `800ms`, or a number of milliseconds",
            Self::Tokens => "a number of tokens",
            Self::Cost | Self::JudgeCost => "an amount in US dollars",
        }
    }
}

/// Lists a category's metrics for messages.
fn list_metrics(metrics: &[&str]) -> String {
    match metrics {
        [only] => format!("its only metric is `{only}`"),
        _ => format!("its metrics are {}", join_quoted(metrics)),
    }
}

/// The category's text form in a threshold: `score`, `concise`, `evaluators["any name"]`.
impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluator(name) if !is_plain_name(name) => {
                let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
                write!(formatter, r#"{EVALUATORS}["{escaped}"]"#)
            }
            _ => formatter.write_str(self.name()),
        }
    }
}

/// Whether an evaluator's name needs no quotes: an identifier that is not reserved.
pub fn is_plain_name(name: &str) -> bool {
    let identifier = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    identifier && ![EVALUATORS, VS_BASELINE].contains(&name) && Category::from_name(name).is_none()
}

/// The prefix of metrics against a baseline: `vs_baseline.score.drop`.
pub const VS_BASELINE: &str = "vs_baseline";

/// An example of a threshold against a baseline, for messages.
pub const VS_BASELINE_EXAMPLE: &str = "vs_baseline.score.drop <= 0.02";

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
    /// How much the mean score is below that of the baseline, from 0 to 1.
    Drop,
    /// How much the mean is above that of the baseline: milliseconds per item, tokens or US dollars per trial.
    Rise,
    /// The mean divided by that of the baseline: 1.1 for 10% more.
    Ratio,
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
            "drop" => Self::Drop,
            "rise" => Self::Rise,
            "ratio" => Self::Ratio,
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
            Self::Drop => "drop",
            Self::Rise => "rise",
            Self::Ratio => "ratio",
        }
    }

    /// Whether the metric compares a run with its baseline.
    pub fn is_against_baseline(self) -> bool {
        matches!(self, Self::Drop | Self::Rise | Self::Ratio)
    }

    /// The metric of a category or evaluator, as written in a threshold.
    #[doc(hidden)]
    pub fn text_for(self, subject: &str) -> String {
        match self.is_against_baseline() {
            true => format!("{VS_BASELINE}.{subject}.{self}"),
            false => format!("{subject}.{self}"),
        }
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
    fn suggest(word: &str, known: &[&'static str]) -> Option<&'static str> {
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
            Self::PassRate(_) => Err(format!("pass marks {}", out_of_range_message(mark))),
            _ => Err(format!("only `pass_rate` takes a pass mark: write `{self}` without parentheses")),
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

/// How a measured value is compared with the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

/// Whether a bound is a lower or an upper one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A lower bound: `>=` or `>`.
    Lower,
    /// An upper bound: `<=` or `<`.
    Upper,
}

/// The relative tolerance for rounding errors.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// The comparison with this symbol.
    #[doc(hidden)]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            ">=" => Self::AtLeast,
            ">" => Self::Above,
            "<=" => Self::AtMost,
            "<" => Self::Below,
            _ => return None,
        })
    }

    /// The comparison's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// Whether it is a lower or an upper bound.
    #[doc(hidden)]
    pub fn direction(self) -> Direction {
        match self {
            Self::AtLeast | Self::Above => Direction::Lower,
            Self::AtMost | Self::Below => Direction::Upper,
        }
    }

    /// The equivalent comparison with its sides swapped.
    #[doc(hidden)]
    pub fn mirrored(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::Above => Self::Below,
            Self::AtMost => Self::AtLeast,
            Self::Below => Self::Above,
        }
    }

    /// Whether a measured value satisfies the bound; NaN never does.
    ///
    /// Values that differ only by rounding errors are equal: the calculated mean of 0.7, 0.8 and 0.9 is slightly below 0.8.
    pub fn is_met_by(self, value: f64, bound: f64) -> bool {
        let equal = (value - bound).abs() <= ROUNDING * value.abs().max(bound.abs());
        match self {
            Self::AtLeast => equal || value > bound,
            Self::Above => !equal && value > bound,
            Self::AtMost => equal || value < bound,
            Self::Below => !equal && value < bound,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.symbol())
    }
}

/// The message for `=`, `==` and `!=`.
pub fn invalid_operator_message(symbol: &str, category: &Category, metric: Metric, bound: &str) -> String {
    let right = match category.direction(metric) {
        Direction::Lower => Comparison::AtLeast,
        Direction::Upper => Comparison::AtMost,
    };
    let figure = category.metric_text(metric);
    format!("`{symbol}` cannot be used in a threshold: write `{figure} {right} {bound}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_decides_no_threshold() {
        let mean = (0.7 + 0.8 + 0.9) / 3.0;
        assert!(mean < 0.8, "the mean is below the bound");
        assert!(Comparison::AtLeast.is_met_by(mean, 0.8) && !Comparison::Below.is_met_by(mean, 0.8));
        assert!(Comparison::AtMost.is_met_by(0.1 + 0.2, 0.3) && !Comparison::Above.is_met_by(0.1 + 0.2, 0.3));
        assert!(!Comparison::AtLeast.is_met_by(0.799_999, 0.8));
        assert!(!Comparison::AtMost.is_met_by(2e-13, 1e-13), "small values are distinguished");
    }

    #[test]
    fn every_metric_of_a_category_is_read_by_its_name() {
        for name in Category::NAMES {
            let category = Category::from_name(name).unwrap();
            assert_eq!(category.to_string(), name);
            for metric in category.metrics() {
                assert_eq!(category.metric(metric).unwrap().to_string(), *metric);
            }
            for metric in category.baseline_metrics() {
                assert!(category.baseline_metric(metric).unwrap().is_against_baseline());
            }
        }
    }

    #[test]
    fn a_comparison_for_bad_values_is_refused_with_the_right_one() {
        let refused = |category: Category, metric, comparison| {
            category.check_comparison(metric, comparison, "1").unwrap_err()
        };
        assert_eq!(
            refused(Category::Score, Metric::Avg, Comparison::AtMost),
            "`score.avg` needs a lower bound: write `score.avg >= 1`"
        );
        assert_eq!(
            refused(Category::Latency, Metric::P95, Comparison::Above),
            "`latency.p95` needs an upper bound: write `latency.p95 < 1`"
        );
    }
}
