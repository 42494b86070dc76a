//! Better or worse? Two runs of an experiment, compared item by item.
//!
//! The page `comparison` of `cobalt` says how the figures are worked out, and how often they hold.

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
