//! Checks that the statistics hold as often as they claim: noisy agents of many kinds are repeatedly compared with themselves and with one
//! that dropped.
//!
//! `cargo test -p cobalt-evals --test comparison calibration -- --nocapture` prints the shares. `CALIBRATION_TRIALS=2000` (and `--release`) draws
//! that many trials per cell, which takes hours; without it, a few trials of up to 50 items are drawn, which detect a method that is far
//! off.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use std::{env, fmt, thread};

use cobalt::Threshold;
use cobalt::llm::prices::PriceTable;
use cobalt::report::comparison::{Comparison, Difference, ThresholdStatus, Verdict, evaluate_against};
use cobalt::report::stats::Interval;
use cobalt::report::{
    Execution, ItemResult, MeasuredItem, MeasuredItemRef, Measurements, RunMetrics, ScoredEvaluation,
    TrialMeasurements,
};

use crate::gates::drop;
use crate::runs::{Random, compared, item, run};

/// The drop of the worse agents: the margin of scores.
const DROPPED: f64 = 0.05;

/// How an agent answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// Correct with this probability in each trial of each item.
    Right(f64),
    /// Correct with a probability that differs per item, with this mean.
    RightAbout(f64),
    /// Scores with this standard deviation around the item's mean, which is from 0.4 to 0.7.
    Graded(f64),
    /// Scores of 0, 0.25, … 1, many of them equal.
    Quarters,
    /// Correct with this probability; half of the answers agree within a cluster of this many items.
    Clustered(f64, usize),
    /// Scores around 0.5; five items of a cluster share half of the variance.
    GradedClusters,
    /// Latencies: items are spread by a factor of e, and the trials of an item by this power of it.
    Latency(f64),
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    noise: Noise,
    items: usize,
    /// Trials per item in the baseline and in the candidate.
    runs: (usize, usize),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noise, items, runs: (base, other) } = self;
        write!(f, "{noise:?}, {items} items, {base} against {other} runs")
    }
}

/// One run of a noisy agent, and its true mean.
struct Answers {
    run: Measurements,
    truth: f64,
}

impl Cell {
    /// The baseline and a candidate whose agent dropped by this much; latency rose by this share.
    fn pair(self, trial: u64, drop: f64) -> (Answers, Answers) {
        let items = Random(trial.wrapping_mul(7_919) << 24);
        let mut random = Random((trial << 25) + (1 << 23) + self.items as u64);
        let base = self.answers("a", self.runs.0, 0.0, Random(items.0), &mut random);
        let other = self.answers("b", self.runs.1, drop, items, &mut random);
        (base, other)
    }

    /// `of_items` draws the items, the same in both runs, and `random` the agent's results.
    fn answers(self, id: &str, runs: usize, drop: f64, mut of_items: Random, random: &mut Random) -> Answers {
        let mut items = Vec::with_capacity(self.items);
        let (mut truth, mut of_cluster) = (0.0, (0.0, 0.0));
        let size = self.cluster_size().unwrap_or(1);
        for key in 0..self.items {
            if key % size == 0 {
                of_cluster = (random.uniform(), random.normal());
            }
            let place = of_items.uniform();
            let right = |chance: f64, drawn: f64| f64::from(u8::from(drawn < chance - drop));
            let mut scores = |mut score: Box<dyn FnMut(&mut Random) -> f64>| -> Vec<f64> {
                (0..runs).map(|_| score(random)).collect()
            };
            let (scores, mean): (Vec<f64>, f64) = match self.noise {
                Noise::Right(chance) => {
                    (scores(Box::new(move |random| right(chance, random.uniform()))), chance - drop)
                }
                Noise::RightAbout(chance) => {
                    let chance = chance + (1.0 - chance) * (2.0 * place - 1.0);
                    (scores(Box::new(move |random| right(chance, random.uniform()))), chance - drop)
                }
                Noise::Graded(spread) => {
                    let mean = 0.4 + 0.3 * place - drop;
                    (scores(Box::new(move |random| (mean + spread * random.normal()).clamp(0.0, 1.0))), mean)
                }
                Noise::Quarters => {
                    let lower = drop * 4.0 > place_of(key);
                    let quarters = move |random: &mut Random| {
                        let score = ((0.45 + 0.4 * place + 0.12 * random.normal()) * 4.0).round() / 4.0;
                        (score - if lower { 0.25 } else { 0.0 }).clamp(0.0, 1.0)
                    };
                    (scores(Box::new(quarters)), f64::NAN)
                }
                Noise::Clustered(chance, _) => {
                    let of_cluster = of_cluster.0;
                    let drawn = move |random: &mut Random| {
                        let agrees = random.uniform() < 0.5;
                        right(chance, if agrees { of_cluster } else { random.uniform() })
                    };
                    (scores(Box::new(drawn)), chance - drop)
                }
                Noise::GradedClusters => {
                    let mean = 0.5 - drop + 0.1 * of_cluster.1;
                    (
                        scores(Box::new(move |random| (mean + 0.1 * random.normal()).clamp(0.0, 1.0))),
                        0.5 - drop,
                    )
                }
                Noise::Latency(spread) => {
                    let place = of_items.normal();
                    let usual = (6.0 + place).exp() * (1.0 + drop);
                    let mean = usual * (0.5 * spread * spread).exp();
                    (scores(Box::new(move |random| usual * (spread * random.normal()).exp())), mean)
                }
            };
            truth += mean / self.items as f64;
            let mut item = self.item(key, &scores);
            item.cluster = self.cluster_size().map(|size| (key / size).to_string());
            items.push(item);
        }
        let mut run = run(id, items);
        run.runs = runs;
        Answers { run, truth }
    }

    fn item(self, key: usize, figures: &[f64]) -> MeasuredItem {
        if !self.is_latency() {
            return item(key, figures);
        }
        let trials = figures
            .iter()
            .map(|&latency_ms| TrialMeasurements { latency_ms, ..TrialMeasurements::default() });
        let latency_ms = figures.iter().sum::<f64>() / figures.len() as f64;
        let trials = if figures.len() > 1 { trials.collect() } else { Vec::new() };
        MeasuredItem { latency_ms, trials, ..item(key, &[]) }
    }

    fn is_latency(self) -> bool {
        matches!(self.noise, Noise::Latency(_))
    }

    fn cluster_size(self) -> Option<usize> {
        match self.noise {
            Noise::Clustered(_, size) => Some(size),
            Noise::GradedClusters => Some(5),
            _ => None,
        }
    }

    fn difference(self, base: &Answers, other: &Answers) -> Difference {
        let Comparison { mut evaluators, mut amounts, .. } = compared(&base.run, &other.run);
        if self.is_latency() { amounts.remove(0) } else { evaluators.remove(0) }
    }

    /// A gate that a drop of [`DROPPED`] exceeds by 0.03.
    fn gate(self) -> Threshold {
        if self.is_latency() { "vs_baseline.latency.ratio <= 1.02".parse().unwrap() } else { drop(0.02) }
    }
}

/// A deterministic number from 0 to 1 for each item.
fn place_of(key: usize) -> f64 {
    (key as f64 * 0.618_034).fract()
}

/// How often something was true, in how many trials.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    hits: u64,
    of: u64,
}

impl Share {
    fn count(&mut self, is: bool) {
        self.hits += u64::from(is);
        self.of += 1;
    }

    fn share(self) -> f64 {
        self.hits as f64 / self.of.max(1) as f64
    }

    /// Whether this share is consistent with a true share of at most `most`.
    fn may_be_at_most(self, most: f64) -> bool {
        self.share() <= most + 4.0 * (most * (1.0 - most) / self.of.max(1) as f64).sqrt()
    }

    /// Whether this share is consistent with a true share of at least `least`.
    fn may_be_at_least(self, least: f64) -> bool {
        Self { hits: self.of - self.hits, of: self.of }.may_be_at_most(1.0 - least)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of == 0 { f.pad("-") } else { f.pad(&format!("{:.1}", 100.0 * self.share())) }
    }
}

/// The results of a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    /// The interval of the difference contains the true one: for an unchanged agent, and for one that dropped.
    covered: Share,
    covered_drop: Share,
    /// The same for the typical ratio.
    ratio_covered: Share,
    /// An unchanged agent is reported as worse.
    worse: Share,
    /// The agent that dropped meets a gate that should fail.
    met: Share,
    /// A relevant difference is reported as none.
    within: Share,
    /// A drop of the minimum detectable difference is detected.
    power: Share,
    /// The mean minimum detectable difference.
    detectable: f64,
}

impl Rates {
    fn of(cell: Cell, trials: u64) -> Self {
        let mut found = Self::default();
        let mut detectable = Vec::new();
        let gate = cell.gate();
        for trial in 0..trials {
            let (base, other) = cell.pair(2 * trial, 0.0);
            let same = cell.difference(&base, &other);
            found.worse.count(same.verdict == Verdict::Worse);
            detectable.extend(
                same.smallest_detectable.map(|least| least / if cell.is_latency() { same.base } else { 1.0 }),
            );
            found.covered.count(holds(
                same.ci95,
                if cell.noise == Noise::Quarters { 0.0 } else { other.truth - base.truth },
            ));
            let (base, other) = cell.pair(2 * trial + 1, DROPPED);
            let less = cell.difference(&base, &other);
            if cell.noise != Noise::Quarters {
                found.covered_drop.count(holds(less.ci95, other.truth - base.truth));
            }
            if let Some(ratio) = less.ratio {
                found.ratio_covered.count(holds(Some(ratio.ci95), 1.0 + DROPPED));
            }
            found
                .met
                .count(evaluate_against(&base.run, &other.run, &[&gate])[0].finding == ThresholdStatus::Met);
            // For latency, 10% matters.
            if !cell.is_latency() && cell.noise != Noise::Quarters {
                found.within.count(less.verdict == Verdict::WithinNoise);
            }
        }
        found.detectable = detectable.iter().sum::<f64>() / detectable.len() as f64;
        // No agent can drop below 0.
        let can_drop = !matches!(cell.noise, Noise::Quarters)
            && found.detectable < 0.4
            && detectable.len() as u64 == trials;
        for trial in 0..if can_drop { trials.div_ceil(2) } else { 0 } {
            let (base, other) = cell.pair(2 * trial, found.detectable);
            let shown = cell.difference(&base, &other);
            found.power.count(shown.verdict == Verdict::Worse);
        }
        found
    }
}

fn holds(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|ci| ci.low <= truth && truth <= ci.high)
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { covered, covered_drop, ratio_covered, worse, met, within, power, detectable } = self;
        write!(
            f,
            "coverage {covered} {covered_drop}, of the ratio {ratio_covered}; worse {worse}; met {met}; within noise {within}; \
             power {power} at {detectable:.3}"
        )
    }
}

fn cells() -> Vec<Cell> {
    let noises = [
        Noise::Right(0.5),
        Noise::Right(0.9),
        Noise::Right(0.98),
        Noise::RightAbout(0.9),
        Noise::Graded(0.1),
        Noise::Quarters,
        Noise::Clustered(0.9, 5),
        Noise::Clustered(0.98, 5),
        Noise::GradedClusters,
        Noise::Latency(0.3),
        Noise::Latency(1.0),
    ];
    let mut cells = Vec::new();
    for &items in sizes() {
        for noise in noises {
            cells.extend([(1, 1), (3, 3), (1, 5), (5, 1)].map(|runs| Cell { noise, items, runs }));
        }
    }
    cells
}

/// The number of trials per cell.
fn asked() -> Option<u64> {
    env::var("CALIBRATION_TRIALS").ok()?.parse().ok()
}

/// The numbers of items; large ones take long.
fn sizes() -> &'static [usize] {
    if asked().is_some() { &[10, 20, 50, 200, 1000] } else { &[10, 20, 50] }
}

/// How many trials to draw for a cell with this many items.
fn trials(items: usize) -> u64 {
    asked().unwrap_or(if items <= 20 { 12 } else { 3 })
}

/// Processes the cells on all CPUs.
fn each_cell<C: Copy + Send + Sync, T: Send>(cells: &[C], work: impl Fn(&C) -> T + Sync) -> Vec<(C, T)> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(cell) = cells.get(next.fetch_add(1, Relaxed)) {
            done.push((*cell, work(cell)));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

impl Cell {
    /// Whether the values are so skewed that a few items say little about the mean.
    fn is_skewed(self) -> bool {
        self.noise == Noise::Latency(1.0)
    }

    /// Whether so few answers are incorrect, or there are so few clusters, that an interval can only be too wide.
    fn is_cautious(self) -> bool {
        let clusters = self.items / self.cluster_size().unwrap_or(1);
        match self.noise {
            Noise::Graded(_) | Noise::Quarters | Noise::Latency(_) | Noise::GradedClusters => clusters < 10,
            Noise::Right(chance) | Noise::RightAbout(chance) | Noise::Clustered(chance, _) => {
                (clusters as f64 * (1.0 - chance)).round() < 5.0
            }
        }
    }

    /// What is wrong with the cell, with a margin for chance.
    fn faults(self, found: &Rates) -> Vec<String> {
        let least = if self.is_skewed() { 0.90 } else { 0.925 };
        let most = if self.is_cautious() { 1.0 } else { 0.98 };
        let wrong = if self.is_skewed() { 0.05 } else { 0.025 };
        let mut faults = Vec::new();
        let coverages = [
            ("coverage", found.covered, least),
            ("coverage of a drop", found.covered_drop, least),
            ("coverage of the ratio", found.ratio_covered, 0.925),
        ];
        for (what, share, least) in coverages {
            if share.of > 0 && !(share.may_be_at_least(least) && share.may_be_at_most(most)) {
                faults.push(format!("{what} {share}"));
            }
        }
        let errors =
            [("worse", found.worse, 0.025), ("met", found.met, wrong), ("within noise", found.within, 0.04)];
        for (what, share, most) in errors {
            if !share.may_be_at_most(most) {
                faults.push(format!("{what} {share}"));
            }
        }
        if found.power.of > 0 && !found.power.may_be_at_least(0.75) {
            faults.push(format!("power {}", found.power));
        }
        faults
    }
}

#[test]
fn what_is_said_of_two_runs_holds_as_often_as_it_says() {
    let faults = each_cell(&cells(), |cell| {
        let found = Rates::of(*cell, trials(cell.items));
        println!("{cell}: {found}");
        cell.faults(&found)
    });
    assert_none(&faults);
}

fn assert_none<C: fmt::Display>(faults: &[(C, Vec<String>)]) {
    let faults = faults.iter().filter(|(_, faults)| !faults.is_empty());
    let faults: Vec<_> = faults.map(|(cell, faults)| format!("{cell}: {}", faults.join(", "))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The summary of one run.
#[derive(Clone, Copy, Debug)]
struct Summed {
    cell: Cell,
}

impl fmt::Display for Summed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { noise, items, runs: (runs, _) } = self.cell;
        write!(f, "{noise:?}, {items} items, {runs} runs")
    }
}

impl Summed {
    fn all() -> Vec<Self> {
        let noises = [
            Noise::Right(0.5),
            Noise::Right(0.9),
            Noise::Right(0.98),
            Noise::Graded(0.1),
            Noise::Clustered(0.5, 5),
            Noise::Clustered(0.9, 5),
            Noise::Clustered(0.98, 5),
            Noise::GradedClusters,
        ];
        let mut all = Vec::new();
        for &items in sizes() {
            for noise in noises {
                all.extend([1, 3, 5].map(|runs| Self { cell: Cell { noise, items, runs: (runs, runs) } }));
            }
        }
        all
    }

    /// How often the intervals of the mean and the pass rate contain the true ones. Half of the graded scores pass.
    fn coverage(self, trials: u64) -> (Share, Share) {
        let (mut of_mean, mut of_rate) = (Share::default(), Share::default());
        for trial in 0..trials {
            let (Answers { run, truth }, _) = self.cell.pair(trial, 0.0);
            let items: Vec<_> = run.items.iter().map(result).collect();
            let figures = RunMetrics::gather(&items, &[("correct", 0.5)], &PriceTable::default());
            let stats = &figures.summary(Duration::ZERO).scores["correct"];
            match self.cell.noise {
                Noise::Graded(_) => of_mean.count(holds(stats.ci95, truth)),
                Noise::GradedClusters => {
                    of_mean.count(holds(stats.ci95, truth));
                    of_rate.count(holds(stats.pass_rate_ci95, 0.5));
                }
                _ => {
                    of_mean.count(holds(stats.ci95, truth));
                    of_rate.count(holds(stats.pass_rate_ci95, truth));
                }
            }
        }
        (of_mean, of_rate)
    }
}

/// An item of a report with the scores of a measured one.
fn result(item: MeasuredItemRef<'_>) -> ItemResult {
    let run = |score: &f64| {
        let evaluation = ScoredEvaluation { score: Some(*score), ..ScoredEvaluation::default() };
        Execution {
            evaluations: [("correct".into(), evaluation)].into_iter().collect(),
            ..Execution::default()
        }
    };
    let input = item.cluster().map(|name| ("cluster".to_owned(), name.into())).into_iter().collect();
    ItemResult {
        index: 0,
        key: item.key().to_owned(),
        input: Arc::new(input),
        passed: true,
        runs: item.scores("correct").unwrap().iter().map(run).collect(),
    }
}

#[test]
fn the_intervals_of_a_summary_hold_the_truth_as_often_as_they_say() {
    let faults = each_cell(&Summed::all(), |summed| {
        let (of_mean, of_rate) = summed.coverage(4 * trials(summed.cell.items));
        println!("{summed}: coverage of the mean {of_mean}, of the pass rate {of_rate}");
        // Four documents whose items are mostly all correct or all incorrect do not determine the share.
        let clusters = summed.cell.items / summed.cell.cluster_size().unwrap_or(1);
        let least = if clusters < 5 { 0.88 } else { 0.925 };
        let is_off = |share: &Share| share.of > 0 && !share.may_be_at_least(least);
        [of_mean, of_rate].into_iter().filter(is_off).map(|share| format!("coverage {share}")).collect()
    });
    assert_none(&faults);
}
