//! All pairs of several runs against scipy and statsmodels, and strengths against statsmodels and choix. `reference/ranking.py` wrote the
//! expected values.

use cobalt::report::Measurements;
use cobalt::report::comparison::{Difference, Test, Verdict, compare_all};
use cobalt::report::stats::{PairwiseComparison, bradley_terry};
use serde::Deserialize;

use crate::runs::{Random, scored};

#[derive(Deserialize)]
struct Table {
    /// By run and item.
    scores: Vec<Vec<f64>>,
    pairs: Vec<ExpectedPair>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpectedPair {
    base: usize,
    other: usize,
    p: f64,
    p_adjusted: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preferences {
    runs: usize,
    with_position: bool,
    comparisons: Vec<Compared>,
    strengths: Vec<f64>,
    margins: Vec<f64>,
    position: Option<f64>,
}

#[derive(Deserialize)]
struct Compared {
    cluster: String,
    first: usize,
    second: usize,
    outcome: f64,
}

/// The differences of the scores of all pairs of runs.
pub(crate) fn all_pairs(runs: &[Measurements]) -> Vec<(usize, usize, Difference)> {
    let compared = compare_all(&runs.iter().collect::<Vec<_>>());
    compared.into_iter().map(|(base, other, mut it)| (base, other, it.evaluators.remove(0))).collect()
}

fn is_near(ours: f64, expected: f64) -> bool {
    (ours - expected).abs() <= 1e-9 * expected.abs().max(1e-3)
}

pub(crate) fn assert_agree(table: &str, found: &[(usize, usize, Difference)], expected: &[ExpectedPair]) {
    assert_eq!(found.len(), expected.len());
    for ((base, other, found), expected) in found.iter().zip(expected) {
        assert_eq!((*base, *other), (expected.base, expected.other));
        let (p, adjusted) = (found.p_value.unwrap(), found.p_adjusted.unwrap());
        assert!(
            is_near(p, expected.p) && is_near(adjusted, expected.p_adjusted),
            "{table}, {base} and {other}: {p} ({adjusted}) instead of {} ({})",
            expected.p,
            expected.p_adjusted
        );
    }
}

#[test]
fn the_p_values_of_all_pairs_are_those_of_scipy_and_statsmodels() {
    let tables: Vec<Table> = serde_json::from_str(include_str!("reference/ranking.json")).unwrap();
    assert_eq!(tables.len(), 50);
    let mut tests = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let runs: Vec<_> =
            table.scores.iter().enumerate().map(|(run, scores)| scored(&run.to_string(), scores)).collect();
        let found = all_pairs(&runs);
        assert_agree(&format!("table {number}"), &found, &table.pairs);
        tests.extend(found.iter().map(|(_, _, found)| found.test));
    }
    for test in [Test::Mcnemar, Test::SignFlipExact] {
        assert!(tests.contains(&Some(test)), "{test:?}");
    }
}

#[test]
fn strengths_are_those_of_statsmodels_and_choix() {
    let all: Vec<Preferences> = serde_json::from_str(include_str!("reference/bradley_terry.json")).unwrap();
    for (number, expected) in all.iter().enumerate() {
        let comparisons: Vec<_> = expected.comparisons.iter().map(Compared::view).collect();
        let found = bradley_terry(&comparisons, expected.runs, expected.with_position).unwrap();
        let agree = |ours: f64, theirs: f64| (ours - theirs).abs() < 1e-7;
        for (run, strength) in found.strengths.iter().enumerate() {
            let margin = (found.ci95[run].high - found.ci95[run].low) / 2.0;
            let agrees = agree(*strength, expected.strengths[run]) && agree(margin, expected.margins[run]);
            assert!(
                agrees,
                "case {number}, run {run}: {strength} ± {margin} instead of {} ± {}",
                expected.strengths[run], expected.margins[run]
            );
        }
        assert_eq!(found.first_position.is_some(), expected.position.is_some());
        let positions = found.first_position.zip(expected.position);
        assert!(positions.is_none_or(|(ours, theirs)| agree(ours, theirs)), "case {number}: {positions:?}");
    }
}

impl Compared {
    fn view(&self) -> PairwiseComparison<'_> {
        let Self { cluster, first, second, outcome } = self;
        PairwiseComparison { cluster, first: *first, second: *second, outcome: *outcome }
    }
}

#[test]
fn the_intervals_of_strengths_hold_the_true_ones() {
    const ITEMS: usize = 40;
    let truth = [0.75, 0.25, -0.25, -0.75];
    let names: Vec<_> = (0..ITEMS).map(|item| item.to_string()).collect();
    let (mut covered, mut all) = (0, 0);
    for trial in 0..200 {
        let mut random = Random(trial << 32);
        let mut comparisons = Vec::new();
        for cluster in &names {
            for (first, second) in [(0, 1), (1, 2), (2, 3), (3, 0), (2, 0), (1, 3)] {
                let advantage: f64 = truth[first] - truth[second] + 0.3;
                let outcome = f64::from(u8::from(random.uniform() < 1.0 / (1.0 + (-advantage).exp())));
                // The judge is asked twice and says the same, so the errors of an item depend on each other.
                comparisons.extend([PairwiseComparison { cluster, first, second, outcome }; 2]);
            }
            for (first, second) in [(1, 0), (3, 2)] {
                let advantage: f64 = truth[first] - truth[second] + 0.3;
                let outcome = f64::from(u8::from(random.uniform() < 1.0 / (1.0 + (-advantage).exp())));
                comparisons.push(PairwiseComparison { cluster, first, second, outcome });
            }
        }
        let found = bradley_terry(&comparisons, 4, true).unwrap();
        for (interval, truth) in found.ci95.iter().zip(truth) {
            all += 1;
            covered += u32::from(interval.low <= truth && truth <= interval.high);
        }
    }
    let share = f64::from(covered) / f64::from(all);
    println!("coverage of strengths: {share:.3}");
    assert!((0.92..0.98).contains(&share), "{share}");
}

/// How often some pair of equal runs is called different, of this many trials.
fn called_different(trials: u64, runs: usize, items: usize, score: impl Fn(&mut Random) -> f64) -> f64 {
    let is_different = |trial: &u64| {
        let mut random = Random(trial << 36);
        let mut run = |id: usize| {
            let scores: Vec<_> = (0..items).map(|_| score(&mut random)).collect();
            scored(&id.to_string(), &scores)
        };
        let runs: Vec<_> = (0..runs).map(&mut run).collect();
        let is_real = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
        all_pairs(&runs).iter().any(|(_, _, it)| is_real(it.verdict))
    };
    (0..trials).filter(is_different).count() as f64 / trials as f64
}

/// `RANKING_TRIALS=1000` (and `--release`) draws that many.
#[test]
fn of_eight_equal_variants_some_pair_is_rarely_called_different() {
    let trials = std::env::var("RANKING_TRIALS").ok().and_then(|it| it.parse().ok()).unwrap_or(40);
    let shares = [
        ("right half of the time", called_different(trials, 8, 200, |random| random.uniform().round())),
        (
            "right 9 times of 10",
            called_different(trials, 8, 200, |random| f64::from(u8::from(random.uniform() < 0.9))),
        ),
        (
            "graded",
            called_different(trials.div_ceil(10), 8, 200, |random| {
                (0.6 + 0.15 * random.normal()).clamp(0.0, 1.0)
            }),
        ),
    ];
    for (kind, share) in shares {
        println!("{kind}: {:.1}%", 100.0 * share);
        let chance = 4.0 * (0.05 * 0.95 / trials.div_ceil(10) as f64).sqrt();
        assert!(share <= if trials >= 1000 { 0.05 } else { 0.05 + chance }, "{kind}: {share}");
    }
}
