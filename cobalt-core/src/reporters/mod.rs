//! The events of a run, and the text that reports them.

mod difference;
mod event;
mod explain;
mod missing_key;
mod summary;
mod text;

pub use crate::wording::printable;
pub use difference::{DifferenceFigures, explained};
pub use event::{
    Event, ExperimentFinished, ExperimentStarted, FailedItem, ItemFinished, Listed, LowItem, PROTOCOL,
    Repeated, RunFinished, Stream, Warning,
};
pub use explain::{expected_field, explain, fetched};
pub use missing_key::MissingKey;
pub use summary::{SCORE_COLUMNS, at_pass_marks, grounds, score_figures, summary, times};
pub use text::{Paint, agent_usage, figure, judge_usage, rounded, time, unpriced};
