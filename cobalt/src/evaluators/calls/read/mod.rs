//! Reads the calls of tools from JSON: what a list may hold, and which answer belongs to which call.

mod entries;
mod harmless;
mod message;
mod reader;
mod vendors;

pub(super) use harmless::may_hold_call;
pub use reader::Reader;
