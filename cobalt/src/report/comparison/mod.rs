#![doc = include_str!("../../../docs/comparison.md")]

mod compare;
mod estimate;
mod gate;
mod items;
mod model;
mod notes;
mod paired;

pub use compare::{Matching, compare};
pub use gate::{Finding, Judged, judge_against};
pub use items::{
    ChangedItems, ItemChange, ItemSide, RegressedItem, ScoreChange, changed_items, most_changed,
};
pub use model::{Comparison, Difference, Quantity, RunIdentity, SampleSize, Test, TypicalRatio, Verdict};
pub use notes::{caveats, too_old};
