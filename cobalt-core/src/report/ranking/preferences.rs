//! What judges prefer that compare the output of each run with another answer.

use std::collections::HashMap;

use super::model::Preference;
use super::rank::RankInput;
use crate::report::MeasuredItemRef;
use crate::report::stats::{PairwiseComparison, bradley_terry};

/// The strengths of the runs by each judge that compared the outputs of all of them with the same other answers, such as those of an
/// earlier system. The other answers are one more competitor, which links the runs.
pub fn preferences(runs: &[RankInput<'_>]) -> Vec<Preference> {
    let Some(first) = runs.first() else { return Vec::new() };
    let has_compared = |name: &&String| first.measurements.items.has_compared(name);
    let names: Vec<_> = first.report.config.evaluators.iter().filter(has_compared).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let contents: Vec<_> = runs.iter().map(contents).collect();
    names.into_iter().filter_map(|name| preference(name, runs, &contents)).collect()
}

/// The content of each item, by its key.
fn contents<'a>(run: &RankInput<'a>) -> HashMap<&'a str, u64> {
    run.measurements.items.iter().map(|item| (item.key(), item.content())).collect()
}

/// Whether the item, and with it the other answer, is the same in all runs.
fn is_same_everywhere(item: MeasuredItemRef<'_>, contents: &[HashMap<&str, u64>]) -> bool {
    contents.iter().all(|run| run.get(item.key()) == Some(&item.content()))
}

fn preference(
    evaluator: &str,
    runs: &[RankInput<'_>],
    contents: &[HashMap<&str, u64>],
) -> Option<Preference> {
    let other = runs.len();
    let mut comparisons = Vec::new();
    for (run, input) in runs.iter().enumerate() {
        let before = comparisons.len();
        for item in input.measurements.items.iter().filter(|item| is_same_everywhere(*item, contents)) {
            let cluster = item.cluster().unwrap_or(item.key());
            for [first, second] in item.compared(evaluator).into_iter().flatten() {
                comparisons.push(PairwiseComparison { cluster, first: run, second: other, outcome: *first });
                comparisons.push(PairwiseComparison {
                    cluster,
                    first: other,
                    second: run,
                    outcome: 1.0 - second,
                });
            }
        }
        if comparisons.len() == before {
            return None;
        }
    }
    let fitted = bradley_terry(&comparisons, other + 1, true)?;
    Some(Preference {
        evaluator: evaluator.to_owned(),
        strengths: fitted.strengths[..other].to_vec(),
        ci95: fitted.ci95[..other].to_vec(),
        other_answers: fitted.strengths[other],
        other_answers_ci95: fitted.ci95[other],
        first_position: fitted.first_position,
        comparisons: comparisons.len(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::prices::PriceTable;
    use crate::report::{Measurements, Report};

    /// A run whose outputs win in both orders, in one, or in none of them.
    fn run(id: &str, won: &[[bool; 2]]) -> Report {
        let order = |first: &str, second: &str, won: bool| json!({ "first": first, "second": second, "winner": if won { "output" } else { "item.before" } });
        let item = |(index, won): (usize, &[bool; 2])| -> Value {
            let orders = [order("output", "item.before", won[0]), order("item.before", "output", won[1])];
            let score = won.iter().filter(|won| **won).count() as f64 / 2.0;
            json!({ "index": index, "key": index.to_string(), "input": {}, "status": "ok", "latencyMs": 1, "output": { "output": "a" },
                "evaluations": { "better": { "score": score, "metadata": { "orders": orders } }, "exact": { "score": 1 } } })
        };
        serde_json::from_value(json!({
            "schema": 1, "id": id, "name": id, "timestamp": "2026-11-21T00:00:00Z", "passed": true,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact", "better"], "passMarks": [0.5, 0.5] },
            "summary": { "totalItems": won.len() }, "items": won.iter().enumerate().map(item).collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    #[test]
    fn runs_are_linked_by_the_other_answers_and_the_position_is_estimated() {
        let often = [[true, true], [true, true], [true, false], [true, true], [true, false], [false, false]];
        let seldom =
            [[true, false], [false, false], [true, false], [false, false], [true, true], [false, false]];
        let reports = [run("a", &seldom), run("b", &often)];
        let measured =
            reports.each_ref().map(|report| Measurements::from_report(report, &PriceTable::default()));
        let runs: Vec<_> = reports
            .iter()
            .zip(&measured)
            .map(|(report, measurements)| RankInput { report, measurements })
            .collect();
        let found = preferences(&runs);
        let [Preference { evaluator, strengths, ci95, other_answers, first_position, comparisons, .. }] =
            &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!((&**evaluator, *comparisons), ("better", 24), "`exact` compares nothing");
        assert!(
            strengths[1] > *other_answers && *other_answers > strengths[0],
            "{strengths:?} {other_answers}"
        );
        assert!((strengths.iter().sum::<f64>() + other_answers).abs() < 1e-9);
        assert!(ci95[1].low < strengths[1] && strengths[1] < ci95[1].high);
        assert!(first_position.unwrap() > 0.0, "the output wins more often if it is shown first");

        let without = run("c", &[]);
        let measurements = Measurements::from_report(&without, &PriceTable::default());
        let missing = RankInput { report: &without, measurements: &measurements };
        assert_eq!(preferences(&[runs[0], missing]), [], "not every run was compared");
    }
}
