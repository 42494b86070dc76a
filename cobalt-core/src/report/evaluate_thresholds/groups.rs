//! The measured value of a threshold on the worst group of items.

use crate::prices::format_cost_precise;
use crate::report::evaluator_metrics::EvaluatorMetrics;
use crate::report::groups::{FieldMetrics, GroupMetrics};
use crate::report::metrics::{RunMetrics, significant_decimals};
use crate::report::stats::{Interval, describe};
use crate::report::threshold::Category;
use crate::wording::{count, format_decimal, group_decimal, join_quoted, suggest_or_list};

/// A metric of the groups of a field, of which the worst counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorstOf {
    /// The lowest mean.
    Avg,
    /// The lowest share of scores at or above this pass mark, or each evaluator's own.
    PassRate(Option<f64>),
    /// The highest mean.
    MaxAvg,
}

/// The value of a group, with its confidence interval if the group is large enough for one.
struct GroupValue<'f> {
    group: &'f str,
    items: usize,
    value: f64,
    ci95: Option<Interval>,
}

/// The value of the worst group, and a text that names the group, its size and its 95% CI.
///
/// # Errors
///
/// Why there is nothing to measure.
pub fn group_metric(
    threshold_category: &Category,
    by: &str,
    metric: WorstOf,
    figures: &RunMetrics<'_>,
) -> Result<(f64, String), String> {
    if !figures.answered {
        return Err("every item failed".to_owned());
    }
    let field = figures.groups.iter().find(|field| field.name == by);
    let field = field.ok_or_else(|| format!("the run has no groups by `{by}`"))?;
    if field.is_missing_everywhere() {
        return Err(format!("no item has the field `{by}`"));
    }
    let values = group_values(threshold_category, field, metric, figures)?;
    let is_worse = |one: &GroupValue<'_>, other: &GroupValue<'_>| match metric {
        WorstOf::MaxAvg => one.value > other.value,
        WorstOf::Avg | WorstOf::PassRate(_) => one.value < other.value,
    };
    let groups = values.len();
    // The first of several equal groups.
    let worst = values.into_iter().reduce(|worst, next| if is_worse(&next, &worst) { next } else { worst });
    let worst = worst.ok_or_else(|| nothing_measured(threshold_category, by, figures))?;
    let extreme = if metric == WorstOf::MaxAvg { "highest" } else { "lowest" };
    Ok((worst.value, worst.describe(threshold_category, extreme, groups)))
}

/// A value and its 95% CI.
type Estimate = (f64, Option<Interval>);

/// The value of a group, if it has one.
type ValueOf = Box<dyn Fn(&GroupMetrics<'_>) -> Option<Estimate>>;

fn group_values<'f>(
    category: &Category,
    field: &'f FieldMetrics<'_>,
    metric: WorstOf,
    figures: &RunMetrics<'_>,
) -> Result<Vec<GroupValue<'f>>, String> {
    let value_of: ValueOf = match category {
        Category::Score => Box::new(move |group| score_value(metric, &group.all_scores())),
        Category::Evaluator(name) => {
            let place = figures.evaluators.iter().position(|evaluator| evaluator.name == name);
            let place = place.ok_or_else(|| {
                let known = figures.evaluators.iter().map(|evaluator| evaluator.name);
                format!("there is no evaluator `{name}`; {}", suggest_or_list(name, known))
            })?;
            Box::new(move |group| score_value(metric, &group.evaluators[place]))
        }
        Category::Latency => Box::new(|group| mean(&group.live_latency)),
        Category::Tokens => Box::new(|group| mean(&group.tokens).filter(|_| !group.lacks_tokens)),
        Category::Cost => Box::new(|group| mean(&group.cost).filter(|_| !group.lacks_cost)),
        other => return Err(format!("`{other}` has no statistics by group")),
    };
    let of_group = |group: &'f GroupMetrics<'_>| {
        let (value, ci95) = value_of(group)?;
        Some(GroupValue { group: &group.value, items: group.items, value, ci95 })
    };
    let unknown: Vec<_> = field.groups.iter().filter(|group| lacks(category, group)).collect();
    if !unknown.is_empty() {
        let names = join_quoted(unknown.iter().take(3).map(|group| &*group.value));
        return Err(format!(
            "not every output reports {} in {} by `{}` ({names}); report it for every output",
            if *category == Category::Cost { "its agent cost" } else { "its tokens" },
            count(unknown.len(), "group"),
            field.name,
        ));
    }
    let without: Vec<_> =
        field.groups.iter().filter(|group| group.has_errors() && of_group(group).is_none()).collect();
    if !without.is_empty() {
        let names = join_quoted(without.iter().take(3).map(|group| &*group.value));
        return Err(format!(
            "nothing was measured in {} by `{}` ({names}): all of its items or evaluations failed",
            count(without.len(), "group"),
            field.name,
        ));
    }
    Ok(field.groups.iter().filter_map(of_group).collect())
}

/// Whether some output of the group does not report what is measured: its mean would be wrong.
fn lacks(category: &Category, group: &GroupMetrics<'_>) -> bool {
    match category {
        Category::Tokens => group.lacks_tokens,
        Category::Cost => group.lacks_cost,
        _ => false,
    }
}

fn nothing_measured(category: &Category, by: &str, figures: &RunMetrics<'_>) -> String {
    match category {
        Category::Evaluator(name) => {
            let evaluator = figures.evaluators.iter().find(|evaluator| evaluator.name == name);
            evaluator.map_or_else(|| format!("no group by `{by}` has a score"), EvaluatorMetrics::no_score)
        }
        Category::Score => "no evaluator gave a score".to_owned(),
        Category::Latency => "no item ran live".to_owned(),
        other => format!("no output reports {other}"),
    }
}

fn score_value(metric: WorstOf, scores: &EvaluatorMetrics<'_>) -> Option<(f64, Option<Interval>)> {
    match metric {
        WorstOf::Avg | WorstOf::MaxAvg => scores.mean_with_ci(),
        WorstOf::PassRate(mark) => scores.pass_rate_with_ci(mark),
    }
}

fn mean(values: &[f64]) -> Option<(f64, Option<Interval>)> {
    describe(values).map(|stats| (stats.mean, stats.ci95))
}

impl GroupValue<'_> {
    fn describe(&self, category: &Category, extreme: &str, groups: usize) -> String {
        let Self { group, items, ci95, .. } = self;
        let shown = |value: f64| match category {
            category if category.is_score() => format!("{value:.3}"),
            category if category.is_cost() => format_cost_precise(value),
            Category::Latency => {
                format!("{} ms", group_decimal(&format_decimal(value, significant_decimals(value))))
            }
            _ => group_decimal(&format_decimal(value, significant_decimals(value))),
        };
        let ci95 = match ci95 {
            Some(Interval { low, high }) => format!("95% CI {} to {}", shown(*low), shown(*high)),
            None => "too few for a CI".to_owned(),
        };
        let which = match groups {
            1 => "the only group is".to_owned(),
            _ => format!("the {extreme} of {} is", count(groups, "group")),
        };
        format!("{which} `{group}` ({}, {ci95})", count(*items, "item"))
    }
}
