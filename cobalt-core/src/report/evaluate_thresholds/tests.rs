use std::sync::Arc;

use super::*;
use crate::item::Output;
use crate::prices::PriceTable;
use crate::report::{Execution, ItemResult, ScoredEvaluation, Status};

pub fn scored(score: f64) -> Execution {
    let evaluation = ScoredEvaluation { score: Some(score), ..ScoredEvaluation::default() };
    Execution {
        output: Some(Output::new("")),
        evaluations: [("e".into(), evaluation)].into_iter().collect(),
        ..Execution::default()
    }
}

pub fn failed() -> Execution {
    Execution { status: Status::Error, error: Some("no".to_owned()), ..Execution::default() }
}

pub fn judged(threshold: &str, items: Vec<Vec<Execution>>) -> ThresholdOutcome {
    let item = |(index, runs): (usize, _)| {
        let (key, input) = (index.to_string(), Arc::default());
        ItemResult { index, key, input, passed: true, runs }
    };
    let items: Vec<_> = items.into_iter().enumerate().map(item).collect();
    let threshold = threshold.parse().unwrap();
    let thresholds = std::slice::from_ref(&threshold);
    let mut figures = RunMetrics::new(&[("e", 0.5)], &[], thresholds, &PriceTable::default());
    items.iter().for_each(|item| figures.add(item));
    evaluate(&threshold, &figures)
}

#[test]
fn a_run_without_any_output_has_nothing_to_measure() {
    for threshold in ["e.avg >= 0", "latency.max <= 1h", "tokens.total <= 9"] {
        let outcome = judged(threshold, vec![vec![failed(), failed()], vec![failed(), failed()]]);
        assert!(!outcome.passed && outcome.actual.is_none());
        assert!(outcome.message.ends_with("has nothing to measure: every item failed"));
    }
}

#[test]
fn items_that_each_failed_in_some_run_are_measured_by_their_other_runs() {
    let outcome = judged("e.avg >= 0.5", vec![vec![failed(), scored(1.0)], vec![scored(0.5), failed()]]);
    assert_eq!((outcome.passed, outcome.actual), (true, Some(0.75)));
}

/// Items; only the first `reporting` ones report tokens.
fn reporting(items: usize, reporting: usize) -> Vec<Vec<Execution>> {
    let output = |index| match index < reporting {
        true => Output::new("").model("gpt-4o-mini").tokens(1_000, 100),
        false => Output::new(""),
    };
    (0..items).map(|index| vec![Execution { output: Some(output(index)), ..scored(1.0) }]).collect()
}

#[test]
fn tokens_and_cost_that_only_some_items_report_are_nothing_to_measure() {
    let metrics = ["avg", "p50", "p95", "p99", "total"].map(|metric| format!("tokens.{metric} <= 1_000_000"));
    for threshold in metrics.into_iter().chain(["tokens.min >= 1".to_owned()]) {
        let outcome = judged(&threshold, reporting(10, 1));
        assert_eq!((outcome.finding, outcome.actual), (ThresholdStatus::Missed, None), "{threshold}");
        let reason = "has nothing to measure: only 1 of 10 items reports tokens; report it for every output";
        assert!(outcome.message.contains(reason), "{}", outcome.message);
        assert!(judged(&threshold, reporting(10, 10)).passed, "{threshold}");
    }
    let cost = judged("cost.total <= 1", reporting(10, 2));
    assert!(cost.message.contains("only 2 of 10 items report an agent cost"), "{}", cost.message);
    assert!(cost.message.contains("`Output::cost(usd)`") && cost.message.contains("`Context::record`"));
    assert!(judged("cost.total <= 1", reporting(2, 2)).passed);
}

#[test]
fn an_output_of_no_tokens_meets_thresholds_on_tokens_and_on_cost() {
    let mut items = reporting(2, 1);
    items[1][0].output = Some(Output::new("").tokens(0, 0));
    for threshold in ["tokens.total <= 2_000", "cost.total <= 1"] {
        let outcome = judged(threshold, items.clone());
        assert!(outcome.passed, "{}", outcome.message);
    }
}

#[test]
fn items_that_failed_need_not_report_tokens_and_each_run_of_the_others_must() {
    let mut items = reporting(3, 2);
    items[2] = vec![failed()];
    assert!(judged("tokens.total <= 10_000", items.clone()).passed);
    items[1].push(scored(1.0));
    let outcome = judged("tokens.total <= 10_000", items);
    assert!(!outcome.passed && outcome.message.contains("only 1 of 2 items"), "{}", outcome.message);
}

#[test]
fn a_rise_of_tokens_that_only_some_items_report_is_nothing_to_measure() {
    let outcome = judged("vs_baseline.tokens.rise <= 10", reporting(10, 1));
    assert_eq!((outcome.finding, outcome.actual), (ThresholdStatus::Missed, None), "{}", outcome.message);
}
