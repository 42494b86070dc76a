//! Compares noisy agents with their own baseline up to 2,000 times for each size and noise: the false alarms of an unchanged agent, and
//! the missed drops.
//!
//! `cargo test -p cobalt-evals --test comparison simulation -- --nocapture` prints the shares.

use std::fmt;
use std::thread;

use cobalt::Threshold;
use cobalt::report::Measurements;
use cobalt::report::comparison::{ThresholdStatus, evaluate_against};

use crate::gates::drop;
use crate::runs::{Random, difference, item, run};

const TRIALS: u64 = 2000;
/// Fewer trials of many items, which take long.
const TRIALS_OF_MANY_ITEMS: u64 = 500;
/// Fewer trials for cases whose every test must be computed.
const TRIALS_OF_A_DROP: u64 = 200;
/// The drop allowed by the gate in the second test. The first allows none, which is stricter: a run that misses a gate also misses a
/// narrower one.
const ALLOWED: f64 = 0.02;

/// How an agent answers. Each item has its own mean score.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Correct or incorrect; the items' probabilities are uniform within this distance of 0.65.
    Wrong(f64),
    /// Scores with this standard deviation around the item's mean, which is from 0.5 to 0.8, in this many trials.
    Spread(f64, usize),
    /// The same in one trial, but each pair of items shares part of the noise.
    Clustered(f64),
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    items: usize,
    noise: Noise,
}

impl Setting {
    fn answers(self, id: &str, drop: f64, random: &mut Random) -> Measurements {
        let mut shared = 0.0;
        let answer = |key: usize| {
            // The same in each run: the items' own values, in no order.
            let place = (key as f64 * 0.618_034).fract();
            if key.is_multiple_of(2) {
                shared = random.normal();
            }
            let mut score = |mean: f64, spread: f64| (mean - drop + spread * random.normal()).clamp(0.0, 1.0);
            let mean = 0.5 + 0.3 * place;
            let scores = match self.noise {
                Noise::Spread(spread, runs) => (0..runs).map(|_| score(mean, spread)).collect(),
                Noise::Clustered(spread) => vec![score(mean + spread * shared, spread)],
                Noise::Wrong(width) => {
                    let chance = 0.65 + width * (2.0 * place - 1.0) - drop;
                    vec![f64::from(u8::from(random.uniform() < chance))]
                }
            };
            let mut item = item(key, &scores);
            if matches!(self.noise, Noise::Clustered(_)) {
                item.cluster = Some((key / 2).to_string());
            }
            item
        };
        run(id, (0..self.items).map(answer).collect())
    }

    /// The share of the trials in which an agent that dropped by this much misses the gate.
    fn missed(self, gate: &Threshold, dropped: f64, trials: u64, seed: u64) -> f64 {
        let missed = |trial: &u64| {
            let mut random = Random(seed.wrapping_mul(TRIALS).wrapping_add(*trial) << 20);
            let (base, now) = (self.answers("a", 0.0, &mut random), self.answers("b", dropped, &mut random));
            evaluate_against(&base, &now, &[gate])[0].finding == ThresholdStatus::Missed
        };
        (0..trials).filter(missed).count() as f64 / trials as f64
    }

    /// The minimum detectable difference, averaged over some comparisons of an unchanged agent.
    fn smallest_detectable(self) -> f64 {
        let mut random = Random(7);
        let mut one = || {
            let (base, now) = (self.answers("a", 0.0, &mut random), self.answers("b", 0.0, &mut random));
            difference(&base, &now).smallest_detectable.unwrap()
        };
        (0..20).map(|_| one()).sum::<f64>() / 20.0
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items, {:?}", self.items, self.noise)
    }
}

fn settings() -> Vec<Setting> {
    let noises = [
        Noise::Wrong(0.0),
        Noise::Wrong(0.3),
        Noise::Spread(0.05, 1),
        Noise::Spread(0.2, 1),
        Noise::Spread(0.2, 3),
        Noise::Clustered(0.1),
    ];
    let of_size = |items| noises.map(move |noise| Setting { items, noise });
    [20, 60, 200].into_iter().flat_map(of_size).collect()
}

/// Checks every setting, on two threads.
fn check(setting: fn(usize, Setting)) {
    let settings: Vec<_> = settings().into_iter().enumerate().collect();
    thread::scope(|scope| {
        for half in [0, 1] {
            let settings = settings.iter().skip(half).step_by(2);
            scope.spawn(move || settings.for_each(|&(seed, one)| setting(seed, one)));
        }
    });
}

#[test]
fn an_unchanged_agent_fails_the_gate_in_under_2_percent_of_the_trials() {
    check(|seed, setting| {
        let trials = if setting.items > 100 { TRIALS_OF_MANY_ITEMS } else { TRIALS };
        let share = setting.missed(&drop(0.0), 0.0, trials, seed as u64);
        println!("unchanged: {setting}: {:.2}% missed", 100.0 * share);
        assert!(share < 0.02, "{setting}: {share}");
    });
}

#[test]
fn a_drop_of_twice_the_smallest_detectable_one_is_caught_in_over_95_percent_of_the_trials() {
    check(|seed, setting| {
        let dropped = ALLOWED + 2.0 * setting.smallest_detectable();
        let share = setting.missed(&drop(ALLOWED), dropped, TRIALS_OF_A_DROP, seed as u64 + 1000);
        println!("dropped by {dropped:.3}: {setting}: {:.2}% missed", 100.0 * share);
        assert!(share > 0.95, "{setting}: {share}");
    });
}

/// An agent that is correct with this probability, with this many trials.
fn of_runs(id: &str, items: usize, chance: f64, runs: usize, random: &mut Random) -> Measurements {
    let mut answer = |_| f64::from(u8::from(random.uniform() < chance));
    let scores = |_: usize| -> Vec<f64> { (0..runs).map(&mut answer).collect() };
    let scores: Vec<_> = (0..items).map(scores).collect();
    run(id, (0..).zip(scores).map(|(key, scores): (usize, _)| item(key, &scores)).collect())
}

#[test]
fn a_baseline_of_fewer_runs_neither_fails_an_unchanged_agent_nor_hides_a_drop() {
    let missed = |(items, chance): (usize, f64), allowed: f64, dropped: f64, trials: u64| {
        let missed = |trial: &u64| {
            let mut random = Random(*trial << 20);
            let base = of_runs("a", items, chance, 1, &mut random);
            let now = of_runs("b", items, chance - dropped, 5, &mut random);
            evaluate_against(&base, &now, &[&drop(allowed)])[0].finding == ThresholdStatus::Missed
        };
        (0..trials).filter(missed).count() as f64 / trials as f64
    };
    for setting in [(20, 0.9), (20, 0.95)] {
        let share = missed(setting, 0.0, 0.0, TRIALS);
        println!(
            "unchanged: 1 and 5 trials of (items, chance to be right) {setting:?}: {:.2}% missed",
            100.0 * share
        );
        assert!(share < 0.02, "{setting:?}: {share}");
    }
    // About twice the minimum detectable difference.
    let share = missed((60, 0.9), ALLOWED, ALLOWED + 0.25, 20);
    assert!(share > 0.9, "{share}");
}

#[test]
fn an_unchanged_agent_with_few_items_seldom_looks_like_a_collapse() {
    // With six or more items, the tests alone can miss the gate.
    for items in 1..=5 {
        let share = |noise| Setting { items, noise }.missed(&drop(0.0), 0.0, TRIALS, 11);
        let graded = share(Noise::Spread(0.1, 1));
        let wrong = share(Noise::Wrong(0.0));
        println!("{items} items: graded {graded:.4}, right or wrong {wrong:.4}");
        assert!(graded <= 0.001, "{items} items: {graded}");
        // All are correct in one run and incorrect in the other, with probability p: (p (1 - p))ⁿ is at most 1 in 4ⁿ. Of five items,
        // four suffice: at most 1 in 64.
        let most = if items == 5 { 1.0 / 64.0 } else { 0.25_f64.powi(i32::try_from(items).unwrap()) };
        assert!(wrong <= most + 0.01, "{items} items: {wrong}");
    }
}
