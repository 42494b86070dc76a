//! Synthetic runs for comparisons.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use cobalt::report::comparison::{Comparison, Difference, compare};
use cobalt::report::{
    Direction, EvaluatorSettings, MeasuredItem, MeasuredItemRef, Measurements, MetricSettings, Timestamp,
};

/// A run of the given items with the evaluator `correct`.
pub(crate) fn run(id: &str, items: Vec<MeasuredItem>) -> Measurements {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    Measurements {
        variant_of: None,
        measurements: 1,
        id: id.to_owned(),
        name: "answers".to_owned(),
        timestamp: Timestamp::from(time),
        declared_at: None,
        git: None,
        dataset: None,
        runs: items.iter().flat_map(|item| item.scores.values().map(Vec::len)).max().unwrap_or(1),
        partial: false,
        failed: false,
        replayed: false,
        replayed_in_part: false,
        outputs_of: None,
        evaluators: vec![evaluator("correct")],
        metrics: BTreeMap::new(),
        items: items.into_iter().collect(),
    }
}

pub(crate) fn evaluator(name: &str) -> EvaluatorSettings {
    EvaluatorSettings { name: name.to_owned(), pass_mark: Some(0.5), hash: Some("1".to_owned()) }
}

/// An item with these scores of `correct`, one per trial.
pub(crate) fn item(key: impl ToString, scores: &[f64]) -> MeasuredItem {
    let scores =
        [("correct".to_owned(), scores.to_vec())].into_iter().filter(|(_, scores)| !scores.is_empty());
    MeasuredItem {
        key: key.to_string(),
        content: "0000000000000001".to_owned(),
        cluster: None,
        failed: Vec::new(),
        latency_ms: 0.0,
        asked: Vec::new(),
        replayed: false,
        retried: 0,
        tokens: None,
        cost: None,
        scores: scores.collect(),
        compared: BTreeMap::new(),
        metrics: BTreeMap::new(),
        trials: Vec::new(),
    }
}

/// A run with one score of `correct` for each item.
pub(crate) fn scored(id: &str, scores: &[f64]) -> Measurements {
    run(id, scores.iter().enumerate().map(|(key, score)| item(key, &[*score])).collect())
}

/// The same run with other values for some items.
pub(crate) fn with(mut run: Measurements, mut change: impl FnMut(usize, &mut MeasuredItem)) -> Measurements {
    let mut items: Vec<_> = run.items.iter().map(MeasuredItemRef::to_item).collect();
    items.iter_mut().enumerate().for_each(|(index, item)| change(index, item));
    run.items = items.into_iter().collect();
    run
}

/// A run whose items recorded these values of `retrieved`, one per trial.
pub(crate) fn recording(id: &str, better: Option<Direction>, items: &[&[f64]]) -> Measurements {
    let unit = Some("documents".to_owned());
    let mut run = with(scored(id, &vec![1.0; items.len()]), |index, item| {
        item.metrics.insert("retrieved".to_owned(), items[index].to_vec());
    });
    run.metrics.insert("retrieved".to_owned(), MetricSettings { unit, better });
    run
}

/// `yes` correct items, and `no` incorrect ones.
pub(crate) fn right(yes: usize, no: usize) -> Vec<f64> {
    [vec![1.0; yes], vec![0.0; no]].concat()
}

pub(crate) fn compared(base: &Measurements, other: &Measurements) -> Comparison {
    compare(base, &[other]).remove(0)
}

/// The difference of the scores of `correct`.
pub(crate) fn difference(base: &Measurements, other: &Measurements) -> Difference {
    compared(base, other).evaluators.remove(0)
}

pub(crate) fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3)
}

/// Pseudo-random numbers from 0 to 1 (SplitMix64), the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A nearly normal number: the sum of twelve uniform ones, less their mean.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
