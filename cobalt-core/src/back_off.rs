//! Exponential back-off for retries.

use std::time::Duration;

/// Exponential back-off with jitter: the wait doubles with each attempt.
#[derive(Clone, Copy, Debug)]
pub struct BackOff {
    /// The first wait; half of it is random.
    pub first: Duration,
    /// The maximum wait.
    pub max: Duration,
}

impl Default for BackOff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), max: Duration::from_secs(8) }
    }
}

impl BackOff {
    /// The wait before a retry, numbered from 0: what the server asks for, or else the back-off. A random part spreads out the
    /// retries of requests that failed together.
    #[must_use]
    pub fn wait(self, attempt: u32, asked: Option<Duration>) -> Duration {
        match asked {
            // A server may ask for any duration.
            Some(asked) => asked.saturating_add(self.first.mul_f64(fastrand::f64() / 2.0)),
            None => {
                let whole = self.first.saturating_mul(2_u32.saturating_pow(attempt)).min(self.max);
                whole.mul_f64(0.5 + fastrand::f64() / 2.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_is_asked_for_is_never_shorter_and_hardly_longer() {
        let wait = BackOff::default().wait(3, Some(Duration::from_secs(2)));
        assert!(wait >= Duration::from_secs(2) && wait <= Duration::from_millis(2_250), "{wait:?}");
        assert_eq!(BackOff::default().wait(0, Some(Duration::MAX)), Duration::MAX);
    }

    #[test]
    fn the_waits_double_up_to_the_most() {
        let back_off = BackOff::default();
        for (attempt, most) in [(0, 500), (1, 1000), (2, 2000), (4, 8000), (5, 8000), (99, 8000)] {
            let wait = back_off.wait(attempt, None);
            assert!(
                wait <= Duration::from_millis(most) && wait >= Duration::from_millis(most / 2),
                "{attempt}"
            );
        }
    }
}
