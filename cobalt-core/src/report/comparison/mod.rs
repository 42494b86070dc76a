//! Compares two runs of an experiment, item by item.
//!
//! The page `comparison` of `cobalt` documents the statistics and their calibration.

mod asked;
mod compare;
mod drift;
mod estimate;
mod gate;
mod gate_evidence;
mod item_changes;
mod model;
mod notes;
mod paired;
mod pairs;

pub use super::outcome::ThresholdStatus;
pub use compare::{compare, compare_all};
pub use drift::score_drift;
pub use gate::{GateResult, evaluate_against, evaluate_against_all};
pub use gate_evidence::COLLAPSE;
pub use item_changes::{ChangedItems, ItemChange, ItemSide, changed_items, most_changed};
pub use model::{
    AskedComparison, Comparison, Difference, DivergedItem, ItemMatching, Quantity, RegressedItem,
    RunIdentity, SampleSize, ScoreChange, Test, TypicalRatio, Verdict,
};
pub use notes::{caveats, replay_note, stale_baseline_warning};
