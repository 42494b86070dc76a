//! What may stand as the computed bound of a threshold in the attribute.

use std::time::Duration;

/// A number: the bound of a score, of tokens, of a cost.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the bound of this threshold must be a number, not `{Self}`",
    label = "not a number"
)]
pub trait NumberBound {
    /// The bound as a floating-point number.
    fn number_bound(self) -> f64;
}

/// A duration, or a number of milliseconds: the bound of a latency.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the bound of a latency must be a `Duration` or a number of milliseconds, not `{Self}`",
    label = "neither a duration nor a number"
)]
pub trait LatencyBound {
    /// The bound in milliseconds.
    fn latency_bound(self) -> f64;
}

impl LatencyBound for Duration {
    fn latency_bound(self) -> f64 {
        self.as_secs_f64() * 1000.0
    }
}

macro_rules! numbers_are_bounds {
    ($($number:ty)*) => {$(
        impl NumberBound for $number {
            fn number_bound(self) -> f64 {
                self as f64
            }
        }

        impl LatencyBound for $number {
            fn latency_bound(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numbers_are_bounds! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }
