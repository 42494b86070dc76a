//! Reads tool calls and their results from JSON, in many formats.

mod entries;
mod harmless;
mod message;
mod reader;
mod vendors;

pub(super) use harmless::may_hold_call;
pub use reader::Reader;
