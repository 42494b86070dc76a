//! The answer in one sentence: which run is the cheapest that is not worse.

use std::cmp::Ordering;

use super::model::{PairDifference, RankedRun, Recommendation};
use crate::prices::{CostFormat, format_cost_precise};
use crate::report::comparison::{Quantity, SampleSize, Verdict};
use crate::wording::{count, join_quoted};

/// Recommends one of the runs by the evaluators that all of them have. One run alone is not compared with any.
pub fn recommend(runs: &[RankedRun], pairs: &[PairDifference], common: &[String]) -> Option<Recommendation> {
    if runs.len() < 2 {
        return None;
    }
    let by_score = |a: &usize, b: &usize| compare(runs[*a].mean_score, runs[*b].mean_score);
    let by_cost = |a: &usize, b: &usize| {
        // An unknown cost is not the lowest.
        let cost = |place: usize| runs[place].cost_per_1000.unwrap_or(f64::INFINITY);
        cost(*a).total_cmp(&cost(*b))
    };
    let places = || 0..runs.len();
    // Of equal scores, the cheapest and then the first.
    let best = places().min_by(|a, b| by_score(b, a).then(by_cost(a, b)))?;
    runs[best].mean_score?;
    let pairs: Vec<_> = pairs.iter().filter(|pair| decides(pair, common)).collect();
    let is_worse = |place| pairs.iter().any(|pair| pair.verdict_for(place) == Some(Verdict::Worse));
    let candidates: Vec<_> = places().filter(|place| !is_worse(*place)).collect();
    let are_costs_known = candidates.iter().all(|place| runs[*place].cost_per_1000.is_some());
    let cheapest = candidates.iter().copied().min_by(|a, b| by_cost(a, b).then(by_score(b, a)));
    let cheapest = cheapest.filter(|_| are_costs_known);
    let text = match cheapest {
        Some(cheapest) if cheapest == best => {
            best_and_cheapest(&runs[best], &others(&candidates, best, runs))
        }
        Some(cheapest) => cheaper_than_best(runs, best, cheapest, &pairs),
        None => without_cheapest(&runs[best], &others(&candidates, best, runs), &candidates),
    };
    Some(Recommendation { best, cheapest, text })
}

/// Unknown values are less than all others.
fn compare(a: Option<f64>, b: Option<f64>) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// Whether a difference makes a run worse than another: in a score that all runs have, or in errors.
fn decides(pair: &PairDifference, common: &[String]) -> bool {
    match pair.difference.quantity {
        Quantity::Score => common.contains(&pair.difference.name),
        quantity => quantity == Quantity::Errors,
    }
}

/// The labels of the runs other than this one.
fn others<'a>(places: &[usize], but: usize, runs: &'a [RankedRun]) -> Vec<&'a str> {
    places.iter().filter(|place| **place != but).map(|place| &*runs[*place].label).collect()
}

fn best_and_cheapest(best: &RankedRun, others: &[&str]) -> String {
    let (label, score) = (&best.label, score(best));
    let cost = best.cost_per_1000.map(format_cost_precise).unwrap_or_default();
    match others {
        [] => format!(
            "`{label}` is best: every other is worse beyond noise; mean score {score}, agent cost {cost} per 1,000 items"
        ),
        others => format!(
            "`{label}` has the highest mean score, {score}, and is the cheapest of those that are not worse beyond noise ({}): agent \
             cost {cost} per 1,000 items",
            join_quoted(others.iter().copied())
        ),
    }
}

fn cheaper_than_best(runs: &[RankedRun], best: usize, cheapest: usize, pairs: &[&PairDifference]) -> String {
    let (this, that) = (&runs[cheapest], &runs[best]);
    let between = pairs.iter().filter(|pair| {
        [pair.base, pair.other].contains(&best) && [pair.base, pair.other].contains(&cheapest)
    });
    let between: Vec<_> = between.collect();
    let open: Vec<_> =
        between.iter().filter(|pair| pair.difference.verdict == Verdict::Inconclusive).collect();
    let scores = format!("mean score {} instead of {}", score(this), score(that));
    let cost = match (this.cost_per_1000, that.cost_per_1000) {
        (Some(own), Some(other)) => {
            let costs = CostFormat::of([own, other]);
            format!("agent cost {} instead of {} per 1,000 items", costs.format(own), costs.format(other))
        }
        (Some(own), None) => format!("agent cost {} per 1,000 items", format_cost_precise(own)),
        _ => String::new(),
    };
    if between.is_empty() {
        return format!(
            "`{}` is the cheapest of those that are not worse, but it has no items in common with `{}`: {scores}; {cost}",
            this.label, that.label
        );
    }
    if open.is_empty() {
        return format!(
            "`{}` is the cheapest that is not worse than `{}`: {scores}, within noise; {cost}",
            this.label, that.label
        );
    }
    let items = open.iter().map(|pair| pair.difference.items).min().unwrap_or_default();
    let needed = open.iter().filter_map(|pair| pair.difference.settled_by).max_by_key(|size| size.items);
    format!(
        "`{}` is the cheapest that is not shown to be worse than `{}`: {scores}; {cost}; {}",
        this.label,
        that.label,
        too_few(items, needed)
    )
}

fn too_few(items: usize, needed: Option<SampleSize>) -> String {
    let few = format!("{} cannot rule out a relevant difference", count(items, "item"));
    match needed {
        Some(size) => format!("{few}, {size} needed"),
        None => few,
    }
}

fn without_cheapest(best: &RankedRun, others: &[&str], candidates: &[usize]) -> String {
    let (label, score) = (&best.label, score(best));
    match (candidates, others) {
        ([], _) => format!(
            "none is at least as good as all others in every score; `{label}` has the highest mean score, {score}"
        ),
        (_, []) => format!("`{label}` is best: every other is worse beyond noise; mean score {score}"),
        (_, others) => format!(
            "`{label}` has the highest mean score, {score}; not worse beyond noise: {}. Report agent costs to see which is the cheapest",
            join_quoted(others.iter().copied())
        ),
    }
}

fn score(run: &RankedRun) -> String {
    run.mean_score.map_or_else(|| "unknown".to_owned(), |mean| format!("{mean:.3}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::comparison::Difference;

    fn run(label: &str, score: f64, cost: Option<f64>) -> RankedRun {
        serde_json::from_value(json!({
            "label": label, "verdict": "passed", "items": 40, "passedItems": 40, "failedItems": 0, "scores": [],
            "run": { "id": label, "name": "desk", "timestamp": "2026-11-21T00:00:00Z", "items": 40, "runs": 1 },
            "meanScore": score, "costPer1000": cost, "isOnParetoFront": false,
        }))
        .unwrap()
    }

    /// The verdict on the second of two runs by the score `right`.
    fn pair(base: usize, other: usize, verdict: &str) -> PairDifference {
        let settled = if verdict == "inconclusive" { json!({ "items": 240 }) } else { json!(null) };
        let difference: Difference = serde_json::from_value(json!({
            "name": "right", "quantity": "score", "base": 0.9, "other": 0.8, "difference": -0.1, "verdict": verdict, "settledBy": settled,
            "items": 40, "clusters": 40, "better": 0, "worse": 4, "equal": 36, "unmeasured": 0,
        }))
        .unwrap();
        PairDifference { base, other, difference }
    }

    fn said(runs: &[RankedRun], pairs: &[PairDifference]) -> (usize, Option<usize>, String) {
        let Recommendation { best, cheapest, text } = recommend(runs, pairs, &["right".to_owned()]).unwrap();
        (best, cheapest, text)
    }

    #[test]
    fn the_cheapest_that_is_not_worse_is_named_with_what_it_saves() {
        let runs = [run("mini", 0.8, Some(0.12)), run("large", 0.9, Some(1.9))];
        assert_eq!(
            said(&runs, &[pair(0, 1, "within-noise")]),
            (1, Some(0), "`mini` is the cheapest that is not worse than `large`: mean score 0.800 instead of 0.900, within noise; agent cost $0.12 instead of \
             $1.90 per 1,000 items".to_owned())
        );
        let (_, cheapest, text) = said(&runs, &[pair(0, 1, "inconclusive")]);
        assert_eq!(cheapest, Some(0));
        assert!(
            text.starts_with("`mini` is the cheapest that is not shown to be worse than `large`"),
            "{text}"
        );
        assert!(
            text.ends_with("; 40 items cannot rule out a relevant difference, about 240 items needed"),
            "{text}"
        );
        let (_, _, text) = said(&runs, &[]);
        assert!(text.contains("it has no items in common with `large`"), "{text}");
    }

    #[test]
    fn a_single_run_has_no_recommendation() {
        assert_eq!(recommend(&[run("mini", 0.8, Some(0.12))], &[], &["right".to_owned()]), None);
    }

    #[test]
    fn a_run_that_is_worse_beyond_noise_is_not_recommended() {
        let runs = [run("mini", 0.5, Some(0.001)), run("large", 0.9, Some(1.9))];
        assert_eq!(
            said(&runs, &[pair(0, 1, "better")]),
            (
                1,
                Some(1),
                "`large` is best: every other is worse beyond noise; mean score 0.900, agent cost $1.90 per 1,000 items"
                    .to_owned()
            )
        );
    }

    #[test]
    fn without_costs_there_is_no_cheapest_and_an_unknown_cost_is_not_the_lowest() {
        let runs = [run("mini", 0.9, None), run("large", 0.9, Some(2.0))];
        let (best, cheapest, text) = said(&runs, &[pair(0, 1, "within-noise")]);
        assert_eq!((best, cheapest), (1, None));
        assert!(
            text.ends_with("not worse beyond noise: `mini`. Report agent costs to see which is the cheapest"),
            "{text}"
        );
    }

    #[test]
    fn if_each_is_worse_in_something_that_is_said() {
        let runs = [run("mini", 0.8, Some(0.12)), run("large", 0.9, Some(1.9))];
        let mut other = pair(0, 1, "worse");
        other.difference.name = "polite".to_owned();
        let common = ["right".to_owned(), "polite".to_owned()];
        let found = recommend(&runs, &[pair(0, 1, "better"), other], &common).unwrap();
        assert_eq!(found.cheapest, None);
        assert!(
            found.text.starts_with("none is at least as good as all others in every score"),
            "{}",
            found.text
        );
    }
}
