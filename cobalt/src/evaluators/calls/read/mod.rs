//! Reads tool calls and their results from JSON, in many formats.

mod entries;
mod message;
mod non_calls;
mod reader;
mod vendors;

pub(super) use non_calls::may_hold_call;
pub use reader::Reader;
