//! Durations in files.

use std::time::Duration;

/// A duration in milliseconds, rounded down to microseconds: more digits would only make files larger.
#[must_use]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_digits_of_microseconds() {
        assert_eq!(milliseconds(Duration::from_nanos(1_234_567)), 1.234);
    }
}
