#![doc = include_str!("../../../docs/comparison.md")]

mod age;
mod compare;
mod estimate;
mod excess;
mod gate;
mod items;
mod log_ratio;
mod matching;
mod model;
mod notes;
mod paired;
mod paired_item;
mod regressed;
mod verdict;

pub use age::too_old;
pub use compare::compare;
pub use gate::{Finding, Judged, judge_against};
pub use items::{ChangedItems, ItemChange, ItemSide, ScoreChange, changed_items, most_changed};
pub use matching::Matching;
pub use model::{Comparison, Difference, Quantity, RunIdentity, SampleSize, Test, TypicalRatio, Verdict};
pub use notes::caveats;
pub use regressed::RegressedItem;
