//! Baseline gates: met, missed, or inconclusive.

use cobalt::Threshold;
use cobalt::report::comparison::{GateResult, ThresholdStatus, Verdict, evaluate_against};
use cobalt::report::{Category, Comparison, Measurements, Metric};

use crate::runs::{
    Random, compared as compared_runs, difference, evaluator, is_close, item, recording, right, run, scored,
    with,
};

fn gate(category: Category, metric: Metric, bound: f64) -> Threshold {
    Threshold::new(category, metric, Comparison::AtMost, bound)
}

pub(crate) fn drop(bound: f64) -> Threshold {
    gate(Category::Evaluator("correct".to_owned()), Metric::Drop, bound)
}

pub(crate) fn judged(baseline: &Measurements, now: &Measurements, threshold: Threshold) -> GateResult {
    evaluate_against(baseline, now, &[&threshold]).remove(0)
}

#[test]
fn a_drop_beyond_noise_misses_the_gate() {
    let found = judged(&scored("a", &right(90, 10)), &scored("b", &right(60, 40)), drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Missed);
    assert!(is_close(found.actual.unwrap(), 0.3));
    assert!(found.message.starts_with("the drop of correct is 0.3 (95% CI 0."), "{}", found.message);
    assert!(found.message.ends_with(" beyond noise"), "{}", found.message);
}

#[test]
fn a_rise_of_scores_meets_the_gate() {
    let found = judged(&scored("a", &right(60, 40)), &scored("b", &right(90, 10)), drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Met);
    assert!(is_close(found.actual.unwrap(), -0.3));
}

#[test]
fn an_unchanged_agent_meets_the_gate_where_so_many_items_can_tell() {
    let found = judged(&scored("a", &[0.3, 0.4]), &scored("b", &[0.3, 0.4]), drop(0.0));
    assert_eq!(
        (found.finding, found.actual),
        (ThresholdStatus::Met, Some(0.0)),
        "graded scores are exactly the same"
    );
    // For right-or-wrong answers, a few unchanged ones say little about future ones: 1.98 / (n + 2).
    for (items, bound, finding) in [
        (2, 0.02, ThresholdStatus::Inconclusive),
        (96, 0.02, ThresholdStatus::Inconclusive),
        (100, 0.02, ThresholdStatus::Met),
        (1000, 0.0, ThresholdStatus::Inconclusive),
    ] {
        let (base, now) = (scored("a", &right(items, 0)), scored("b", &right(items, 0)));
        let found = judged(&base, &now, drop(bound));
        assert_eq!((found.finding, found.actual), (finding, Some(0.0)), "{items}: {}", found.message);
        assert!(bound > 0.0 || found.message.ends_with("cannot tell it from noise"), "{}", found.message);
    }
}

#[test]
fn a_drop_that_noise_may_explain_is_open_and_says_what_would_settle_it() {
    let found = judged(&scored("a", &right(12, 8)), &scored("b", &right(10, 10)), drop(0.02));
    assert!(found.finding == ThresholdStatus::Inconclusive && is_close(found.actual.unwrap(), 0.1));
    assert!(found.message.contains("20 items cannot tell it from noise; about "), "{}", found.message);
    let single = judged(&scored("a", &[0.9]), &scored("b", &[0.5]), drop(0.02));
    assert_eq!(single.finding, ThresholdStatus::Inconclusive);
    assert!(single.message.contains("one item or cluster is not enough"), "{}", single.message);
}

#[test]
fn a_drop_within_what_is_allowed_is_no_miss_however_sure_it_is() {
    let before: Vec<_> = (0..200).map(|i| 0.5 + 0.001 * f64::from(i % 7)).collect();
    let after: Vec<_> = before.iter().map(|score| score - 0.01).collect();
    let found = judged(&scored("a", &before), &scored("b", &after), drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Met);
    assert_eq!(
        judged(&scored("a", &before), &scored("b", &after), drop(0.005)).finding,
        ThresholdStatus::Missed
    );
}

#[test]
fn changed_items_are_left_out_and_counted() {
    let now = with(scored("b", &right(60, 40)), |index, item| {
        if (60..90).contains(&index) {
            item.content = "2".to_owned();
        }
    });
    let found = judged(&scored("a", &right(90, 10)), &now, drop(0.02));
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Inconclusive, Some(0.0)));
    assert!(found.message.ends_with("; excluded: 30 items changed"), "{}", found.message);
}

#[test]
fn what_a_run_lacks_is_missed() {
    let (base, now) = (scored("a", &[1.0, 0.0]), scored("b", &[1.0, 0.0]));
    let mut with_new = with(now.clone(), |index, item| {
        if index == 0 {
            item.scores.insert("new".to_owned(), vec![1.0]);
        }
    });
    with_new.evaluators.push(evaluator("new"));
    let new = gate(Category::Evaluator("new".to_owned()), Metric::Drop, 0.02);
    let found = judged(&base, &with_new, new.clone());
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, None));
    assert!(
        found.message.ends_with(
            "the baseline has no scores of `new`, only of `correct`; if it is new or was renamed, update it with `cargo cobalt baseline set`"
        ),
        "{}",
        found.message
    );
    let found = judged(&with_new, &now, new);
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, None));
    assert!(found.message.contains("no evaluator is named `new`; available: `correct`"), "{}", found.message);
    let found = judged(&base, &now, gate(Category::Tokens, Metric::Rise, 10.0));
    assert_eq!(found.finding, ThresholdStatus::Missed);
    assert!(
        found.message.ends_with("has nothing to measure: no item of this run has tokens"),
        "{}",
        found.message
    );
    let other = run("b", vec![item("x", &[1.0])]);
    let found = judged(&base, &other, drop(0.02));
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, None));
    assert!(
        found.message.ends_with(
            "the baseline has no items in common with this run; update it with `cargo cobalt baseline set`"
        ),
        "{}",
        found.message
    );
    let changed = with(now.clone(), |_, item| item.content = "2".to_owned());
    let found = judged(&base, &changed, drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Missed);
    assert!(
        found.message.contains("no items can be compared; excluded: 2 items changed"),
        "{}",
        found.message
    );
}

#[test]
fn amounts_are_held_by_their_rise_and_by_their_ratio() {
    let timed = |id, factor: f64| {
        with(scored(id, &[1.0; 40]), |index, item| {
            item.latency_ms = factor * (100.0 + 7.0 * (index % 5) as f64)
        })
    };
    let (base, now) = (timed("a", 1.0), timed("b", 1.5));
    let judged = |metric, bound| judged(&base, &now, gate(Category::Latency, metric, bound));
    for (metric, bound, finding, actual) in [
        (Metric::Rise, 100.0, ThresholdStatus::Met, 57.0),
        (Metric::Rise, 20.0, ThresholdStatus::Missed, 57.0),
        (Metric::Ratio, 1.6, ThresholdStatus::Met, 1.5),
        (Metric::Ratio, 1.2, ThresholdStatus::Missed, 1.5),
    ] {
        let found = judged(metric, bound);
        assert_eq!(found.finding, finding, "{}", found.message);
        assert!(is_close(found.actual.unwrap(), actual), "{}", found.message);
        assert_eq!(found.message.contains("57 ms"), metric == Metric::Rise, "{}", found.message);
    }
}

#[test]
fn a_ratio_below_1_is_missed_by_an_unchanged_agent() {
    let base = with(scored("a", &[1.0; 40]), |index, item| item.latency_ms = 100.0 + index as f64);
    let found = judged(&base, &base.clone(), gate(Category::Latency, Metric::Ratio, 0.5));
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, Some(1.0)));
}

#[test]
fn the_latency_of_replayed_items_is_not_compared() {
    let timed = |id, factor: f64| {
        with(scored(id, &[1.0; 40]), |index, item| {
            item.latency_ms = factor * (100.0 + 7.0 * (index % 5) as f64)
        })
    };
    let gate = || gate(Category::Latency, Metric::Ratio, 1.2);
    // The recorded latencies would hide that the others doubled.
    let replayed = with(timed("b", 2.0), |index, item| {
        item.replayed = index < 30;
        item.latency_ms /= if item.replayed { 2.0 } else { 1.0 };
    });
    let found = judged(&timed("a", 1.0), &replayed, gate());
    assert_eq!(found.finding, ThresholdStatus::Missed, "{}", found.message);
    assert!(is_close(found.actual.unwrap(), 2.0), "{}", found.message);
    assert!(found.message.ends_with("; excluded: 30 items replayed"), "{}", found.message);
    let baseline = with(timed("a", 1.0), |_, item| item.replayed = true);
    let found = judged(&baseline, &timed("b", 2.0), gate());
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Inconclusive, None), "{}", found.message);
    assert!(
        found.message.contains("no items can be compared; excluded: 40 items replayed"),
        "{}",
        found.message
    );
    let scores = judged(&baseline, &timed("b", 2.0), drop(0.02));
    assert!(!scores.message.contains("replayed"), "scores are the agent's own: {}", scores.message);
}

#[test]
fn there_is_no_ratio_to_nothing() {
    let free = with(scored("a", &[1.0; 40]), |_, item| item.cost = Some(0.0));
    let dear = with(scored("b", &[1.0; 40]), |_, item| item.cost = Some(1.0));
    let found = judged(&free, &dear, gate(Category::Cost, Metric::Ratio, 1.2));
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, None));
    assert!(found.message.contains("use `vs_baseline.cost.rise`"), "{}", found.message);
    let found = judged(&free, &free, gate(Category::Cost, Metric::Ratio, 1.2));
    assert_eq!(found.finding, ThresholdStatus::Met, "{}", found.message);
}

#[test]
fn the_score_is_the_mean_of_the_evaluators_that_both_runs_have() {
    let two = |id, first: &[f64], second: f64| {
        let mut run = with(scored(id, first), |_, item| {
            item.scores.insert("brief".to_owned(), vec![second]);
        });
        run.evaluators.push(evaluator("brief"));
        run
    };
    let score = || gate(Category::Score, Metric::Drop, 0.02);
    let found = judged(&two("a", &[1.0; 40], 0.5), &two("b", &[0.5; 40], 0.4), score());
    assert!(
        found.finding == ThresholdStatus::Missed && is_close(found.actual.unwrap(), 0.3),
        "{}",
        found.message
    );
    let found = judged(&scored("a", &[1.0; 40]), &two("b", &[0.5; 40], 0.4), score());
    assert!(is_close(found.actual.unwrap(), 0.5), "{}", found.message);
    assert!(found.message.ends_with("; the baseline has no scores of `brief`"), "{}", found.message);
}

#[test]
fn a_drop_of_one_of_two_evaluators_that_say_yes_or_no_is_seen_in_their_mean() {
    let two = |id, polite: f64| {
        let mut run = with(scored(id, &[1.0; 40]), |_, item| {
            item.scores.insert("polite".to_owned(), vec![polite]);
        });
        run.evaluators.push(evaluator("polite"));
        run
    };
    let found = judged(&two("a", 1.0), &two("b", 0.0), gate(Category::Score, Metric::Drop, 0.02));
    assert!(found.finding == ThresholdStatus::Missed && found.actual == Some(0.5), "{}", found.message);
}

#[test]
fn what_a_drop_takes_to_show_depends_on_the_share_that_the_baseline_has_right() {
    let found = judged(&scored("a", &right(20, 0)), &scored("b", &right(17, 3)), drop(0.02));
    // 4 / 22 of the pairs may differ if an agent whose answers are all right is unchanged, and 0.13 × 0.87 more if it dropped by
    // 0.13: (2.326 √(0.2949 + 0.13²) + 0.8416 √0.2949)² / 0.13².
    assert!(
        found.message.ends_with("20 items cannot tell it from noise; about 183 items needed"),
        "{}",
        found.message
    );
}

/// 100 scores with a standard deviation of 0.3 and a mean of exactly 0.4.
fn spread() -> Vec<f64> {
    (0..100).map(|index| if index % 2 == 0 { 0.1015 } else { 0.6985 }).collect()
}

#[test]
fn the_items_that_a_gate_needs_show_the_drop_at_the_level_of_so_many_gates() {
    // Each score is higher or lower than 0.46 by 0.3.
    let (base, now) = (scored("a", &[0.46; 100]), scored("b", &spread()));
    for (gates, least, most) in [(1, 251, 256), (12, 397, 406)] {
        let found = &evaluate_against(&base, &now, &vec![&drop(0.0); gates])[0];
        let (_, items) = found.message.split_once("; about ").unwrap();
        let items: u32 = items.split(' ').next().unwrap().parse().unwrap();
        // (z(1 - 0.01 / gates) + 0.8416)² × 0.3² / 0.06², and a few more for Student's distribution.
        assert!((least..=most).contains(&items), "{gates}: {}", found.message);
    }
}

#[test]
fn no_number_of_runs_misses_a_gate_of_fewer_clusters_than_it_takes() {
    let mean = [0.3, 0.1, 0.2, 0.06];
    let runs = |id, drop: f64| {
        let scores = mean
            .iter()
            .enumerate()
            .map(|(key, mean)| item(key, &[0.66, 0.8, 0.94].map(|score| score - drop * mean)));
        run(id, scores.collect())
    };
    let found = judged(&runs("a", 0.0), &runs("b", 1.0), drop(0.02));
    assert!(found.message.contains("items needed"), "{}", found.message);
    assert!(!found.message.contains("trials per item"), "{}", found.message);
}

#[test]
fn the_items_that_meet_a_gate_are_counted_by_its_interval() {
    // Clusters of two items, one trial compared with five: half of the trials are right in both runs.
    let runs = |id, number: usize| {
        let mut random = Random(number as u64);
        let score = |random: &mut Random| f64::from(u8::from(random.uniform() < 0.5));
        let items = (0..400).map(|key| {
            let mut item = item(key, &(0..number).map(|_| score(&mut random)).collect::<Vec<_>>());
            item.cluster = Some((key / 2).to_string());
            item
        });
        run(id, items.collect())
    };
    let (base, now) = (runs("a", 1), runs("b", 5));
    let ci95 = difference(&base, &now).ci95.unwrap();
    assert!(ci95.low < -0.05, "{ci95:?}");
    let found = judged(&base, &now, drop(0.05));
    let (_, items) = found.message.split_once("; about ").unwrap();
    let items: f64 = items.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    // An unchanged agent is within 0.05 in 80% of cases if that is 2.8 standard errors; 1.97 of them are half of the interval.
    let times = (0.5 * (ci95.high - ci95.low) / 1.972 * 2.8016 / 0.05).powi(2);
    assert!((items / (400.0 * times) - 1.0).abs() < 0.02, "{} {times}", found.message);
}

#[test]
fn several_gates_are_corrected_for_together() {
    // 7 of 30 are worse: 7 / 32 is 2.75 standard errors from 0, with p = 0.51%, which is more than 1% for two gates.
    let (base, now) = (scored("a", &right(30, 0)), scored("b", &right(23, 7)));
    let gate = drop(0.0);
    let finding = |number| evaluate_against(&base, &now, &vec![&gate; number])[0].finding;
    assert_eq!(
        [finding(1), finding(2), finding(3)],
        [ThresholdStatus::Missed, ThresholdStatus::Inconclusive, ThresholdStatus::Inconclusive]
    );
}

#[test]
fn a_drop_by_what_is_allowed_meets_the_gate_whatever_its_rounding() {
    // 0.9 - 0.88 is a little more than 0.02 as a double.
    let found = judged(&scored("a", &[0.9; 20]), &scored("b", &[0.88; 20]), drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Met, "{}", found.message);
}

#[test]
fn a_gate_needs_at_least_six_items() {
    let found = judged(&scored("a", &[0.9, 0.8, 0.7]), &scored("b", &[0.5, 0.4, 0.3]), drop(0.02));
    assert_eq!(found.finding, ThresholdStatus::Inconclusive);
    assert!(
        found.message.contains("3 items cannot tell it from noise; about 6 items needed"),
        "{}",
        found.message
    );
}

#[test]
fn a_drop_near_the_bound_takes_many_items_to_tell() {
    // A drop of 0.09 ± 0.02; 0.1 is allowed.
    let after: Vec<_> = (0..40).map(|i| 0.41 + 0.12 * f64::from(i).sin()).collect();
    let found = judged(&scored("a", &[0.5; 40]), &scored("b", &after), drop(0.1));
    assert_eq!(found.finding, ThresholdStatus::Inconclusive, "{}", found.message);
    let (_, items) = found.message.split_once("; about ").unwrap();
    let items: usize = items.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!(items > 300, "{}", found.message);
}

#[test]
fn a_gate_whose_every_item_collapsed_is_missed_however_few_items_or_many_gates_there_are() {
    for items in 1..=5 {
        let found = judged(&scored("a", &right(items, 0)), &scored("b", &right(0, items)), drop(0.02));
        assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, Some(1.0)), "{}", found.message);
        assert!(found.message.contains("every item dropped by at least 0.5 ("), "{}", found.message);
    }
    // By the tests alone, three gates are inconclusive: 3 in 128, counted half, is more than 1%.
    let (base, now, gate) = (scored("a", &right(7, 0)), scored("b", &right(0, 7)), drop(0.02));
    for gates in [3, 12] {
        let found = evaluate_against(&base, &now, &vec![&gate; gates]);
        assert!(found.iter().all(|one| one.finding == ThresholdStatus::Missed), "{found:?}");
    }
    // Items of one cluster dropped, too.
    let together = |run| with(run, |_, item| item.cluster = Some("one".to_owned()));
    assert_eq!(judged(&together(base), &together(now), drop(0.02)).finding, ThresholdStatus::Missed);
}

#[test]
fn collapse_of_nearly_all_items_misses() {
    let collapsed = |items: usize, of: usize| {
        let (base, now) = (scored("a", &right(of, 0)), scored("b", &right(of - items, items)));
        judged(&base, &now, drop(0.1))
    };
    let compared = |items: usize, of: usize| {
        difference(&scored("a", &right(of, 0)), &scored("b", &right(of - items, items))).verdict
    };
    let found = collapsed(4, 5);
    assert_eq!((found.finding, found.actual), (ThresholdStatus::Missed, Some(0.8)), "{}", found.message);
    let why = "4 of 5 items dropped by more than 0.5, and none rose as far";
    assert!(found.message.ends_with(why), "{}", found.message);
    for (items, of) in [(5, 6), (5, 7), (6, 8)] {
        assert_eq!(collapsed(items, of).finding, ThresholdStatus::Missed, "{items} of {of}");
        assert_eq!(compared(items, of), Verdict::Worse, "{items} of {of}");
    }
    for (items, of) in [(1, 2), (2, 3), (3, 4), (3, 5), (4, 6)] {
        let found = collapsed(items, of);
        assert!(found.finding == ThresholdStatus::Inconclusive && found.is_large_drop, "{}", found.message);
        let visible = "inconclusive for `vs_baseline.correct.drop <= 0.1`: more than allowed, but ";
        assert!(found.message.contains(visible), "{}", found.message);
        assert_eq!(compared(items, of), Verdict::Inconclusive, "{items} of {of}");
    }
    let comparison = compared_runs(&scored("a", &right(5, 0)), &scored("b", &right(1, 4)));
    assert_eq!(comparison.evaluators[0].verdict, Verdict::Worse);
    assert_eq!(comparison.notes, [format!("`correct` is worse: {why}")]);
    assert!(!collapsed(2, 5).is_large_drop && !collapsed(1, 40).is_large_drop);
    let graded = |scores: &[f64]| judged(&scored("a", &[0.9; 5]), &scored("b", scores), drop(0.1)).finding;
    assert_eq!(graded(&[0.1, 0.2, 0.1, 0.3, 0.9]), ThresholdStatus::Missed);
    assert_eq!(graded(&[0.4, 0.4, 0.4, 0.4, 0.9]), ThresholdStatus::Inconclusive, "half of the scale");
    let with_rise =
        |base: &[f64], now: &[f64]| judged(&scored("a", base), &scored("b", now), drop(0.1)).finding;
    let (base, now) = ([1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(with_rise(&base, &now), ThresholdStatus::Inconclusive, "one item rose");
}

#[test]
fn of_several_runs_the_mean_of_every_item_counts() {
    let several = |id, runs: &[f64]| run(id, (0..3).map(|key| item(key, runs)).collect());
    let base = several("a", &[1.0, 1.0, 1.0, 1.0]);
    let found = |runs: &[f64]| judged(&base, &several("b", runs), drop(0.02)).finding;
    assert_eq!(found(&[0.0, 1.0, 0.0, 0.0]), ThresholdStatus::Missed);
    assert_eq!(found(&[0.0, 1.0, 1.0, 1.0]), ThresholdStatus::Inconclusive);
}

#[test]
fn a_drop_that_spares_an_item_or_is_small_or_allowed_is_no_collapse() {
    let finding = |before: &[f64], after: &[f64], bound| {
        judged(&scored("a", before), &scored("b", after), drop(bound)).finding
    };
    assert_eq!(
        finding(&right(4, 0), &right(1, 3), 0.02),
        ThresholdStatus::Inconclusive,
        "one item is unchanged"
    );
    assert_eq!(
        finding(&right(3, 1), &right(0, 4), 0.02),
        ThresholdStatus::Inconclusive,
        "one was wrong before"
    );
    assert_eq!(
        finding(&[0.9; 3], &[0.5, 0.5, 0.6], 0.02),
        ThresholdStatus::Inconclusive,
        "graded scores vary"
    );
    assert_eq!(finding(&[0.9], &[0.3], 0.7), ThresholdStatus::Inconclusive, "the drop is allowed");
}

#[test]
fn an_amount_that_is_more_for_every_item_is_no_collapse() {
    let timed = |id, ms: f64| with(scored(id, &[1.0; 3]), |_, item| item.latency_ms = ms);
    let (base, now) = (timed("a", 100.0), timed("b", 300.0));
    for (metric, bound) in [(Metric::Rise, 1.0), (Metric::Ratio, 1.1)] {
        let found = judged(&base, &now, gate(Category::Latency, metric, bound));
        assert_eq!(found.finding, ThresholdStatus::Inconclusive, "{}", found.message);
    }
}

#[test]
fn how_many_items_are_needed_counts_all_gates_that_are_corrected_for() {
    let (base, now) = (scored("a", &[0.9; 4]), scored("b", &[0.6, 0.5, 0.5, 0.6]));
    let gate = drop(0.02);
    for (gates, items) in [(1, 6), (2, 7), (3, 8), (5, 8), (6, 9), (12, 10)] {
        let found = &evaluate_against(&base, &now, &vec![&gate; gates])[0];
        let needed = format!("4 items cannot tell it from noise; about {items} items needed");
        assert!(found.message.contains(&needed), "{gates} gates: {}", found.message);
        // With that many items, the gate is missed.
        let [base, now] = [&base, &now].map(|run| {
            let scores =
                (0..items).map(|index| run.items.get(index % 4).unwrap().scores("correct").unwrap()[0]);
            scored(&run.id, &scores.collect::<Vec<_>>())
        });
        let found = evaluate_against(&base, &now, &vec![&gate; gates]);
        assert_eq!(found[0].finding, ThresholdStatus::Missed, "{gates} gates: {}", found[0].message);
    }
}

#[test]
fn a_metric_that_agents_recorded_is_bounded_against_the_baseline_on_either_side() {
    let values = |shift: f64| (0..40).map(|index| vec![f64::from(index % 5) + shift]).collect::<Vec<_>>();
    let run = |id, shift| {
        let values = values(shift);
        recording(id, None, &values.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let gate = |metric, bound| gate(Category::CustomMetric("retrieved".to_owned()), metric, bound);
    let noise = |run: Measurements, by: f64| {
        with(run, |index, item| item.metrics.get_mut("retrieved").unwrap()[0] += by * (index % 2) as f64)
    };
    let (base, less) = (run("a", 5.0), noise(run("b", 2.0), 0.5));
    let found = judged(&base, &less, gate(Metric::Drop, 1.0));
    assert_eq!(found.finding, ThresholdStatus::Missed, "{}", found.message);
    assert!(is_close(found.actual.unwrap(), 2.75));
    assert!(
        found.message.starts_with(r#"the drop of metrics["retrieved"] is 2.75 (95% CI "#),
        "{}",
        found.message
    );
    assert_eq!(judged(&base, &less, gate(Metric::Rise, 0.0)).finding, ThresholdStatus::Met);
    assert_eq!(judged(&less, &base, gate(Metric::Rise, 1.0)).finding, ThresholdStatus::Missed);
    let found = judged(&scored("a", &[1.0; 40]), &less, gate(Metric::Drop, 1.0));
    assert_eq!(found.finding, ThresholdStatus::Missed);
    assert!(found.message.contains("no item of the baseline has this metric"), "{}", found.message);
}
