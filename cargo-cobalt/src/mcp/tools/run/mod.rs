//! `cobalt_run`: the call, the command that it starts, and the answer.

mod answer;
mod call;
mod child;
mod conclusion;
mod progress;

pub(super) use self::call::{NAME, call, description};
pub(super) use self::progress::Progress;
