//! What a run tells while it goes on, and the text that people read of it.
#![doc = include_str!("../../docs/events.md")]

mod baseline;
mod cost;
mod difference;
mod event;
mod explain;
mod fetched;
mod missing_key;
mod paint;
mod repeated;
mod stream;
mod summary;

pub use crate::wording::printable;
pub use cost::{agent_usage, judge_usage, unpriced};
pub use difference::{DifferenceFigures, explained};
pub use event::{
    Event, ExperimentFinished, ExperimentStarted, FailedItem, ItemFinished, Listed, LowItem, PROTOCOL,
    RunFinished, Warning,
};
pub use explain::{expected_field, explain, rounded};
pub use fetched::fetched;
pub use missing_key::MissingKey;
pub use paint::Paint;
pub(crate) use repeated::Repeated;
pub(crate) use stream::Stream;
pub use summary::{SCORE_COLUMNS, at_pass_marks, figure, grounds, score_figures, summary, time, times};
