//! Gathers statistics by the values of a field of the items.

use std::collections::HashMap;

use serde_json::Value;

use super::clusters::ClusterNumbering;
use super::evaluator_metrics::{EvaluatorMetrics, FurtherTrials};
use super::group_stats::{FieldGroups, GroupScore, GroupStats};
use super::item::ItemResult;
use super::metrics::ItemUsage;
use super::stats::{Interval, describe};
use super::summary::ScoreStats;
use crate::item::{FieldPath, Item};

/// The value of items without the field.
pub const NO_VALUE: &str = "(none)";

/// The maximum number of groups of a field in a summary.
const MAX_GROUPS: usize = 100;

/// The metrics of the groups of a field, gathered item by item.
#[derive(Debug)]
pub struct FieldMetrics<'a> {
    pub name: String,
    path: FieldPath,
    /// In the order of the first item of each.
    pub groups: Vec<GroupMetrics<'a>>,
    places: HashMap<String, usize>,
}

/// The metrics of a group.
#[derive(Debug)]
pub struct GroupMetrics<'a> {
    pub value: String,
    pub items: usize,
    /// Where its items are in the run.
    positions: Vec<u32>,
    /// The evaluators, in order.
    pub evaluators: Vec<EvaluatorMetrics<'a>>,
    clusters: ClusterNumbering,
    passed: usize,
    in_error: usize,
    latency: Vec<f64>,
    /// The same without items whose latency is that of a recording.
    pub live_latency: Vec<f64>,
    pub tokens: Vec<f64>,
    pub cost: Vec<f64>,
    /// Whether some output reports no tokens.
    pub lacks_tokens: bool,
    /// Whether the cost of some output is unknown.
    pub lacks_cost: bool,
}

impl GroupMetrics<'_> {
    /// Whether an item or an evaluation of the group failed.
    pub fn has_errors(&self) -> bool {
        self.in_error > 0
    }
}

impl<'a> FieldMetrics<'a> {
    pub fn new(field: &str) -> Self {
        let (path, name) = (FieldPath::new(field), field.to_owned());
        Self { name, path, groups: Vec::new(), places: HashMap::new() }
    }

    /// Adds the item at this position of the run; `evaluators` are those of the run.
    pub fn add(
        &mut self,
        position: usize,
        item: &ItemResult,
        usage: &ItemUsage,
        evaluators: &[EvaluatorMetrics<'a>],
    ) {
        let value = group_value(&self.path, &item.input);
        let place = match self.places.get(&value) {
            Some(place) => *place,
            None => {
                self.places.insert(value.clone(), self.groups.len());
                self.groups.push(GroupMetrics::new(value, evaluators));
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[place];
        group.positions.push(u32::try_from(position).expect("a run has fewer than 2^32 items"));
        group.add(item, usage);
    }

    /// Whether no item has the field.
    pub fn is_missing_everywhere(&self) -> bool {
        !self.groups.is_empty() && self.groups.iter().all(|group| group.value == NO_VALUE)
    }

    /// These metrics with the scores of further trials, as
    /// [`RunMetrics::with_further_trials`](super::RunMetrics::with_further_trials).
    pub fn with_further_trials(mut self, further: &[FurtherTrials]) -> Self {
        for group in &mut self.groups {
            let evaluators = std::mem::take(&mut group.evaluators).into_iter().enumerate();
            let positions = || group.positions.iter().map(|position| *position as usize);
            let pooled = evaluators.map(|(place, it)| it.with_further_trials(place, positions(), further));
            group.evaluators = pooled.collect();
        }
        self
    }

    pub fn stats(&self) -> FieldGroups {
        FieldGroups {
            field: self.name.clone(),
            groups: self.groups.iter().take(MAX_GROUPS).map(GroupMetrics::stats).collect(),
            more_groups: self.groups.len().saturating_sub(MAX_GROUPS),
        }
    }
}

impl<'a> GroupMetrics<'a> {
    fn new(value: String, evaluators: &[EvaluatorMetrics<'a>]) -> Self {
        Self {
            value,
            items: 0,
            positions: Vec::new(),
            evaluators: evaluators.iter().map(|it| EvaluatorMetrics::new(it.name, it.pass_mark)).collect(),
            clusters: ClusterNumbering::default(),
            passed: 0,
            in_error: 0,
            latency: Vec::new(),
            live_latency: Vec::new(),
            tokens: Vec::new(),
            cost: Vec::new(),
            lacks_tokens: false,
            lacks_cost: false,
        }
    }

    fn add(&mut self, item: &ItemResult, usage: &ItemUsage) {
        let cluster = self.clusters.of(item);
        self.items += 1;
        self.passed += usize::from(item.passed);
        self.in_error += usize::from(item.is_in_error());
        self.latency.push(item.latency_ms());
        self.live_latency.extend((!item.has_replayed_latency()).then(|| item.latency_ms()));
        self.tokens.extend(usage.tokens.map(|tokens| tokens as f64));
        self.cost.extend(usage.known_cost());
        self.lacks_tokens |= usage.lacks_tokens();
        self.lacks_cost |= usage.lacks_cost();
        for evaluator in &mut self.evaluators {
            evaluator.add(item, cluster);
        }
    }

    /// The scores of all evaluators as those of one.
    pub fn all_scores(&self) -> EvaluatorMetrics<'a> {
        let mut all = EvaluatorMetrics::new("score", 1.0);
        self.evaluators.iter().for_each(|evaluator| all.extend(evaluator));
        all
    }

    fn stats(&self) -> GroupStats {
        let scores = self.evaluators.iter().filter_map(|evaluator| {
            let score = group_score(evaluator.stats(1)?, evaluator.scored_clusters());
            Some((evaluator.name.to_owned(), score))
        });
        GroupStats {
            value: self.value.clone(),
            items: self.items,
            passed_items: self.passed,
            failed_items: self.in_error,
            scores: scores.collect(),
            avg_latency_ms: mean(&self.latency).unwrap_or_default(),
            tokens_per_item: mean(&self.tokens).filter(|_| !self.lacks_tokens),
            cost_per_item: mean(&self.cost).filter(|_| !self.lacks_cost),
        }
    }
}

fn group_score(stats: ScoreStats, clusters: usize) -> GroupScore {
    let ScoreStats { avg, count, ci95, pass_rate, pass_rate_ci95, .. } = stats;
    // Wilson's interval exists for one observation, too, but says nothing about a group.
    let known = |interval: Option<Interval>| interval.filter(|_| clusters > 1);
    GroupScore { avg, count, ci95: known(ci95), pass_rate, pass_rate_ci95: known(pass_rate_ci95) }
}

/// The value of a field as text.
fn group_value(path: &FieldPath, item: &Item) -> String {
    match path.resolve(item) {
        None => NO_VALUE.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    describe(values).map(|stats| stats.mean)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::item::Output;
    use crate::prices::PriceTable;
    use crate::report::evaluate_thresholds::{WorstOf, group_metric};
    use crate::report::threshold::Category;
    use crate::report::{Execution, RunMetrics, ScoredEvaluation, Summary};

    /// A score; `None` where the evaluator does not apply.
    fn item(index: usize, fields: Value, score: Option<f64>) -> ItemResult {
        let Value::Object(input) = fields else { unreachable!() };
        let evaluation = ScoredEvaluation { score, not_applicable: score.is_none(), ..Default::default() };
        let run = Execution {
            output: Some(Output::new("").tokens(10, index as u64)),
            latency_ms: index as f64,
            evaluations: [("e".into(), evaluation)].into_iter().collect(),
            ..Execution::default()
        };
        let passed = score.is_none_or(|score| score >= 0.5);
        ItemResult { index, key: index.to_string(), input: Arc::new(input), passed, runs: vec![run] }
    }

    fn metrics<'a>(items: &'a [ItemResult], field: &str) -> RunMetrics<'a> {
        RunMetrics::gather_by(items, &[("e", 0.5)], &[field.to_owned()], &PriceTable::default())
    }

    fn summary(items: &[ItemResult], field: &str) -> Summary {
        metrics(items, field).summary(std::time::Duration::ZERO)
    }

    fn groups(items: &[ItemResult], field: &str) -> Vec<GroupStats> {
        summary(items, field).groups.remove(0).groups
    }

    #[test]
    fn groups_come_in_the_order_of_their_first_items_with_their_values_as_text() {
        let values = [json!("b"), json!(null), json!(3), json!("a"), json!({ "x": [1] }), json!("b")];
        let items: Vec<_> = { values.into_iter().enumerate() }
            .map(|(index, value)| item(index, json!({ "meta": { "kind": value } }), Some(1.0)))
            .collect();
        let found = groups(&items, "meta.kind");
        let found: Vec<_> = found.iter().map(|group| (&*group.value, group.items)).collect();
        assert_eq!(found, [("b", 2), (NO_VALUE, 1), ("3", 1), ("a", 1), (r#"{"x":[1]}"#, 1)]);
    }

    #[test]
    fn a_group_has_its_own_counts_scores_latency_and_usage() {
        let items = [
            item(0, json!({ "c": "x" }), Some(1.0)),
            item(1, json!({ "c": "y" }), Some(1.0)),
            item(2, json!({ "c": "x" }), Some(0.0)),
            item(4, json!({ "c": "x" }), None),
        ];
        let group = &groups(&items, "c")[0];
        assert_eq!((group.items, group.passed_items, group.failed_items), (3, 2, 0));
        assert_eq!(
            (group.avg_latency_ms, group.tokens_per_item, group.cost_per_item),
            (2.0, Some(12.0), None)
        );
        let score = &group.scores["e"];
        assert_eq!((score.avg, score.count, score.pass_rate), (0.5, 2, Some(0.5)));
    }

    #[test]
    fn a_group_has_the_interval_of_a_run_of_its_items_alone() {
        let of = |count: usize| -> Vec<_> {
            (0..count).map(|index| item(index, json!({ "c": "x" }), Some((index % 4) as f64 / 4.0))).collect()
        };
        for count in [2, 5, 40] {
            let (small, alone) = (
                of(count),
                RunMetrics::gather(&of(count), &[("e", 0.5)], &PriceTable::default())
                    .summary(std::time::Duration::ZERO),
            );
            let (group, alone) = (&groups(&small, "c")[0].scores["e"], &alone.scores["e"]);
            assert_eq!((group.ci95, group.pass_rate_ci95), (alone.ci95, alone.pass_rate_ci95), "{count}");
            assert!(group.ci95.is_some());
        }
        let width = |count| groups(&of(count), "c")[0].scores["e"].ci95.map(|ci| ci.high - ci.low).unwrap();
        assert!(width(4) > 2.0 * width(40), "a small group has a wide interval");
    }

    #[test]
    fn a_group_of_one_item_or_one_cluster_has_no_interval() {
        let one = groups(&[item(0, json!({ "c": "x" }), Some(1.0))], "c").remove(0);
        assert_eq!((one.scores["e"].ci95, one.scores["e"].pass_rate_ci95), (None, None));
        let cluster = |index: usize, name: &str| {
            item(index, json!({ "c": "x", "cluster": name }), Some((index % 2) as f64))
        };
        let same: Vec<_> = (0..6).map(|index| cluster(index, "page")).collect();
        let same = groups(&same, "c").remove(0);
        assert_eq!((same.scores["e"].count, same.scores["e"].ci95), (6, None));
        let correlated: Vec<_> = (0..12)
            .map(|index| {
                item(index, json!({ "c": "x", "cluster": index / 4 }), Some(f64::from(u8::from(index < 4))))
            })
            .collect();
        let independent: Vec<_> = (0..12)
            .map(|index| item(index, json!({ "c": "x" }), Some(f64::from(u8::from(index < 4)))))
            .collect();
        let width = |items: &[ItemResult]| groups(items, "c")[0].scores["e"].ci95.map(|ci| ci.high - ci.low);
        assert!(width(&correlated).unwrap() > width(&independent).unwrap());
    }

    #[test]
    fn at_most_100_groups_are_listed_and_the_others_counted() {
        let items: Vec<_> = (0..103).map(|index| item(index, json!({ "c": index }), Some(1.0))).collect();
        let field = summary(&items, "c").groups.remove(0);
        assert_eq!((field.groups.len(), field.more_groups, &*field.groups[99].value), (100, 3, "99"));
    }

    #[test]
    fn what_does_not_apply_is_counted_and_is_neither_a_score_nor_an_error() {
        let items = [Some(0.5), None, None].map(|score| item(0, json!({}), score));
        let found = summary(&items, "c");
        assert_eq!((found.eval_errors, found.not_applicable["e"], found.scores["e"].count), (0, 2, 1));
        let none = [None, None].map(|score| item(0, json!({}), score));
        let found = summary(&none, "c");
        assert_eq!((found.scores.len(), found.not_applicable["e"]), (0, 2));
        assert!(found.groups[0].groups[0].scores.is_empty());
    }

    #[test]
    fn the_worst_group_is_measured_and_named_with_its_size() {
        let scores = [("a", 1.0), ("a", 0.5), ("b", 0.25), ("b", 0.75), ("b", 0.5), ("c", 0.75)];
        let mut items: Vec<_> = { scores.into_iter().enumerate() }
            .map(|(index, (group, score))| item(index, json!({ "c": group }), Some(score)))
            .collect();
        items.push(item(6, json!({ "c": "unscored" }), None));
        let metrics = metrics(&items, "c");
        let of = |metric| group_metric(&Category::Evaluator("e".to_owned()), "c", metric, &metrics);
        let worst = of(WorstOf::Avg).unwrap();
        assert_eq!(worst, (0.5, "the lowest of 3 groups is `b` (3 items, 95% CI 0.000 to 1.000)".to_owned()));
        assert_eq!(of(WorstOf::PassRate(Some(0.75))).unwrap().0, 1.0 / 3.0);
        assert_eq!(of(WorstOf::PassRate(None)).unwrap().0, 2.0 / 3.0);
        let highest = of(WorstOf::MaxAvg).unwrap();
        assert_eq!(highest.0, 0.75);
        let latency = group_metric(&Category::Latency, "c", WorstOf::MaxAvg, &metrics).unwrap();
        assert_eq!(
            latency,
            (6.0, "the highest of 4 groups is `unscored` (1 item, too few for a CI)".to_owned())
        );
        assert_eq!(group_metric(&Category::Score, "c", WorstOf::Avg, &metrics).unwrap(), worst);
    }

    #[test]
    fn what_cannot_be_measured_by_group_says_why() {
        let items = [None, None].map(|score| item(0, json!({ "c": "x" }), score));
        let (metrics, missing) = (metrics(&items, "c"), metrics(&items, "kind"));
        let why = |category: Category, by: &str, of: &RunMetrics<'_>| {
            group_metric(&category, by, WorstOf::Avg, of).unwrap_err()
        };
        let e = || Category::Evaluator("e".to_owned());
        assert_eq!(why(e(), "c", &metrics), "`e` applied to none of the 2 items");
        assert_eq!(why(e(), "kind", &missing), "no item has the field `kind`");
        assert_eq!(why(e(), "other", &metrics), "the run has no groups by `other`");
        let cost = why(Category::Cost, "c", &metrics);
        assert!(
            cost.starts_with("not every output reports its agent cost in 1 group by `c` (`x`)"),
            "{cost}"
        );
    }
}
