//! Items from recorded traces: `cargo cobalt dataset add --from-otlp`.

mod add;
mod file;
mod item;

pub use add::add_traces;
use item::RecordedTrace;
