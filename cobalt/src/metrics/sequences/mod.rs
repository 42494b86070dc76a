//! What two sequences of letters or of words have in common, 64 cells of a table at a time.
//!
//! A sequence is a list of [`Numbers`]: equal parts have the same number, counted from 0.

mod alignment;
mod columns;
mod edit_distance;
mod numbers;
mod places;
mod subsequence;

pub(super) use alignment::{Edit, align};
pub(super) use edit_distance::edit_distance;
pub(super) use numbers::Numbers;
pub(super) use subsequence::{Subsequences, common_length};
