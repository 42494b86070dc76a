//! Four systems on the 1,319 problems of GSM8K, compared with each other.

use std::path::{Path, PathBuf};

use cobalt::Dataset;
use cobalt::report::Measurements;
use cobalt::report::comparison::{Test, Verdict};
use serde::Deserialize;

use crate::ranking::{ExpectedPair, all_pairs, assert_agree};
use crate::runs::{difference, scored};

const SYSTEMS: [&str; 4] = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"];

/// The text after the last `A: `, without commas and dollar signs.
fn answer(solution: &str) -> Option<String> {
    let line = solution.lines().rev().find_map(|line| line.strip_prefix("A: "))?;
    Some(line.trim().replace([',', '$'], ""))
}

/// Each system's run; `None` if the solutions are missing.
fn systems() -> Option<Vec<Measurements>> {
    let shared = std::env::var_os("COBALT_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = shared.join("data/gsm8k/solutions.jsonl");
    if !path.exists() {
        println!("skipped: {} does not exist", path.display());
        return None;
    }
    let problems = Dataset::from_file(path).unwrap();
    let run = |system: &str| {
        let is_right = |problem: &cobalt::Item| {
            let right = answer(problem["ground_truth"].as_str().unwrap());
            f64::from(u8::from(right == answer(problem[system]["solution"].as_str().unwrap())))
        };
        scored(system, &problems.iter().map(|problem| is_right(&problem)).collect::<Vec<_>>())
    };
    Some(SYSTEMS.map(run).to_vec())
}

/// McNemar's mid-p-value from binomial coefficients: twice the sum of `C(n, k) / 2^n` up to the smaller count, minus the term of the
/// smaller count. The coefficients follow Pascal's rule and are halved in each row to avoid overflow.
fn by_pascals_triangle(only_first: usize, only_second: usize) -> f64 {
    let tosses = only_first + only_second;
    let mut row = vec![1.0_f64];
    for _ in 0..tosses {
        let padded = [&[0.0], &row[..], &[0.0]].concat();
        row = padded.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
    }
    let fewer = only_first.min(only_second);
    2.0 * row[..=fewer].iter().sum::<f64>() - row[fewer]
}

#[test]
fn every_pair_agrees_with_mcnemars_test_by_pascals_triangle() {
    let Some(runs) = systems() else { return };
    for base in &runs {
        for other in &runs {
            let found = difference(base, other);
            let (p, expected) = (found.p_value.unwrap(), by_pascals_triangle(found.worse, found.better));
            assert!((p / expected - 1.0).abs() < 1e-10, "{} {}: {p}, {expected}", base.id, other.id);
            assert_eq!((found.items, found.test), (1319, Some(Test::Mcnemar)));
        }
    }
}

#[test]
fn a_large_system_is_better_than_a_small_one_and_a_system_is_within_noise_of_itself() {
    let Some(runs) = systems() else { return };
    let found = difference(&runs[0], &runs[2]);
    assert_eq!(found.verdict, Verdict::Better);
    assert!(found.p_value.unwrap() < 1e-10 && found.difference > 0.1, "{found:?}");
    for system in &runs {
        let itself = difference(system, system);
        assert_eq!((itself.verdict, itself.difference), (Verdict::WithinNoise, 0.0));
    }
}

#[derive(Deserialize)]
struct Expected {
    /// The correct answers of each system.
    right: Vec<usize>,
    pairs: Vec<ExpectedPair>,
}

#[test]
fn the_ranking_agrees_with_scipy_and_statsmodels() {
    let Some(runs) = systems() else { return };
    let expected: Expected = serde_json::from_str(include_str!("reference/gsm8k.json")).unwrap();
    let right =
        |run: &Measurements| run.items.iter().filter(|item| item.scores("correct") == Some(&[1.0])).count();
    assert_eq!(runs.iter().map(right).collect::<Vec<_>>(), expected.right);
    assert_agree("GSM8K", &all_pairs(&runs), &expected.pairs);
}
