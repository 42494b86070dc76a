//! What a run's judges were asked, and what that cost, item by item.

use std::collections::BTreeSet;

use super::item::ItemResult;
use super::stats::sum;
use super::summary::Summary;
use crate::prices::JudgeUsage;

/// What judges were asked over all runs of the items.
#[derive(Debug, Default)]
pub(super) struct JudgeFigures {
    /// What the judges of each item cost in USD, over its runs and evaluators, as far as prices are known; of the items
    /// that a judge was asked for.
    pub(super) cost: Vec<f64>,
    /// The models that used tokens of unknown cost.
    pub(super) unpriced: BTreeSet<String>,
    tokens: u64,
    calls: u64,
    cached: u64,
    models: BTreeSet<String>,
}

impl JudgeFigures {
    pub(super) fn add(&mut self, item: &ItemResult) {
        let mut costs = Vec::new();
        let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        for usage in evaluations.filter_map(|(_, evaluation)| evaluation.judge.as_deref()) {
            costs.push(usage.cost);
            self.add_usage(usage);
        }
        if !costs.is_empty() {
            self.cost.push(sum(costs));
        }
    }

    fn add_usage(&mut self, usage: &JudgeUsage) {
        let JudgeUsage { models, calls, cached, tokens, cost: _, unpriced } = usage;
        // A vendor may report anything; a panic here would cost all results.
        self.tokens = self.tokens.saturating_add(tokens.input.saturating_add(tokens.output));
        self.calls = self.calls.saturating_add(*calls);
        self.cached = self.cached.saturating_add(*cached);
        self.models.extend(models.iter().cloned());
        self.unpriced.extend(unpriced.iter().cloned());
    }

    /// Adds the figures to a summary; nothing where no judge answered.
    pub(super) fn add_to(&self, summary: &mut Summary) {
        if self.cost.is_empty() {
            return;
        }
        let cost = sum(self.cost.iter().copied());
        // Nothing is known of the cost where no model has a price.
        summary.judge_cost = (cost > 0.0 || self.unpriced.is_empty()).then_some(cost);
        summary.judge_tokens = Some(self.tokens);
        summary.judge_calls = Some(self.calls);
        summary.judge_cached = Some(self.cached);
        summary.judge_models = self.models.iter().cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::prices::{PriceTable, Tokens};
    use crate::report::{Execution, Figures, ScoredEvaluation, judge};

    fn usage(calls: u64, cached: u64, cost: f64, unpriced: &[&str]) -> JudgeUsage {
        JudgeUsage {
            models: vec!["gpt-6-luna".to_owned()],
            calls,
            cached,
            tokens: Tokens::new(100 * calls, 10 * calls),
            cost,
            unpriced: unpriced.iter().map(|&model| model.to_owned()).collect(),
        }
    }

    /// An item of which each inner list is a run, with the usage of each of its evaluators.
    fn item(runs: Vec<Vec<Option<JudgeUsage>>>) -> ItemResult {
        let evaluation = |(place, judge): (usize, Option<JudgeUsage>)| {
            let judge = judge.map(Box::new);
            (place.to_string().into(), ScoredEvaluation { score: Some(1.0), judge, ..Default::default() })
        };
        let run = |judges: Vec<_>| Execution {
            evaluations: judges.into_iter().enumerate().map(evaluation).collect(),
            ..Execution::default()
        };
        let runs = runs.into_iter().map(run).collect();
        ItemResult { index: 0, key: String::new(), input: Default::default(), passed: true, runs }
    }

    fn summary(items: &[ItemResult]) -> Summary {
        Figures::gather(items, &[], &PriceTable::default()).summary(Duration::ZERO)
    }

    fn outcome(threshold: &str, items: &[ItemResult]) -> (Option<f64>, String) {
        let outcome =
            judge(&threshold.parse().unwrap(), &Figures::gather(items, &[], &PriceTable::default()));
        (outcome.actual, outcome.message)
    }

    #[test]
    fn runs_and_evaluators_of_all_items_are_summed_up_and_kept_apart_from_the_agent() {
        let failed = Execution {
            evaluations: [(
                "e".into(),
                ScoredEvaluation {
                    judge: Some(Box::new(usage(3, 0, 0.5, &[]))),
                    error: Some("no answer".to_owned()),
                    ..Default::default()
                },
            )]
            .into_iter()
            .collect(),
            ..Execution::default()
        };
        let mut items = vec![
            item(vec![vec![Some(usage(1, 0, 0.25, &[])), None], vec![Some(usage(2, 1, 1.0, &[]))]]),
            item(vec![vec![None]]),
        ];
        items.push(ItemResult { runs: vec![failed], ..item(Vec::new()) });
        let summary = summary(&items);
        assert_eq!((summary.judge_cost, summary.estimated_cost), (Some(1.75), None));
        assert_eq!((summary.judge_calls, summary.judge_cached), (Some(6), Some(1)));
        assert_eq!((summary.judge_tokens, summary.total_tokens), (Some(660), None));
        assert_eq!(summary.judge_models, ["gpt-6-luna"]);
        assert_eq!(outcome("judge_cost.total <= 2", &items).0, Some(1.75));
        assert_eq!(outcome("judge_cost.max <= 2", &items).0, Some(1.25), "of an item");
        assert_eq!(outcome("judge_cost.avg <= 2", &items).0, Some(0.875), "of the items that were judged");
    }

    #[test]
    fn answers_from_the_cache_cost_nothing_and_without_a_judge_there_is_no_cost() {
        assert_eq!(summary(&[item(vec![vec![Some(usage(0, 4, 0.0, &[]))]])]).judge_cost, Some(0.0));
        let unjudged = [item(vec![vec![None]])];
        let summary = summary(&unjudged);
        assert_eq!((summary.judge_cost, summary.judge_calls, summary.judge_tokens), (None, None, None));
        assert!(outcome("judge_cost.total <= 2", &unjudged).1.ends_with("no judge answered"));
    }

    #[test]
    fn tokens_without_a_price_leave_nothing_to_measure_and_the_models_are_named() {
        let items = [item(vec![vec![Some(usage(1, 0, 0.25, &[])), Some(usage(1, 0, 0.0, &["ours", "a"]))]])];
        let known = summary(&items);
        assert_eq!((known.judge_cost, known.judge_tokens), (Some(0.25), Some(220)));
        assert_eq!(known.unpriced_models, ["a", "ours"]);
        let (actual, message) = outcome("judge_cost.p95 <= 2", &items);
        assert_eq!(actual, None);
        assert!(message.contains("`a`, `ours`") && message.contains("[prices]"), "{message}");
        let unknown = summary(&[item(vec![vec![Some(usage(1, 0, 0.0, &["ours"]))]])]);
        assert_eq!((unknown.judge_cost, unknown.judge_calls), (None, Some(1)));
    }
}
