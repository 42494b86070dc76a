//! The grammar of thresholds: categories, metrics, the direction of each bound, and what to say when one is wrong.
//!
//! `cobalt` and its attributes share it, and refuse a threshold in the same words at run time and at compile time. Use it through
//! `cobalt`; this crate is no use by itself.

mod words;

use std::fmt;

pub use words::{DURATION_UNITS, closest, duration_nanos, listing, not_from_zero_to_one};

/// The word that stands before the name of an evaluator that is no identifier: `evaluators["any name"]`.
pub const EVALUATORS: &str = "evaluators";

/// What a threshold measures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    #[doc(hidden)]
    pub const NAMES: [&'static str; 5] = ["score", "latency", "tokens", "cost", "judge_cost"];

    /// The category of this name, unless it is the name of an evaluator.
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
    #[doc(hidden)]
    pub fn is_score(&self) -> bool {
        matches!(self, Self::Score | Self::Evaluator(_))
    }

    /// The metric of this name, without a mark, or what to write instead.
    #[doc(hidden)]
    pub fn metric(&self, name: &str) -> Result<Metric, String> {
        match Metric::from_name(name) {
            Some(metric) if self.metrics().contains(&name) => Ok(metric),
            _ => Err(self.no_such_metric(name)),
        }
    }

    /// The metric of this name that is one of two runs, or what to write instead.
    #[doc(hidden)]
    pub fn baseline_metric(&self, name: &str) -> Result<Metric, String> {
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
    #[doc(hidden)]
    pub fn direction(&self, metric: Metric) -> Direction {
        match (self.is_score(), metric) {
            (_, metric) if metric.is_against_baseline() => Direction::Upper,
            (true, Metric::Max) => Direction::Upper,
            (true, _) | (false, Metric::Min) => Direction::Lower,
            (false, _) => Direction::Upper,
        }
    }

    /// Refuses a comparison that would ask for bad values; `bound` is shown as it was written.
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
            Direction::Lower => "must not fall below its bound",
            Direction::Upper => "must not rise above its bound",
        };
        let figure = self.figure(metric);
        let message = format!("`{figure}` {side}: write `{figure} {right} {bound}`");
        Err(message)
    }

    /// A figure as it is written in a threshold: `score.avg`, `vs_baseline.score.drop`.
    #[doc(hidden)]
    pub fn figure(&self, metric: Metric) -> String {
        metric.of(&self.to_string())
    }

    /// Says that a bound is of the wrong kind, and of which it must be.
    #[doc(hidden)]
    pub fn wrong_bound(&self, metric: Metric, bound: &str) -> String {
        let subject = if metric.is_against_baseline() { self.figure(metric) } else { self.to_string() };
        format!("the bound of `{subject}` is {}, not `{bound}`", self.unit(metric))
    }

    /// Refuses a bound that no value can be held against.
    #[doc(hidden)]
    pub fn check_bound(&self, bound: f64) -> Result<(), String> {
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
pub fn is_plain(name: &str) -> bool {
    let identifier = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    identifier && ![EVALUATORS, VS_BASELINE].contains(&name) && Category::from_name(name).is_none()
}

/// The word that stands before a figure that is one of two runs: `vs_baseline.score.drop`.
pub const VS_BASELINE: &str = "vs_baseline";

/// A threshold against a baseline, as messages show one.
pub const VS_BASELINE_EXAMPLE: &str = "vs_baseline.score.drop <= 0.02";

/// The figure that a threshold looks at.
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
    #[doc(hidden)]
    pub fn of(self, subject: &str) -> String {
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
    fn meant_by(word: &str, known: &[&'static str]) -> Option<&'static str> {
        let synonyms = Self::SYNONYMS.map(|(synonym, _)| synonym);
        closest(word, known).or_else(|| {
            let synonym = closest(word, &synonyms)?;
            Self::SYNONYMS.iter().find(|(word, _)| *word == synonym).map(|(_, name)| *name)
        })
    }

    /// Gives the metric a mark, as `pass_rate(0.6)` does; only a pass rate takes one.
    #[doc(hidden)]
    pub fn with_mark(self, mark: f64) -> Result<Self, String> {
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

/// How a measured value is held against the bound.
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

/// On which side of the bound the good values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The value must not fall below the bound: `>=` or `>`.
    Lower,
    /// The value must not rise above the bound: `<=` or `<`.
    Upper,
}

/// How much a figure may be off by rounding, as a share of it.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// The comparison that is written so.
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

    /// How the comparison is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// The side on which the values lie that it lets pass.
    #[doc(hidden)]
    pub fn direction(self) -> Direction {
        match self {
            Self::AtLeast | Self::Above => Direction::Lower,
            Self::AtMost | Self::Below => Direction::Upper,
        }
    }

    /// The comparison that says the same with its two sides exchanged.
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
    /// Figures are worked out from rounded numbers: the mean of 0.7, 0.8 and 0.9 comes out a little below 0.8. What
    /// differs by no more than such rounding is equal.
    pub fn holds(self, value: f64, bound: f64) -> bool {
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

/// Refuses `=`, `==` and `!=`, and says what to write.
pub fn not_a_comparison(symbol: &str, category: &Category, metric: Metric, bound: &str) -> String {
    let right = match category.direction(metric) {
        Direction::Lower => Comparison::AtLeast,
        Direction::Upper => Comparison::AtMost,
    };
    let figure = category.figure(metric);
    format!("a threshold is a bound, not `{symbol}`: write `{figure} {right} {bound}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_decides_no_threshold() {
        let mean = (0.7 + 0.8 + 0.9) / 3.0;
        assert!(mean < 0.8, "the case that this is about");
        assert!(Comparison::AtLeast.holds(mean, 0.8) && !Comparison::Below.holds(mean, 0.8));
        assert!(Comparison::AtMost.holds(0.1 + 0.2, 0.3) && !Comparison::Above.holds(0.1 + 0.2, 0.3));
        assert!(!Comparison::AtLeast.holds(0.799_999, 0.8));
        assert!(!Comparison::AtMost.holds(2e-13, 1e-13), "small amounts are told apart");
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
            "`score.avg` must not fall below its bound: write `score.avg >= 1`"
        );
        assert_eq!(
            refused(Category::Latency, Metric::P95, Comparison::Above),
            "`latency.p95` must not rise above its bound: write `latency.p95 < 1`"
        );
    }
}
