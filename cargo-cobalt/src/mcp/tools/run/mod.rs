//! `cobalt_run`: the call, the command that it starts, and the result.

mod call;
mod conclusion;
mod execution;
mod result;

pub use call::{NAME, call, description};
pub use execution::Progress;
