//! Durations in files and in texts.

use std::time::Duration;

/// A duration in milliseconds, rounded down to microseconds: more digits would only make files larger.
#[must_use]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// A duration in a suitable unit, from milliseconds.
#[must_use]
pub fn format_duration(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    if milliseconds < 1.0 {
        format!("{:.0} µs", milliseconds * 1000.0)
    } else if milliseconds < 1000.0 {
        format!("{milliseconds:.0} ms")
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        let seconds = seconds.round() as u64;
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_digits_of_microseconds() {
        assert_eq!(milliseconds(Duration::from_nanos(1_234_567)), 1.234);
    }

    #[test]
    fn times_are_shown_in_the_unit_that_suits_them() {
        assert_eq!(
            [0.0123, 12.3, 1234.0, 125_000.0].map(format_duration),
            ["12 µs", "12 ms", "1.2 s", "2 min 5 s"]
        );
    }
}
