//! Thresholds: bounds for an experiment as a whole, such as `correctness.pass_rate >= 0.95`.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use cobalt_thresholds::Figure;
pub use cobalt_thresholds::{Category, Comparison, Metric};
pub use parse::{LatencyBound, NumberBound, ThresholdError, parse_duration};

use crate::wording;

/// A bound on a metric of the report.
///
/// A threshold has a text form, the same as in the attribute:
///
/// ```
/// use cobalt::Threshold;
///
/// let threshold: Threshold = "latency.p95 <= 5s".parse()?;
/// assert_eq!(threshold.bound(), 5000.0);
/// assert_eq!(threshold.case_name(), "latency.p95<=5s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | category | metrics | bound |
/// |---|---|---|
/// | `score`, an evaluator's name, `evaluators["any name"]` | `avg`, `min`, `p50`, `p95`, `p99`, `pass_rate`, `pass_rate(0.6)` | `>=` or `>` a number from 0 to 1 |
/// | the same | `max` | `<=` or `<` a number from 0 to 1 |
/// | `latency` | `avg`, `max`, `p50`, `p95`, `p99`, `total` | `<=` or `<` a duration such as `5s`, or milliseconds |
/// | `time_to_first_token` | `avg`, `max`, `p50`, `p95`, `p99` | the same |
/// | `judge_cost`, `user_cost` | those of `latency` | `<=` or `<` US dollars |
/// | `model_calls`, `tool_calls` | the same | `<=` or `<` a number of calls |
/// | `tokens`, `tokens["gpt-4o"]` | `avg`, `p50`, `p95`, `p99`, `total` | `<=` or `<` a number of tokens |
/// | `cost`, `cost["gpt-4o"]` | `avg`, `p50`, `p95`, `p99`, `total` | `<=` or `<` US dollars |
/// | all of these from `latency` on | `min` | `>=` or `>` the same |
/// | `metrics["any name"]`, recorded by the agent | `avg`, `min`, `max`, `p50`, `p95`, `p99`, `total` | any comparison with a number |
/// | `metrics["any name"]`, of the whole run | `value` | the same |
/// | `vs_baseline.` before `score` or an evaluator | `drop` | `<=` or `<` a number from 0 to 1 |
/// | `vs_baseline.` before `latency`, `tokens` or `cost` | `rise` | `<=` or `<` a duration per item; tokens or US dollars per trial |
/// | the same | `ratio` | `<=` or `<` a number such as `1.1`, for 10% more |
/// | `vs_baseline.` before `metrics["any name"]` | `drop`, `rise` | `<=` or `<` a number |
/// | without `vs_baseline.`, against another variant | `drop_from(name)`, `rise_from("any name")`, `ratio_to(name)` | the same |
/// | `.by("field")` after `score` or an evaluator | `min_avg`, `min_pass_rate`, `min_pass_rate(0.6)` | `>=` or `>` a number from 0 to 1 |
/// | `.by("field")` after `latency`, `tokens` or `cost` | `max_avg` | `<=` or `<` the bound of `avg` |
///
/// Thresholds that start with `vs_baseline.` compare the mean over the items of a run with that of an
/// [earlier run](crate::report::comparison); see the attribute `experiment` for details. With `variants.mini.` or
/// `variants["any name"].` before it, each of these is for one variant only. With `.by("field")`, it is for the worst of the groups of
/// items with the same value of that field.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    figure: Figure,
    comparison: Comparison,
    bound: f64,
    label: Option<String>,
    /// The location, if it is not in code: `cobalt.toml:3`.
    place: Option<String>,
}

impl Threshold {
    /// A threshold for a metric of the report.
    ///
    /// The bound is in the category's own unit: a score from 0 to 1, milliseconds, tokens, US dollars, calls, or the metric's own.
    /// [`validate`](Self::validate) checks whether the four are consistent.
    #[must_use]
    pub fn new(category: Category, metric: Metric, comparison: Comparison, bound: f64) -> Self {
        Self { figure: Figure::new(category, metric), comparison, bound, label: None, place: None }
    }

    /// Restricts it to the variant with this name.
    #[must_use]
    pub fn with_variant(mut self, name: impl Into<String>) -> Self {
        self.figure.variant = Some(name.into());
        self
    }

    /// Compares with the variant of this name instead of the baseline; for the metrics [`Metric::Drop`], [`Metric::Rise`] and
    /// [`Metric::Ratio`].
    #[must_use]
    pub fn compared_with(mut self, variant: impl Into<String>) -> Self {
        self.figure.against = Some(variant.into());
        self
    }

    /// Groups the items by the value of a field; for the metrics [`Metric::MinAvg`], [`Metric::MinPassRate`] and [`Metric::MaxAvg`].
    #[must_use]
    pub fn grouped_by(mut self, field: impl Into<String>) -> Self {
        self.figure.by = Some(field.into());
        self
    }

    /// Sets the bound's source text, such as `5s`, for the names of test cases.
    ///
    /// Whitespace and underscores are removed.
    #[must_use]
    pub fn with_bound_text(mut self, bound: impl AsRef<str>) -> Self {
        let label = bound.as_ref().chars().filter(|letter| !letter.is_whitespace() && *letter != '_');
        self.label = Some(label.collect());
        self
    }

    /// Sets its location in a file.
    #[doc(hidden)]
    pub fn with_location(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    /// Its location in a file.
    #[doc(hidden)]
    pub fn location(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// What the threshold measures.
    #[must_use]
    pub fn category(&self) -> &Category {
        &self.figure.category
    }

    /// The metric that is compared with the bound.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.figure.metric
    }

    /// The only variant that it is for; `None` if it is for each.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.figure.variant.as_deref()
    }

    /// The variant that it compares a run with.
    #[must_use]
    pub fn against(&self) -> Option<&str> {
        self.figure.against.as_deref()
    }

    /// The field whose values form groups of items, if it is for the worst group.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        self.figure.by.as_deref()
    }

    /// Whether it compares a run with its baseline.
    #[must_use]
    pub fn is_against_baseline(&self) -> bool {
        self.figure.is_against_baseline()
    }

    /// Whether it compares a run with its baseline or with another variant.
    #[must_use]
    pub fn compares_runs(&self) -> bool {
        self.figure.metric.compares_runs()
    }

    /// Whether it compares a run with that of another variant.
    #[must_use]
    pub fn is_against_variant(&self) -> bool {
        self.figure.against.is_some()
    }

    /// The threshold for the run of the variant with this name, without `variants.<name>.`. `None` if it is for another variant, or
    /// compares with this one.
    #[must_use]
    pub fn for_variant(&self, name: &str) -> Option<Self> {
        if self.variant().is_some_and(|variant| variant != name) || self.against() == Some(name) {
            return None;
        }
        let mut threshold = self.clone();
        threshold.figure.variant = None;
        Some(threshold)
    }

    /// The metric in messages, without its category: `avg`, `drop_from(large)`, `by("category").min_avg`.
    pub(crate) fn metric_text(&self) -> String {
        self.figure.metric_text()
    }

    /// How the metric is compared with the bound.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// The bound: a score from 0 to 1, milliseconds, tokens, US dollars, calls, or in the metric's own unit.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The bound's source text, or else its value.
    #[must_use]
    pub fn bound_text(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.bound.to_string())
    }

    /// Whether a measured value satisfies the bound; NaN never does.
    #[must_use]
    pub fn is_met_by(&self, value: f64) -> bool {
        self.comparison.is_met_by(value, self.bound)
    }

    /// The name of the threshold's test case: `correctness.pass_rate>=0.95`.
    ///
    /// Whitespace in names becomes `-`.
    #[must_use]
    pub fn case_name(&self) -> String {
        format!("{}{}{}", self.figure.case_text(), self.comparison, self.bound_text())
    }

    /// The text form, with the bound's value if the source text differs from it.
    pub(crate) fn to_text(&self) -> String {
        let text = self.to_string();
        let is_same =
            |read: Self| Self { label: None, place: None, ..self.clone() } == Self { label: None, ..read };
        if text.parse().is_ok_and(is_same) { text } else { Self { label: None, ..self.clone() }.to_string() }
    }

    /// Parses the output of [`to_text`](Self::to_text); the test case name provides the bound's source text.
    pub(crate) fn from_text(written: &str, case_name: &str) -> Result<Self, ThresholdError> {
        let threshold: Self = written.parse()?;
        let without_bound = Self { label: Some(String::new()), ..threshold.clone() }.case_name();
        let label = case_name.strip_prefix(&without_bound).map(str::to_owned);
        Ok(Self { label: label.or_else(|| threshold.label.clone()), ..threshold })
    }

    /// Checks whether category, metric, comparison and bound are consistent.
    ///
    /// # Errors
    ///
    /// If the category has no such metric, if the comparison would require bad values (a mean score below its bound), or if the
    /// bound or the pass mark of a pass rate is out of range or NaN.
    pub fn validate(&self) -> Result<(), ThresholdError> {
        let checks = || {
            self.figure.validate()?;
            self.figure.check_comparison(self.comparison, &self.bound_text())?;
            self.figure.check_bound(self.bound)
        };
        checks().map_err(|message| ThresholdError::new(&self.to_string(), message))
    }
}

/// The text form, the input of [`parse`](str::parse): `evaluators["any name"].min >= 0.5`.
impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.figure, self.comparison, self.bound_text())
    }
}

/// The message for an unknown evaluator, with the known ones.
pub fn unknown_evaluator<'a>(
    name: &str,
    threshold: &Threshold,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let place = threshold.location().map(|place| format!(" (the threshold is in {place})"));
    format!(
        "no evaluator is named `{name}`; {}{}",
        wording::suggest_or_list(name, names),
        place.unwrap_or_default()
    )
}
