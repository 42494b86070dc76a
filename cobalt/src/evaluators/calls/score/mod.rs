//! The score of each check, with its reason and the figures that it is made of.

mod alone;
mod expected;

pub(super) use alone::{at_most, called, not_called, repeats_at_most, succeeded};
pub(super) use expected::expected;

/// A share of a whole, of which there is some.
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
