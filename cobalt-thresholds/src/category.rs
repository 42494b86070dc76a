//! What a threshold measures.

use std::borrow::Cow;
use std::fmt;

use crate::messages::{join_quoted, out_of_range_message};
use crate::{Direction, EVALUATORS, METRICS, Metric, VARIANTS, VS_BASELINE};

/// What a threshold measures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Category {
    /// All scores of all evaluators, each from 0 to 1.
    Score,
    /// The scores of the evaluator of this name, each from 0 to 1.
    Evaluator(String),
    /// The agent's latency per item, in milliseconds.
    Latency,
    /// The time from a request to the first token of its response, in milliseconds.
    TimeToFirstToken,
    /// The agent's tokens per item.
    Tokens,
    /// The tokens per item of the model of this name.
    ModelTokens(String),
    /// The agent cost per item, in US dollars.
    Cost,
    /// The cost per item of the model of this name, in US dollars.
    ModelCost(String),
    /// The judge cost per item, in US dollars.
    JudgeCost,
    /// The cost of simulated users per item, in US dollars.
    UserCost,
    /// The agent's model calls per item.
    ModelCalls,
    /// The agent's tool calls per item.
    ToolCalls,
    /// The metric of this name that agents record or a summary function calculates.
    CustomMetric(String),
}

impl Category {
    /// The model whose tokens or cost it is.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::ModelTokens(model) | Self::ModelCost(model) => Some(model),
            _ => None,
        }
    }

    /// The names of the categories; any other name is an evaluator's.
    #[doc(hidden)]
    pub const NAMES: [&'static str; 9] = [
        "score",
        "latency",
        "time_to_first_token",
        "tokens",
        "cost",
        "judge_cost",
        "user_cost",
        "model_calls",
        "tool_calls",
    ];

    /// What a name in brackets may follow: `evaluators["any name"]`, `tokens["gpt-4o"]`.
    #[doc(hidden)]
    pub const WITH_NAME: [&'static str; 4] = [EVALUATORS, "tokens", "cost", METRICS];

    /// The category with this name; `None` for the name of an evaluator.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "score" => Self::Score,
            "latency" => Self::Latency,
            "time_to_first_token" => Self::TimeToFirstToken,
            "tokens" => Self::Tokens,
            "cost" => Self::Cost,
            "judge_cost" => Self::JudgeCost,
            "user_cost" => Self::UserCost,
            "model_calls" => Self::ModelCalls,
            "tool_calls" => Self::ToolCalls,
            _ => return None,
        })
    }

    /// The category of a name in brackets: of `tokens["gpt-4o"]`, `prefix` is `tokens`.
    #[doc(hidden)]
    pub fn with_name(prefix: &str, name: String) -> Option<Self> {
        Some(match prefix {
            EVALUATORS => Self::Evaluator(name),
            "tokens" => Self::ModelTokens(name),
            "cost" => Self::ModelCost(name),
            METRICS => Self::CustomMetric(name),
            _ => return None,
        })
    }

    /// The category's name, or the evaluator's. For a model or a metric of one's own, it contains its name: `tokens.gpt-4o`,
    /// `metrics.retrieved`.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Score => "score",
            Self::Evaluator(name) => name,
            Self::Latency => "latency",
            Self::TimeToFirstToken => "time_to_first_token",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::JudgeCost => "judge_cost",
            Self::UserCost => "user_cost",
            Self::ModelCalls => "model_calls",
            Self::ToolCalls => "tool_calls",
            Self::ModelTokens(name) => return Cow::Owned(format!("tokens.{name}")),
            Self::ModelCost(name) => return Cow::Owned(format!("cost.{name}")),
            Self::CustomMetric(name) => return Cow::Owned(format!("{METRICS}.{name}")),
        })
    }

    /// The names of this category's metrics.
    pub fn metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["avg", "min", "max", "p50", "p95", "p99", "pass_rate"],
            Self::Latency | Self::ModelCalls | Self::ToolCalls => {
                &["avg", "min", "max", "p50", "p95", "p99", "total"]
            }
            Self::TimeToFirstToken => &["avg", "min", "max", "p50", "p95", "p99"],
            Self::JudgeCost | Self::UserCost => &["total", "avg", "min", "max", "p50", "p95", "p99"],
            Self::Tokens | Self::ModelTokens(_) | Self::Cost | Self::ModelCost(_) => {
                &["avg", "min", "p50", "p95", "p99", "total"]
            }
            Self::CustomMetric(_) => &["avg", "min", "max", "p50", "p95", "p99", "total", "value"],
        }
    }

    /// The names of this category's metrics against a baseline.
    pub fn baseline_metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["drop"],
            Self::Latency | Self::Tokens | Self::Cost => &["rise", "ratio"],
            Self::CustomMetric(_) => &["drop", "rise"],
            // These costs depend on the cache, not only on the agent.
            Self::JudgeCost
            | Self::UserCost
            | Self::TimeToFirstToken
            | Self::ModelTokens(_)
            | Self::ModelCost(_)
            | Self::ModelCalls
            | Self::ToolCalls => &[],
        }
    }

    /// The names of this category's metrics against another variant.
    #[doc(hidden)]
    pub fn variant_metrics(&self) -> Vec<&'static str> {
        let names = self.baseline_metrics().iter();
        names.filter_map(|name| Metric::from_name(name)?.variant_name()).collect()
    }

    /// The names of this category's metrics of the worst group.
    pub fn group_metrics(&self) -> &'static [&'static str] {
        match self {
            Self::Score | Self::Evaluator(_) => &["min_avg", "min_pass_rate"],
            Self::Latency | Self::Tokens | Self::Cost => &["max_avg"],
            Self::CustomMetric(_)
            | Self::JudgeCost
            | Self::UserCost
            | Self::TimeToFirstToken
            | Self::ModelTokens(_)
            | Self::ModelCost(_)
            | Self::ModelCalls
            | Self::ToolCalls => &[],
        }
    }

    /// Whether the values are scores from 0 to 1.
    #[doc(hidden)]
    pub fn is_score(&self) -> bool {
        matches!(self, Self::Score | Self::Evaluator(_))
    }

    /// Whether the values are US dollars.
    #[doc(hidden)]
    pub fn is_cost(&self) -> bool {
        matches!(self, Self::Cost | Self::ModelCost(_) | Self::JudgeCost | Self::UserCost)
    }

    /// Whether the values are durations.
    #[doc(hidden)]
    pub fn is_duration(&self) -> bool {
        matches!(self, Self::Latency | Self::TimeToFirstToken)
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
                let is_cached = matches!(self, Self::JudgeCost | Self::UserCost);
                let reason = if is_cached { ": it depends on the cache" } else { "" };
                return Err(format!("`{self}` cannot be compared with a baseline{reason}"));
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

    /// The metric with this name against another variant, or an error that suggests one.
    pub(crate) fn variant_metric(&self, name: &str) -> Result<Metric, String> {
        let known = self.variant_metrics();
        match Metric::from_variant_name(name) {
            Some(metric) if known.contains(&name) => Ok(metric),
            _ if known.is_empty() => Err(format!("`{self}` cannot be compared with a variant")),
            _ => Err(format!("`{self}` has no metric `{name}` against a variant: {}", list_metrics(&known))),
        }
    }

    /// The metric of the worst group with this name, or an error that suggests one.
    pub(crate) fn group_metric(&self, field: &str, name: &str) -> Result<Metric, String> {
        let known = self.group_metrics();
        match Metric::from_name(name) {
            Some(metric) if known.contains(&name) => return Ok(metric),
            _ if known.is_empty() => return Err(format!("`{self}` cannot be measured by groups")),
            _ => {}
        }
        let figure = format!("{self}.by({})", quoted(field));
        let meant = known.iter().find(|known| known.ends_with(&format!("_{name}"))).copied();
        let meant = meant.or_else(|| Metric::suggest(name, known).filter(|meant| known.contains(meant)));
        let listed = list_metrics(known);
        Err(match meant {
            Some(meant) => format!("`{figure}` has no metric `{name}`: did you mean `{meant}`? ({listed})"),
            None => format!("`{figure}` has no metric `{name}`: {listed}"),
        })
    }

    /// An example of a metric by groups: `score.by("category").min_avg`.
    pub(crate) fn group_example(&self, field: &str) -> String {
        let metric = self.group_metrics().first().unwrap_or(&"min_avg");
        format!("{self}.by({}).{metric}", quoted(field))
    }

    fn unknown_metric_message(&self, name: &str) -> String {
        let category = self;
        if self.baseline_metrics().contains(&name) {
            let against = Metric::from_name(name).and_then(Metric::variant_name).unwrap_or_default();
            return format!(
                "`{category}` has no metric `{name}`: to compare with a baseline, write \
                 `{VS_BASELINE}.{category}.{name}`; with a variant, `{category}.{against}(name)`"
            );
        }
        if self.group_metrics().contains(&name) {
            return format!(
                "`{category}` has no metric `{name}`: to measure the worst group of items, write \
                 `{category}.by(\"category\").{name}`"
            );
        }
        if name == "max" && self.metrics().contains(&"total") {
            return format!("`{category}` has no `max`: for the sum over all items write `{category}.total`");
        }
        let listed = list_metrics(self.metrics());
        let suggested =
            |known: &[&'static str]| Metric::suggest(name, known).filter(|meant| known.contains(meant));
        if let Some(meant) = suggested(self.metrics()) {
            return format!("`{category}` has no metric `{name}`: did you mean `{meant}`? ({listed})");
        }
        if let Some(meant) = suggested(&self.variant_metrics()) {
            return format!("`{category}` has no metric `{name}`: did you mean `{meant}(name)`? ({listed})");
        }
        format!("`{category}` has no metric `{name}`: {listed}")
    }

    /// Whether a metric needs a lower or an upper bound; `None` if it takes both.
    #[doc(hidden)]
    pub fn direction(&self, metric: Metric) -> Option<Direction> {
        Some(match (self.is_score(), metric) {
            (_, metric) if metric.compares_runs() => Direction::Upper,
            (_, Metric::MinAvg | Metric::MinPassRate(_)) => Direction::Lower,
            (_, Metric::MaxAvg) => Direction::Upper,
            _ if matches!(self, Self::CustomMetric(_)) => return None,
            (true, Metric::Max) => Direction::Upper,
            (true, _) | (false, Metric::Min) => Direction::Lower,
            (false, _) => Direction::Upper,
        })
    }

    /// Rejects a bound that is out of range.
    pub(crate) fn check_bound(&self, metric: Metric, bound: f64) -> Result<(), String> {
        if self.is_score() && !(0.0..=1.0).contains(&bound) {
            return Err(format!("scores {}", out_of_range_message(bound)));
        }
        if matches!(self, Self::CustomMetric(_)) && !metric.compares_runs() && bound.is_finite() {
            return Ok(());
        }
        if !bound.is_finite() || bound < 0.0 {
            let message = format!("the bound of `{self}` must be at least 0, not {bound}");
            return Err(message);
        }
        Ok(())
    }

    /// Describes a bound of this category in messages.
    pub(crate) fn bound_kind(&self, metric: Metric) -> &'static str {
        match self {
            _ if metric == Metric::Ratio => "a number such as `1.1`, for 10% more",
            Self::Score | Self::Evaluator(_) => "a number from 0 to 1",
            Self::Latency | Self::TimeToFirstToken => {
                "a duration such as `5s` or `800ms`, or a number of milliseconds"
            }
            Self::Tokens | Self::ModelTokens(_) => "a number of tokens",
            Self::Cost | Self::ModelCost(_) | Self::JudgeCost | Self::UserCost => "an amount in US dollars",
            Self::ModelCalls | Self::ToolCalls => "a number of calls",
            Self::CustomMetric(_) => "a number",
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

/// The category's text form in a threshold: `score`, `concise`, `evaluators["any name"]`, `tokens["gpt-4o"]`.
impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, name) = match self {
            Self::Evaluator(name) if !is_plain_name(name) => (EVALUATORS, name),
            Self::ModelTokens(name) => ("tokens", name),
            Self::ModelCost(name) => ("cost", name),
            Self::CustomMetric(name) => (METRICS, name),
            _ => return formatter.write_str(&self.name()),
        };
        write!(formatter, "{prefix}[{}]", quoted(name))
    }
}

/// A name in quotes, with escapes.
pub(crate) fn quoted(name: &str) -> String {
    let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
    format!(r#""{escaped}""#)
}

/// Whether an evaluator's name needs no quotes: an identifier that is not reserved.
pub fn is_plain_name(name: &str) -> bool {
    is_identifier(name)
        && ![EVALUATORS, METRICS, VARIANTS, VS_BASELINE].contains(&name)
        && Category::from_name(name).is_none()
}

/// Whether a name consists of letters, digits and `_`, and does not start with a digit.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_of_a_category_is_read_by_its_name() {
        let plain = Category::NAMES.map(|name| {
            let category = Category::from_name(name).unwrap();
            assert_eq!(category.to_string(), name);
            category
        });
        let named = Category::WITH_NAME.map(|prefix| {
            let category = Category::with_name(prefix, "a \"b\"".to_owned()).unwrap();
            assert_eq!(category.to_string(), format!(r#"{prefix}["a \"b\""]"#));
            category
        });
        for category in plain.into_iter().chain(named) {
            for metric in category.metrics() {
                assert_eq!(category.metric(metric).unwrap().to_string(), *metric);
            }
            for metric in category.variant_metrics() {
                assert_eq!(category.variant_metric(metric).unwrap().variant_name(), Some(metric));
            }
            for metric in category.group_metrics() {
                assert_eq!(category.group_metric("field", metric).unwrap().to_string(), *metric);
            }
            for metric in category.baseline_metrics() {
                assert!(category.baseline_metric(metric).unwrap().compares_runs());
            }
        }
    }
}
