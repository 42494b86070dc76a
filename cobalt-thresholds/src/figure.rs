//! The left-hand side of a threshold.

use std::fmt;

use crate::category::{is_identifier, quoted};
use crate::{Category, Comparison, Direction, Metric, VARIANTS, VS_BASELINE};

/// What stands before the metric: `variants.mini.score.by("category")`.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The only variant that the threshold is for.
    pub variant: Option<String>,
    /// Whether it is compared with the baseline.
    pub vs_baseline: bool,
    /// What is measured.
    pub category: Category,
    /// The field of the items that forms the groups.
    pub by: Option<String>,
}

impl Subject {
    /// The figure with the metric of this name, or an error that suggests one.
    pub fn figure(self, metric: &str) -> Result<Figure, String> {
        let metric = match &self.by {
            Some(_) if self.vs_baseline => {
                return Err(format!("groups cannot be compared with a baseline: leave out `{VS_BASELINE}.`"));
            }
            Some(field) => self.category.group_metric(field, metric)?,
            None if self.vs_baseline => self.category.baseline_metric(metric)?,
            None => self.category.metric(metric)?,
        };
        Figure { variant: self.variant, category: self.category, by: self.by, metric, against: None }
            .checked()
    }

    /// The figure with the metric of this name, such as `drop_from`, against another variant.
    pub fn figure_against(self, metric: &str, other: &str) -> Result<Figure, String> {
        let category = &self.category;
        if self.vs_baseline {
            return Err(format!(
                "`{metric}` compares with a variant, not with the baseline: write `{category}.{metric}({})`",
                variant_argument(other)
            ));
        }
        if self.by.is_some() {
            return Err(format!(
                "groups cannot be compared with a variant: write `{category}.{metric}({})`",
                variant_argument(other)
            ));
        }
        if self.variant.as_deref() == Some(other) {
            return Err(format!("variant `{other}` is compared with itself: name another variant"));
        }
        let metric = self.category.variant_metric(metric)?;
        let (variant, category, against) = (self.variant, self.category, Some(other.to_owned()));
        Figure { variant, category, by: None, metric, against }.checked()
    }

    /// An example of a metric of the worst group.
    pub fn group_example(&self, field: &str) -> String {
        self.category.group_example(field)
    }

    /// The message for a `by` without a field.
    pub fn missing_field_message(&self) -> String {
        format!("`by` needs a field of the items: write `{}`", self.category.group_example("category"))
    }

    /// The message for a field without a metric.
    pub fn missing_group_metric_message(&self) -> String {
        let field = self.by.as_deref().unwrap_or("category");
        format!("missing metric: write, for example, `{}`", self.category.group_example(field))
    }

    /// The message for a metric such as `drop_from` without a variant.
    pub fn missing_variant_message(&self, metric: &str) -> String {
        format!("`{metric}` needs the variant to compare with: write `{}.{metric}(name)`", self.category)
    }
}

/// What a threshold compares with its bound: a metric of a category, of one variant or of each.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The only variant that it is for.
    pub variant: Option<String>,
    /// What is measured.
    pub category: Category,
    /// The field of the items that forms the groups, if it is the metric of the worst group.
    pub by: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// The variant that the run is compared with. A metric that compares runs compares with the baseline if there is none.
    pub against: Option<String>,
}

impl Figure {
    /// A metric of each run as a whole. A metric that compares runs compares with the baseline.
    pub fn new(category: Category, metric: Metric) -> Self {
        Self { variant: None, category, by: None, metric, against: None }
    }

    /// Whether it compares a run with its baseline.
    pub fn is_against_baseline(&self) -> bool {
        self.metric.compares_runs() && self.against.is_none()
    }

    /// Checks whether its parts are consistent.
    pub fn validate(&self) -> Result<(), String> {
        let Self { variant, category, by, metric, against } = self.clone();
        let subject = Subject { variant, vs_baseline: self.is_against_baseline(), category, by };
        match (&against, metric.variant_name()) {
            (Some(other), Some(name)) => subject.figure_against(name, other)?,
            (Some(_), None) => return Err(format!("`{metric}` cannot be compared with a variant")),
            (None, _) => subject.figure(metric.name())?,
        };
        match metric {
            Metric::PassRate(Some(mark)) | Metric::MinPassRate(Some(mark)) => {
                metric.with_pass_mark(mark).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn checked(self) -> Result<Self, String> {
        let is_empty = |name: &Option<String>| name.as_ref().is_some_and(|name| name.trim().is_empty());
        if is_empty(&self.variant) || is_empty(&self.against) {
            return Err("the name of a variant cannot be empty".to_owned());
        }
        if is_empty(&self.by) {
            return Err("the field after `by` cannot be empty".to_owned());
        }
        Ok(self)
    }

    /// Rejects a comparison that would require bad values; `bound` is its source text.
    pub fn check_comparison(&self, comparison: Comparison, bound: &str) -> Result<(), String> {
        let side = match self.category.direction(self.metric) {
            Some(direction) if comparison.direction() == direction => return Ok(()),
            None => return Ok(()),
            Some(Direction::Lower) => "needs a lower bound",
            Some(Direction::Upper) => "needs an upper bound",
        };
        let right = comparison.mirrored();
        Err(format!("`{self}` {side}: write `{self} {right} {bound}`"))
    }

    /// Rejects a bound that is out of range.
    pub fn check_bound(&self, bound: f64) -> Result<(), String> {
        self.category.check_bound(self.metric, bound)
    }

    /// The message for a bound of the wrong kind.
    pub fn invalid_bound_message(&self, bound: &str) -> String {
        let kind = self.category.bound_kind(self.metric);
        let kind = match (self.metric, &self.against) {
            (Metric::Ratio, None) => format!("{kind} than the baseline"),
            (Metric::Ratio, Some(other)) => format!("{kind} than variant `{other}`"),
            _ => kind.to_owned(),
        };
        match self.metric.compares_runs() {
            true => format!("the bound of `{self}` must be {kind}, not `{bound}`"),
            false => format!("the bound of `{}` must be {kind}, not `{bound}`", self.category),
        }
    }

    /// The message for `=`, `==` and `!=`.
    pub fn invalid_operator_message(&self, symbol: &str, bound: &str) -> String {
        let right = match self.category.direction(self.metric) {
            Some(Direction::Lower) | None => Comparison::AtLeast,
            Some(Direction::Upper) => Comparison::AtMost,
        };
        format!("`{symbol}` cannot be used in a threshold: write `{self} {right} {bound}`")
    }

    /// Whether its bound may be a duration.
    pub fn takes_duration(&self) -> bool {
        self.category.is_duration() && self.metric != Metric::Ratio
    }

    /// The metric as written, without its category: `avg`, `drop_from(large)`, `by("category").min_avg`.
    pub fn metric_text(&self) -> String {
        let metric = self.metric_and_argument(variant_argument);
        match &self.by {
            Some(field) => format!("by({}).{metric}", quoted(field)),
            None => metric,
        }
    }

    /// The form for names of test cases: without quotes, with `-` instead of whitespace in names.
    pub fn case_text(&self) -> String {
        let plain = |name: &str| -> String {
            name.chars().map(|letter| if letter.is_whitespace() { '-' } else { letter }).collect()
        };
        let variant = self.variant.as_ref().map(|name| format!("{VARIANTS}.{}.", plain(name)));
        let baseline = if self.is_against_baseline() { format!("{VS_BASELINE}.") } else { String::new() };
        let by = self.by.as_ref().map(|field| format!(".by({})", plain(field)));
        format!(
            "{}{baseline}{}{}.{}",
            variant.unwrap_or_default(),
            plain(&self.category.name()),
            by.unwrap_or_default(),
            self.metric_and_argument(plain),
        )
    }

    fn metric_and_argument(&self, argument: impl Fn(&str) -> String) -> String {
        match (&self.against, self.metric.variant_name()) {
            (Some(other), Some(name)) => format!("{name}({})", argument(other)),
            _ => self.metric.to_string(),
        }
    }
}

/// The text form: `variants.mini.score.avg`, `vs_baseline.score.drop`, `score.by("category").min_avg`.
impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(name) if is_identifier(name) => write!(formatter, "{VARIANTS}.{name}.")?,
            Some(name) => write!(formatter, "{VARIANTS}[{}].", quoted(name))?,
            None => {}
        }
        if self.is_against_baseline() {
            write!(formatter, "{VS_BASELINE}.")?;
        }
        write!(formatter, "{}.{}", self.category, self.metric_text())
    }
}

/// A variant's name in parentheses: `large`, `"gpt-4o"`.
fn variant_argument(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_of_ones_own_takes_any_bound() {
        let figure = |metric| Figure::new(Category::CustomMetric("drift".to_owned()), metric);
        for comparison in [Comparison::AtLeast, Comparison::Below] {
            assert_eq!(figure(Metric::Avg).check_comparison(comparison, "-1"), Ok(()));
        }
        assert_eq!(figure(Metric::Avg).check_bound(-1.0), Ok(()));
        assert!(figure(Metric::Avg).check_bound(f64::NAN).is_err());
        assert!(figure(Metric::Drop).check_bound(-1.0).is_err(), "an allowance");
        assert!(figure(Metric::Drop).check_comparison(Comparison::AtLeast, "1").is_err());
    }

    #[test]
    fn a_comparison_for_bad_values_is_refused_with_the_right_one() {
        let refused = |category: Category, metric, comparison| {
            Figure::new(category, metric).check_comparison(comparison, "1").unwrap_err()
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

    #[test]
    fn names_are_quoted_only_where_they_must_be() {
        let figure = |variant: &str, against: &str| Figure {
            variant: Some(variant.to_owned()),
            against: Some(against.to_owned()),
            ..Figure::new(Category::Score, Metric::Drop)
        };
        assert_eq!(figure("mini", "large").to_string(), "variants.mini.score.drop_from(large)");
        let quoted = figure("gpt-4o", "a b");
        assert_eq!(quoted.to_string(), r#"variants["gpt-4o"].score.drop_from("a b")"#);
        assert_eq!(quoted.case_text(), "variants.gpt-4o.score.drop_from(a-b)");
    }

    #[test]
    fn parts_that_do_not_belong_together_are_refused() {
        let avg = Figure::new(Category::Score, Metric::Avg);
        let against = Some("large".to_owned());
        assert!(Figure { against: against.clone(), ..avg.clone() }.validate().is_err());
        assert!(Figure { by: Some("category".to_owned()), ..avg.clone() }.validate().is_err());
        assert!(Figure::new(Category::Score, Metric::MinAvg).validate().is_err());
        assert!(Figure { variant: Some(" ".to_owned()), ..avg }.validate().is_err());
        let drop = Figure { against: against.clone(), ..Figure::new(Category::Score, Metric::Drop) };
        assert_eq!(drop.validate(), Ok(()));
        let itself = Figure { variant: against, ..drop };
        assert!(itself.validate().unwrap_err().contains("compared with itself"));
    }
}
