//! Which items, clusters and trials are compared, and the statistics of a difference.

use cobalt::report::comparison::{Quantity, Test, Verdict, compare};
use cobalt::report::stats::{mcnemar, student_t_quantile};
use cobalt::report::{Direction, Measurements, TrialMeasurements};

use crate::runs::{
    Random, compared, difference, evaluator, is_close, item, recording, right, run, scored, with,
};

#[test]
fn items_are_matched_by_key_and_told_apart() {
    let base = run("a", ["kept", "edited", "gone"].map(|key| item(key, &[1.0])).to_vec());
    let mut edited = item("edited", &[0.0]);
    edited.content = "2".to_owned();
    let other = run("b", vec![item("new", &[0.5]), edited, item("kept", &[1.0])]);
    let comparison = compared(&base, &other);
    let items = &comparison.items;
    assert_eq!((items.matched, &*items.changed), (2, &["edited".to_owned()][..]));
    assert_eq!((&*items.added, &*items.removed), (&["new".to_owned()][..], &["gone".to_owned()][..]));
    let note = "the items differ: 1 item changed (included here, excluded from baseline thresholds), 1 item added, 1 item removed";
    assert_eq!(comparison.notes, [note]);
    let correct = &comparison.evaluators[0];
    assert_eq!((correct.items, correct.better, correct.worse, correct.equal), (2, 0, 1, 1));
    assert_eq!((correct.base, correct.other, correct.difference), (1.0, 0.5, -0.5));
}

#[test]
fn runs_without_a_common_item_have_no_figures_and_say_why() {
    let comparison = compared(&run("a", vec![item("x", &[1.0])]), &run("b", vec![item("y", &[1.0])]));
    assert!(comparison.evaluators.is_empty() && comparison.amounts.is_empty());
    assert!(comparison.notes[0].starts_with("the runs have no items in common"), "{:?}", comparison.notes);
}

#[test]
fn single_scores_of_0_and_1_take_mcnemars_test_and_the_interval_of_agresti_and_min() {
    let mut after = right(50, 50);
    (0..3).for_each(|index| after[index] = 0.0);
    (60..72).for_each(|index| after[index] = 1.0);
    let found = difference(&scored("a", &right(50, 50)), &scored("b", &after));
    assert_eq!((found.test, found.p_value), (Some(Test::Mcnemar), Some(mcnemar(3, 12).mid_p)));
    assert_eq!((found.better, found.worse, found.equal), (12, 3, 85));
    // The mean is (12 - 3) / 102, its standard error the root of (16 - 81 / 102) / 102².
    let (middle, error) = (9.0 / 102.0, ((16.0 - 81.0 / 102.0_f64) / 102.0 / 102.0).sqrt());
    let (ci95, t) = (found.ci95.unwrap(), student_t_quantile(0.975, 99.0).unwrap());
    assert!(is_close(ci95.low, middle - t * error) && is_close(ci95.high, middle + t * error), "{ci95:?}");
    // Half of the answers are right, so a worse agent does not differ in more pairs. With half a pair of each kind added,
    // (1.96 * √(16 / 102) + 0.84 * √(16 / 102 - δ²)) / √100 equals δ at 0.10966.
    assert!((found.smallest_detectable.unwrap() - 0.10966).abs() < 1e-4, "{found:?}");
}

#[test]
fn other_scores_take_sign_flips_and_students_t() {
    let found = difference(&scored("a", &[0.5, 0.4, 0.3, 0.8]), &scored("b", &[0.6, 0.6, 0.6, 0.8]));
    // Differences of 0.1, 0.2, 0.3 and 0: two of eight flips are as far from 0; they count half.
    assert_eq!((found.test, found.p_value), (Some(Test::SignFlipExact), Some(0.125)));
    let (mean, error) = (0.15, (0.05_f64 / 3.0 / 4.0).sqrt());
    let t = student_t_quantile(0.975, 3.0).unwrap();
    let ci95 = found.ci95.unwrap();
    assert!(is_close(ci95.low, mean - t * error) && is_close(ci95.high, mean + t * error), "{ci95:?}");
}

#[test]
fn an_interval_of_scores_stays_within_what_a_difference_can_be() {
    let ci95 = difference(&scored("a", &[0.0, 0.1]), &scored("b", &[1.0, 0.3])).ci95.unwrap();
    assert_eq!((ci95.low, ci95.high), (-1.0, 1.0));
}

#[test]
fn an_items_figure_is_the_mean_over_its_runs() {
    let found = difference(
        &run("a", vec![item(0, &[0.0, 1.0]), item(1, &[1.0, 1.0])]),
        &run("b", vec![item(0, &[1.0, 0.0]), item(1, &[1.0, 0.0])]),
    );
    assert_eq!((found.base, found.other, found.equal, found.worse), (0.75, 0.5, 1, 1));
    assert_eq!(found.test, Some(Test::SignFlipExact), "trials of an item are not independent observations");
}

#[test]
fn means_of_the_same_scores_in_another_order_are_equal() {
    let scores = [0.1, 0.7, 0.2, 0.3, 0.9];
    let turned: Vec<_> = scores.iter().rev().copied().collect();
    let found = difference(&run("a", vec![item(0, &scores)]), &run("b", vec![item(0, &turned)]));
    assert_eq!((found.equal, found.p_value), (1, Some(1.0)));
}

#[test]
fn items_of_one_cluster_count_as_one() {
    let clustered = |id, scores: &[f64]| {
        with(scored(id, scores), |index, item| item.cluster = Some((index / 10).to_string()))
    };
    let (before, after) = (vec![0.5; 40], (0..40).map(|i| 0.6 + 0.1 * f64::from(i / 10)).collect::<Vec<_>>());
    let found = difference(&clustered("a", &before), &clustered("b", &after));
    assert_eq!((found.items, found.clusters), (40, 4));
    assert_eq!(
        (found.p_value, found.test),
        (Some(0.0625), Some(Test::SignFlipExact)),
        "all four clusters improved"
    );
    let alone = difference(&scored("a", &before), &scored("b", &after));
    assert!(alone.p_value.unwrap() < 0.001 && alone.clusters == 40);
    // Four values from 0.1 to 0.4, with a mean of 0.25.
    let ci95 = found.ci95.unwrap();
    let half = student_t_quantile(0.975, 3.0).unwrap() * (0.05_f64 / 3.0 / 4.0).sqrt();
    assert!(is_close(ci95.low, 0.25 - half) && is_close(ci95.high, 0.25 + half), "{ci95:?}");
}

#[test]
fn one_cluster_has_no_interval() {
    let found = difference(&scored("a", &[1.0]), &scored("b", &[0.0]));
    assert_eq!((found.ci95, found.smallest_detectable, found.settled_by), (None, None, None));
    assert_eq!((found.p_value, found.difference), (Some(0.5), -1.0));
}

#[test]
fn an_item_without_a_score_in_one_run_is_left_out_and_counted() {
    let base = run("a", vec![item(0, &[]), item(1, &[0.5]), item(2, &[0.5])]);
    let other = run("b", vec![item(0, &[1.0]), item(1, &[0.5]), item(2, &[])]);
    let found = difference(&base, &other);
    assert_eq!((found.items, found.unmeasured, found.difference), (1, 2, 0.0));
}

#[test]
fn amounts_are_those_of_one_run_and_less_is_better() {
    let amounts = |id, runs, factor: u64| {
        let mut run = with(scored(id, &[1.0; 30]), |index, item| {
            item.latency_ms = (100 * factor) as f64 + index as f64;
            item.tokens = Some(runs as u64 * (100 * factor + index as u64));
            item.cost = (index > 0).then_some(runs as f64 * 0.01 * factor as f64);
            item.failed = if index < 2 && factor == 2 { vec![0] } else { Vec::new() };
        });
        run.runs = runs;
        run
    };
    let found = compared(&amounts("a", 3, 1), &amounts("b", 1, 2)).amounts;
    let figures: Vec<_> =
        found.iter().map(|one| (&*one.name, one.quantity, one.worse, one.unmeasured)).collect();
    assert_eq!(
        figures,
        [
            ("latency", Quantity::Latency, 30, 0),
            ("tokens", Quantity::Tokens, 30, 0),
            ("cost", Quantity::Cost, 29, 1),
            ("errors", Quantity::Errors, 2, 0),
        ]
    );
    assert!(is_close(found[0].difference, 100.0) && is_close(found[1].difference, 100.0));
    assert!(is_close(found[2].base, 0.01) && is_close(found[2].other, 0.02));
    assert!(is_close(found[3].difference, 2.0 / 30.0) && found[3].test == Some(Test::Permutation));
}

#[test]
fn what_a_run_does_not_tell_is_not_compared() {
    let comparison = compared(&scored("a", &[1.0; 3]), &scored("b", &[1.0; 3]));
    assert!(comparison.amounts.is_empty(), "{:?}", comparison.amounts);
}

#[test]
fn amounts_have_students_interval_and_the_test_of_their_logs() {
    let base = with(scored("a", &[1.0; 4]), |_, item| item.latency_ms = 100.0);
    // Differences of 10, 20, 30 and 60 ms: mean 30, standard error 10.8012; t with 3 degrees of freedom.
    let other = with(scored("b", &[1.0; 4]), |index, item| {
        item.latency_ms = 100.0 + [10.0, 20.0, 30.0, 60.0][index];
    });
    let latency = &compared(&base, &other).amounts[0];
    let ci95 = latency.ci95.unwrap();
    assert!((ci95.low + 4.3743).abs() < 1e-3 && (ci95.high - 64.3743).abs() < 1e-3, "{latency:?}");
    // The logs of 1.1, 1.2, 1.3 and 1.6: mean 0.25250, standard error 0.08012.
    let ratio = latency.ratio.unwrap();
    assert!((ratio.ratio - 1.28724).abs() < 1e-4, "{ratio}");
    assert!((ratio.ci95.low - 0.9975).abs() < 1e-3 && (ratio.ci95.high - 1.6611).abs() < 1e-3, "{ratio}");
    assert_eq!(latency.test, Some(Test::LogRatioT));
    assert!((latency.p_value.unwrap() - 0.0513).abs() < 1e-3, "{latency:?}");
}

#[test]
fn all_evaluators_of_all_runs_are_corrected_for_together() {
    let two = |id, first: &[f64]| {
        let mut run = with(scored(id, first), |_, item| {
            item.scores.insert("brief".to_owned(), vec![0.5]);
        });
        run.evaluators.push(evaluator("brief"));
        run
    };
    let before: Vec<_> = (0..10).map(|i| 0.3 + 0.01 * f64::from(i)).collect();
    let after: Vec<_> = before.iter().enumerate().map(|(i, score)| score + 0.1 + 0.01 * i as f64).collect();
    let (base, other, same) = (two("a", &before), two("b", &after), two("c", &before));
    let alone = compare(&base, &[&other]);
    // Two of 1,024 flips; they count half.
    let p = 1.0 / 1024.0;
    assert_eq!((alone[0].evaluators[0].p_value, alone[0].evaluators[0].p_adjusted), (Some(p), Some(2.0 * p)));
    let both = compare(&base, &[&other, &same]);
    assert_eq!(both[0].evaluators[0].p_adjusted, Some(4.0 * p));
    assert_eq!(both[1].evaluators[1].p_adjusted, Some(1.0));
}

#[test]
fn what_makes_runs_hard_to_compare_is_said() {
    let (mut base, mut other) = (scored("a", &[1.0]), scored("b", &[1.0]));
    base.evaluators.push(evaluator("old"));
    other.evaluators[0].hash = Some("2".to_owned());
    other.evaluators.push(evaluator("new"));
    other.partial = true;
    other.name = "questions".to_owned();
    assert_eq!(
        compared(&base, &other).notes,
        [
            "the runs are of different experiments: `answers` and `questions`",
            "run b is partial: only some of its items were run",
            "only run b has `new`",
            "only run a has `old`",
            "`correct` had different settings in run a, which may explain a difference",
        ]
    );
    assert_eq!(compared(&base, &base).notes, ["both sides are the same run"]);
    assert!(compared(&scored("a", &[1.0]), &scored("b", &[1.0])).notes.is_empty());
}

#[test]
fn an_evaluator_that_scored_nothing_in_one_run_is_named() {
    let comparison = compared(&scored("a", &[1.0; 3]), &run("b", (0..3).map(|key| item(key, &[])).collect()));
    assert!(comparison.evaluators.is_empty());
    let note = "not scored in both runs: `correct`; it cannot be compared";
    assert_eq!(comparison.notes, [note]);
}

#[test]
fn clusters_whose_differences_cancel_out_are_no_difference() {
    // 0.1 + 0.2 - 0.3 is not 0 as a double: ten such differences have the same sign.
    let three = |id, scores: [f64; 3]| {
        with(scored(id, &scores.repeat(10)), |index, item| item.cluster = Some((index / 3).to_string()))
    };
    let found = difference(&three("a", [0.0, 0.0, 0.3]), &three("b", [0.1, 0.2, 0.0]));
    assert_eq!((found.p_value, found.clusters), (Some(1.0), 10), "{found:?}");
}

#[test]
fn figures_that_only_rounding_tells_apart_have_no_difference() {
    let found = difference(
        &run("a", vec![item(0, &[0.1, 0.2, 0.3]), item(1, &[0.7, 0.8, 0.9])]),
        &run("b", vec![item(0, &[0.3, 0.2, 0.1]), item(1, &[0.9, 0.7, 0.8])]),
    );
    assert_eq!((found.difference, found.equal), (0.0, 2));
}

#[test]
fn runs_that_one_side_has_more_of_are_exchanged_between_the_sides() {
    let runs_of = |id, scores: &[f64], cluster: usize| {
        let run = run(id, (0..8).map(|key| item(key, scores)).collect());
        with(run, |index, item| item.cluster = Some((index / cluster).to_string()))
    };
    // One of four trials is wrong; by chance it is the trial of run A in z of eight items. z = 0 and z >= 4 are equally far from 0.
    let once = runs_of("a", &[1.0], 1);
    let found = difference(&once, &runs_of("b", &[1.0, 0.0, 1.0], 1));
    assert_eq!((found.test, found.worse), (Some(Test::Permutation), 8));
    // z = 0 and z = 4 are ties, which count half.
    let expected = 0.5 * (0.100_113 + 0.086_517) + 0.027_298;
    assert!((found.p_value.unwrap() - expected).abs() < 0.015, "{found:?}");
    // In clusters of two items, only equal numbers of trials are compared; these agree.
    let found = difference(&runs_of("a", &[1.0], 2), &runs_of("b", &[1.0, 0.0, 1.0], 2));
    assert_eq!((found.test, found.p_value), (Some(Test::SignFlipExact), Some(1.0)));
    // Or they differ in the opposite direction.
    let found = difference(&runs_of("a", &[0.5], 2), &runs_of("b", &[1.0, 0.0, 0.0, 0.0], 2));
    assert_eq!((found.difference, found.p_value), (-0.25, Some(1.0)));
}

#[test]
fn amounts_without_a_ratio_are_exchanged_between_the_sides_too() {
    let run = |id: &str, trials: usize| {
        let mut random = Random(u64::from(id.as_bytes()[0]));
        let run = Measurements { runs: trials, ..scored(id, &[1.0; 12]) };
        with(run, |index, item| {
            let mut latency = || if index == 0 { 0.0 } else { (5.0 + random.normal()).exp() };
            let trial = |latency_ms| TrialMeasurements { latency_ms, ..TrialMeasurements::default() };
            item.trials = (0..trials).map(|_| trial(latency())).collect();
            item.latency_ms = item.trials.iter().map(|trial| trial.latency_ms).sum::<f64>() / trials as f64;
        })
    };
    let found = |base, other| compared(&run("a", base), &run("b", other)).amounts.remove(0);
    assert_eq!((found(1, 5).ratio, found(1, 5).test), (None, Some(Test::Permutation)));
    assert_eq!((found(2, 2).ratio, found(2, 2).test), (None, Some(Test::PairedT)));
}

#[test]
fn errors_are_the_share_of_the_runs_that_failed() {
    let failing = |id, runs: usize, failed: &'static [usize]| {
        let mut run = with(scored(id, &[1.0; 10]), |_, item| item.failed = failed.to_vec());
        run.runs = runs;
        run
    };
    // Each item failed in one of five trials, which a single trial can miss.
    let found = compared(&failing("a", 1, &[]), &failing("b", 5, &[3])).amounts.remove(0);
    assert_eq!((found.quantity, found.other, found.test), (Quantity::Errors, 0.2, Some(Test::Permutation)));
    assert!(found.p_value.unwrap() > 0.05, "{found:?}");
    let found = compared(&failing("a", 2, &[]), &failing("b", 2, &[0, 1])).amounts.remove(0);
    assert_eq!((found.other, found.p_value), (1.0, Some(1.0 / 1024.0)));
}

#[test]
fn metrics_that_agents_recorded_are_better_or_worse_by_their_direction() {
    let (low, high): (Vec<_>, Vec<_>) =
        (0..20).map(|index| (3.0 + f64::from(index % 3), 7.0 + f64::from(index % 4))).unzip();
    let items = |values: &[f64]| values.iter().map(|value| vec![*value]).collect::<Vec<_>>();
    let (low, high) = (items(&low), items(&high));
    let [low, high] = [&low, &high].map(|values| values.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (better, verdict, counts) in [
        (Some(Direction::Higher), Verdict::Better, (20, 0)),
        (Some(Direction::Lower), Verdict::Worse, (0, 20)),
        (None, Verdict::Changed, (0, 0)),
    ] {
        let found = compared(&recording("a", better, &low), &recording("b", better, &high)).amounts.remove(0);
        assert_eq!((&*found.name, found.quantity, found.direction), ("retrieved", Quantity::Metric, better));
        assert_eq!((found.verdict, (found.better, found.worse), found.equal), (verdict, counts, 0));
        assert_eq!((found.test, found.unit.as_deref()), (Some(Test::PairedT), Some("documents")));
        assert!(found.ratio.is_none() && found.ci95.is_some_and(|ci| ci.low > 0.0 && ci.high < 10.0));
    }
}

#[test]
fn a_metric_without_a_direction_settles_the_direction_by_the_other_run() {
    let with = |id, better| recording(id, better, &[&[1.0, 2.0], &[3.0, 4.0]]);
    let found = compared(&with("a", None), &with("b", Some(Direction::Lower))).amounts.remove(0);
    assert_eq!((found.direction, found.verdict), (Some(Direction::Lower), Verdict::WithinNoise));
    let unknown = compared(&scored("a", &[1.0; 2]), &with("b", None));
    assert!(unknown.amounts.is_empty(), "{:?}", unknown.amounts);
}

#[test]
fn metrics_are_corrected_apart_from_other_amounts() {
    let timed = |id, factor: f64| {
        let values = [1.0, 2.0, 3.0, 5.0, 8.0, 9.0].map(|value| [value * factor]);
        let items: Vec<&[f64]> = values.iter().map(<[f64; 1]>::as_slice).collect();
        with(recording(id, None, &items), |index, item| item.latency_ms = factor * (10.0 + index as f64))
    };
    let found = compared(&timed("a", 1.0), &timed("b", 1.5)).amounts;
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|one| one.p_adjusted == one.p_value), "{found:?}");
}
