//! The verdict on a difference, and the data needed for an inconclusive one.

use cobalt::report::Measurements;
use cobalt::report::comparison::{SampleSize, Verdict};

use crate::runs::{Random, compared, difference, evaluator, item, right, run, scored, with};

#[test]
fn a_difference_beyond_noise_is_better_or_worse() {
    let (few, many) = (scored("a", &right(10, 40)), scored("b", &right(30, 20)));
    assert_eq!(difference(&few, &many).verdict, Verdict::Better);
    assert_eq!(difference(&many, &few).verdict, Verdict::Worse);
    let latency = |id, factor: f64| {
        with(scored(id, &[1.0; 30]), |index, item| item.latency_ms = factor * (100.0 + index as f64))
    };
    assert_eq!(compared(&latency("a", 1.0), &latency("b", 1.5)).amounts[0].verdict, Verdict::Worse);
    assert_eq!(compared(&latency("a", 1.0), &latency("b", 0.5)).amounts[0].verdict, Verdict::Better);
}

/// A run with long-tailed metrics, whose logarithms are shifted, and with three kinds of scores.
fn noisy(id: &str, items: usize, shift: f64, random: &mut Random) -> Measurements {
    let runs = if random.uniform() < 0.5 { 1 } else { 3 };
    let has_clusters = random.uniform() < 0.3;
    let is_binary = random.uniform() < 0.5;
    let items = (0..items).map(|key| {
        let mut score = || {
            let score = (0.6 - shift / 2.0 + 0.4 * random.normal()).clamp(0.0, 1.0);
            if is_binary { score.round() } else { score }
        };
        let mut item = item(key, &(0..runs).map(|_| score()).collect::<Vec<_>>());
        item.latency_ms = (5.0 + shift + random.normal()).exp();
        item.tokens = Some((5.0 + shift + 0.5 * random.normal()).exp() as u64);
        item.cost = Some((shift + 1.5 * random.normal()).exp() / 100.0);
        item.failed = if random.uniform() < 0.1 { vec![0] } else { Vec::new() };
        item.cluster = has_clusters.then(|| (key / 3).to_string());
        item
    });
    let items = items.collect();
    Measurements { runs, ..run(id, items) }
}

#[test]
fn what_is_better_or_worse_has_an_interval_on_one_side_of_no_difference() {
    let mut random = Random(7);
    let mut decided = [0_u32; 2];
    for trial in 0..400 {
        let items = 2 + trial % 40;
        let shift = f64::from(u32::try_from(trial % 7).unwrap()) / 10.0;
        let (base, other) = (noisy("a", items, 0.0, &mut random), noisy("b", items, shift, &mut random));
        let comparison = compared(&base, &other);
        for found in comparison.evaluators.iter().chain(&comparison.amounts) {
            let Some(ci95) = found.ratio.map(|ratio| ratio.ci95).or(found.ci95) else { continue };
            let same = f64::from(u8::from(found.ratio.is_some()));
            let collapse = format!("`{}` is worse: ", found.name);
            if comparison.notes.iter().any(|note| note.starts_with(&collapse)) {
                continue;
            }
            let is_clear = match found.verdict {
                Verdict::Better | Verdict::Worse if found.difference > 0.0 => ci95.low > same,
                Verdict::Better | Verdict::Worse => ci95.high < same,
                _ => continue,
            };
            assert!(is_clear, "trial {trial}: {found:?}");
            decided[usize::from(found.name == "correct")] += 1;
        }
    }
    assert!(decided.iter().all(|decided| *decided > 20), "metrics and scores: {decided:?}");
}

#[test]
fn a_run_is_within_noise_of_itself_however_few_its_items() {
    for scores in [vec![1.0], vec![0.0, 1.0], vec![0.3; 5], right(20, 5)] {
        let run = scored("a", &scores);
        let found = difference(&run, &run);
        assert_eq!((found.verdict, found.difference, found.settled_by), (Verdict::WithinNoise, 0.0, None));
    }
}

#[test]
fn unchanged_scores_are_within_noise_but_few_that_are_0_or_1_do_not_rule_a_change_out() {
    let found = difference(&scored("a", &[0.3, 0.4, 0.9]), &scored("b", &[0.3, 0.4, 0.9]));
    assert_eq!(found.verdict, Verdict::WithinNoise);
    let found = difference(&scored("a", &right(8, 2)), &scored("b", &right(8, 2)));
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(
        difference(&scored("a", &right(80, 20)), &scored("b", &right(80, 20))).verdict,
        Verdict::WithinNoise
    );
}

#[test]
fn many_items_rule_out_a_difference_that_matters() {
    let noisy = |id, phase: f64| {
        let scores: Vec<_> = (0..400).map(|i| 0.5 + 0.1 * (f64::from(i) * 0.7 + phase).sin()).collect();
        scored(id, &scores)
    };
    let found = difference(&noisy("a", 0.0), &noisy("b", 1.3));
    assert_eq!(found.verdict, Verdict::WithinNoise, "{found:?}");
    assert!(found.p_value.unwrap() > 0.05 && found.settled_by.is_none());
}

#[test]
fn an_open_question_says_how_many_items_would_settle_it() {
    let found = difference(&scored("a", &right(12, 8)), &scored("b", &[right(10, 10)].concat()));
    assert_eq!((found.verdict, found.items), (Verdict::Inconclusive, 20));
    // Enough items to rule out 0.05, not to detect 0.1. Two of 20 pairs differ, and half a pair of each kind is added:
    // 3.2415² (0.1 (N - 2) + 1) / N² equals 0.05² for N pairs, including the added ones.
    let wide = (1.959_964_f64 + 1.281_552).powi(2);
    let all = (0.1 * wide + (0.01 * wide * wide + 4.0 * 0.0025 * wide * 0.8).sqrt()) / (2.0 * 0.0025);
    let items = (all - 2.0).ceil() as u64;
    assert_eq!(found.settled_by, Some(SampleSize { items, runs: None }));
    assert!(items > 20 && items < 600, "{items}");
}

#[test]
fn too_few_items_for_any_test_need_at_least_five() {
    let found = difference(&scored("a", &[0.1, 0.2]), &scored("b", &[0.9, 0.9]));
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(found.settled_by, Some(SampleSize { items: 5, runs: None }));
}

#[test]
fn figures_that_are_corrected_together_need_more_items_together() {
    let two = |id, scores: &[f64]| {
        let mut run = with(scored(id, scores), |index, item| {
            item.scores.insert("polite".to_owned(), vec![scores[index]]);
        });
        run.evaluators.push(evaluator("polite"));
        run
    };
    let found = |items: usize| {
        let after: Vec<_> =
            [0.40, 0.42, 0.38].into_iter().cycle().take(items).map(|drop| 0.9 - drop).collect();
        compared(&two("a", &vec![0.9; items]), &two("b", &after)).evaluators.remove(0)
    };
    assert_eq!(found(3).settled_by, Some(SampleSize { items: 6, runs: None }));
    assert_eq!([5, 6].map(|items| found(items).verdict), [Verdict::Inconclusive, Verdict::Worse]);
}

#[test]
fn one_item_is_neither_better_nor_worse_however_often_it_ran() {
    let once = |id, scores: &[f64]| run(id, vec![item("a", scores)]);
    // One of the trials has no score.
    let found = difference(&once("a", &[1.0; 5]), &once("b", &[0.0; 4]));
    assert!(found.p_value.unwrap() < 0.01 && found.ci95.is_none(), "{found:?}");
    assert_eq!(found.verdict, Verdict::Inconclusive);
}

#[test]
fn what_a_typical_ratio_needs_is_counted_by_the_ratio() {
    // Each takes 5% ± 5% longer; three slow ones hide this in the mean.
    let run = |id, factor: fn(usize) -> f64, slow: [f64; 3]| {
        with(scored(id, &[1.0; 20]), |index, item| {
            let latency = if index < 17 { 100.0 * factor(index).exp() } else { slow[index - 17] };
            (item.latency_ms, item.tokens, item.cost) = (latency, Some(5), Some(0.1));
        })
    };
    let base = run("a", |_| 0.0, [10_000.0; 3]);
    let other = run("b", |index| if index % 2 == 0 { -0.003 } else { 0.097 }, [11_500.0, 8_500.0, 10_100.0]);
    let found = compared(&base, &other).amounts.remove(0);
    assert_eq!((&*found.name, found.verdict), ("latency", Verdict::Inconclusive));
    assert!(found.ratio.unwrap().ci95.low > 1.0 && found.p_adjusted.unwrap() > 0.05, "{found:?}");
    assert!((25..50).contains(&found.settled_by.unwrap().items), "{found:?}");
}

#[test]
fn more_runs_settle_what_comes_of_their_spread_alone() {
    // The means of the items differ by less than the spread of their trials explains.
    let runs_of = |id, shift: f64| {
        let scores = |key: u32| {
            let mean = 0.5 + if key.is_multiple_of(2) { shift } else { -shift };
            [mean - 0.4, mean, mean + 0.4]
        };
        run(id, (0..12).map(|key| item(key, &scores(key))).collect())
    };
    let found = difference(&runs_of("a", 0.05), &runs_of("b", -0.05));
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
    // The variance is 0.16 per trial in both runs, for 12 items; the target is the squared standard error.
    let wanted = 0.05 / (1.959_964_f64 + 1.281_552);
    let runs = ((0.32 / 12.0) / (wanted * wanted)).ceil() as u64;
    assert_eq!(found.settled_by.unwrap().runs, Some(runs));
    assert!((30..300).contains(&runs), "{runs}");
}

#[test]
fn endless_runs_do_not_settle_what_comes_of_the_items() {
    // The trials of an item agree; the items differ.
    let steady = |id, sign: f64| {
        let scores = |key: u32| {
            let mean = 0.5 + sign * 0.2 * (f64::from(key) * 2.1).sin();
            [mean - 0.001, mean, mean + 0.001]
        };
        run(id, (0..12).map(|key| item(key, &scores(key))).collect())
    };
    let settled_by = difference(&steady("a", 1.0), &steady("b", -1.0)).settled_by.unwrap();
    assert_eq!(settled_by.runs, None);
    assert_eq!(settled_by.to_string(), format!("about {} items", settled_by.items));
}

#[test]
fn a_sample_size_reads_as_a_phrase() {
    let size = SampleSize { items: 1200, runs: Some(12) };
    assert_eq!(size.to_string(), "about 1,200 items (or 12 trials per item)");
}

#[test]
fn an_interval_on_one_side_of_0_that_reaches_what_matters_is_not_within_noise() {
    // One of eight evaluators drops by 0.035: significant alone, but not after correction for eight.
    let run_of = |id, scores: &[f64]| {
        let mut run = scored(id, scores);
        for index in 0..7 {
            run.evaluators.push(evaluator(&format!("other {index}")));
            run = with(run, |_, item| {
                item.scores.insert(format!("other {index}"), vec![0.5]);
            });
        }
        run
    };
    let after: Vec<_> = (0..40).map(|i| 0.463 + 0.11 * f64::from(i).sin()).collect();
    let found = difference(&run_of("a", &[0.5; 40]), &run_of("b", &after));
    let ci95 = found.ci95.unwrap();
    assert!(ci95.high < 0.0 && ci95.low < -0.05 && found.smallest_detectable.unwrap() < 0.05, "{found:?}");
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
    let items = found.settled_by.unwrap().items;
    assert!((41..100).contains(&items), "{items}");
}
