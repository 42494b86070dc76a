//! Thresholds: what an experiment as a whole must reach, written as `correctness.pass_rate >= 0.95`.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

pub use cobalt_thresholds::{Category, Comparison, Metric};
pub use parse::{LatencyBound, NumberBound, ThresholdError, duration};

use crate::wording;

/// A bound that a figure of the report must keep.
///
/// A threshold has a text form, the one that the attribute takes:
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
/// | `judge_cost` | the same | `<=` or `<` US dollars |
/// | `tokens` | `avg`, `p50`, `p95`, `p99`, `total` | `<=` or `<` a number of tokens |
/// | `cost` | `avg`, `p50`, `p95`, `p99`, `total` | `<=` or `<` US dollars |
/// | `latency`, `tokens`, `cost`, `judge_cost` | `min` | `>=` or `>` the same |
/// | `vs_baseline.` before `score` or an evaluator | `drop` | `<=` or `<` a number from 0 to 1 |
/// | `vs_baseline.` before `latency`, `tokens` or `cost` | `rise` | `<=` or `<` a duration for an item; tokens or US dollars for one run of it |
/// | the same | `ratio` | `<=` or `<` a number such as `1.1`, for a tenth more |
///
/// Those that begin with `vs_baseline.` hold the mean over the items of a run against that of an
/// [earlier run](crate::report::comparison): the attribute `experiment` says more of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    category: Category,
    metric: Metric,
    comparison: Comparison,
    bound: f64,
    label: Option<String>,
    /// Where it is written, if in no code: `cobalt.toml:3`.
    place: Option<String>,
}

impl Threshold {
    /// A threshold over a figure of the report.
    ///
    /// The bound is in the category's own unit: a score from 0 to 1, milliseconds, tokens or US dollars.
    /// [`validate`](Self::validate) tells whether the four fit together.
    #[must_use]
    pub fn new(category: Category, metric: Metric, comparison: Comparison, bound: f64) -> Self {
        Self { category, metric, comparison, bound, label: None, place: None }
    }

    /// Keeps the bound as it was written, `5s`, for the names of test cases.
    ///
    /// White space and underscores are dropped.
    #[must_use]
    pub fn labelled(mut self, bound: impl AsRef<str>) -> Self {
        let label = bound.as_ref().chars().filter(|letter| !letter.is_whitespace() && *letter != '_');
        self.label = Some(label.collect());
        self
    }

    /// Keeps the place in a file where it is written.
    #[doc(hidden)]
    pub fn placed(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    /// The place in a file where it is written.
    #[doc(hidden)]
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// What is measured.
    #[must_use]
    pub fn category(&self) -> &Category {
        &self.category
    }

    /// The figure that is held against the bound.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Whether it holds a run against its baseline.
    #[must_use]
    pub fn is_against_baseline(&self) -> bool {
        self.metric.is_against_baseline()
    }

    /// How the figure is held against the bound.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// The bound: a score from 0 to 1, milliseconds, tokens or US dollars.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The bound as it was written, or else its value.
    #[must_use]
    pub fn bound_text(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.bound.to_string())
    }

    /// Whether a measured value keeps the bound; NaN never does.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.comparison.holds(value, self.bound)
    }

    /// The name of the threshold's test case: `correctness.pass_rate>=0.95`.
    ///
    /// White space in an evaluator's name becomes `-`.
    #[must_use]
    pub fn case_name(&self) -> String {
        let name = self.category.name();
        let name: String =
            name.chars().map(|letter| if letter.is_whitespace() { '-' } else { letter }).collect();
        format!("{}{}{}", self.metric.of(&name), self.comparison, self.bound_text())
    }

    /// The text form, with the bound by its value where its label says something else.
    pub(crate) fn written(&self) -> String {
        let text = self.to_string();
        let is_same =
            |read: Self| Self { label: None, place: None, ..self.clone() } == Self { label: None, ..read };
        if text.parse().is_ok_and(is_same) { text } else { Self { label: None, ..self.clone() }.to_string() }
    }

    /// Reads what was [`written`](Self::written) of a threshold whose test case has this name, which tells the label.
    pub(crate) fn read_again(written: &str, case_name: &str) -> Result<Self, ThresholdError> {
        let threshold: Self = written.parse()?;
        let without_bound = Self { label: Some(String::new()), ..threshold.clone() }.case_name();
        let label = case_name.strip_prefix(&without_bound).map(str::to_owned);
        Ok(Self { label: label.or_else(|| threshold.label.clone()), ..threshold })
    }

    /// Tells whether category, metric, comparison and bound fit together.
    ///
    /// # Errors
    ///
    /// Where the category has no such metric, where the comparison would ask for bad values (an average score below
    /// its bound), where the bound or the mark of a pass rate is out of range or NaN.
    pub fn validate(&self) -> Result<(), ThresholdError> {
        let checks = || {
            match self.is_against_baseline() {
                true => self.category.baseline_metric(self.metric.name())?,
                false => self.category.metric(self.metric.name())?,
            };
            if let Metric::PassRate(Some(mark)) = self.metric {
                self.metric.with_mark(mark)?;
            }
            self.category.check_comparison(self.metric, self.comparison, &self.bound_text())?;
            self.category.check_bound(self.bound)
        };
        checks().map_err(|message| ThresholdError::new(&self.to_string(), message))
    }
}

/// The text form, which [`parse`](str::parse) reads: `evaluators["any name"].min >= 0.5`.
impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = self.category.figure(self.metric);
        write!(formatter, "{figure} {} {}", self.comparison, self.bound_text())
    }
}

/// Says that there is no evaluator of that name, and which there are.
pub fn unknown<'a>(
    name: &str,
    threshold: &Threshold,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let place = threshold.place().map(|place| format!(" (the threshold is in {place})"));
    format!("no evaluator is named `{name}`; {}{}", wording::instead(name, names), place.unwrap_or_default())
}
