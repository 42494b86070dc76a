//! `cobalt_run`: the call, the command that it starts, and the result.

mod answer;
mod call;
mod child;
mod conclusion;

pub use call::{NAME, call, description};
pub use child::Progress;
