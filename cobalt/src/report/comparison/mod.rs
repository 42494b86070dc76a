//! Better or worse? Two runs of an experiment, held against each other item by item.

mod gate;
mod items;
mod matching;
mod model;

pub use gate::{Finding, Judged, judge_against};
pub use items::{ItemChange, ItemSide, ScoreChange, most_changed};
pub use matching::Matching;
pub use model::{Comparison, Difference, Quantity, RunIdentity, SampleSize, Test, Verdict};

use super::measurements::Measurements;

/// Compares each of the other runs with `base`.
///
/// Items are matched by their keys. A difference is positive where the figure of the other run is the larger one.
#[must_use]
pub fn compare(base: &Measurements, others: &[&Measurements]) -> Vec<Comparison> {
    others
        .iter()
        .map(|other| Comparison {
            base: RunIdentity::of(base),
            other: RunIdentity::of(other),
            items: Matching::of(base, other),
            notes: Vec::new(),
            evaluators: Vec::new(),
            amounts: Vec::new(),
        })
        .collect()
}
