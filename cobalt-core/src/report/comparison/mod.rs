//! Compares two runs of an experiment, item by item.
//!
//! The page `comparison` of `cobalt` documents the statistics and their calibration.

mod compare;
mod estimate;
mod excess;
mod gate;
mod items;
mod model;
mod notes;
mod paired;
mod pairs;

pub use super::outcome::Finding;
pub use compare::compare;
pub use gate::{Judged, judge_against};
pub use items::{ChangedItems, ItemChange, ItemSide, changed_items, most_changed};
pub use model::{
    Comparison, Difference, Matching, Quantity, RegressedItem, RunIdentity, SampleSize, ScoreChange, Test,
    TypicalRatio, Verdict,
};
pub use notes::{caveats, too_old};
