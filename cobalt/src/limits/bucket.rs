//! Token buckets for requests and tokens a minute.
//!
//! A bucket holds a burst of one second's worth, at least one unit, and is refilled steadily, such that a full bucket and the refill of
//! any 60 seconds are together the limit of a minute: a limit of 600 allows 10 requests at once, then one each 102 ms. A request that
//! costs more tokens than the burst starts when the bucket is full. The bucket is then in debt, and the next request waits until the
//! debt is paid.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest wait before a bucket is looked at again.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Levels are equal up to this difference: it is the error of floating-point numbers.
const TOLERANCE: f64 = 1e-9;

/// A limit of units a minute.
#[derive(Clone, Copy, Debug)]
struct Rate {
    burst: f64,
    per_second: f64,
}

impl Rate {
    fn per_minute(units: u64) -> Self {
        let units = units as f64;
        let burst = (units / 60.0).max(1.0);
        // Less than a minute after a burst, less than one unit more than the limit is there, and so no whole one.
        Self { burst, per_second: (units + 1.0 - burst) / 60.0 }
    }

    fn refilled(self, level: f64, elapsed: Duration) -> f64 {
        (level + self.per_second * elapsed.as_secs_f64()).min(self.burst)
    }

    /// The wait until a level allows this cost.
    fn wait(self, level: f64, cost: f64) -> Duration {
        let missing = cost.min(self.burst) - level;
        if missing <= TOLERANCE {
            return Duration::ZERO;
        }
        let wait = Duration::try_from_secs_f64(missing / self.per_second).unwrap_or(MAX_WAIT);
        // The conversion may have rounded it down.
        wait.saturating_add(Duration::from_nanos(1)).min(MAX_WAIT)
    }
}

/// The limits of a minute, of which each may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    requests: Option<Rate>,
    tokens: Option<Rate>,
}

/// How full the buckets are, and when this was so, in the time of a [`Clock`](super::clock::Clock). A negative level is a debt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Levels {
    requests: f64,
    tokens: f64,
    at: Duration,
}

/// What is taken from the buckets or given back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub requests: f64,
    pub tokens: f64,
}

impl Cost {
    /// One request.
    pub fn request(tokens: u64) -> Self {
        Self { requests: 1.0, tokens: tokens as f64 }
    }
}

impl Rates {
    pub fn per_minute(requests: Option<u64>, tokens: Option<u64>) -> Self {
        Self { requests: requests.map(Rate::per_minute), tokens: tokens.map(Rate::per_minute) }
    }

    /// Whether there is no limit of a minute.
    pub fn is_empty(self) -> bool {
        self.requests.is_none() && self.tokens.is_none()
    }

    /// Full buckets.
    pub fn full(self, now: Duration) -> Levels {
        let burst = |rate: Option<Rate>| rate.map_or(0.0, |rate| rate.burst);
        Levels { requests: burst(self.requests), tokens: burst(self.tokens), at: now }
    }

    /// Refills the buckets. A clock that was set back counts from the new time.
    pub fn refill(self, levels: &mut Levels, now: Duration) {
        let elapsed = now.saturating_sub(levels.at);
        let refilled =
            |rate: Option<Rate>, level| rate.map_or(0.0, |rate: Rate| rate.refilled(level, elapsed));
        levels.requests = refilled(self.requests, levels.requests);
        levels.tokens = refilled(self.tokens, levels.tokens);
        levels.at = now;
    }

    /// The wait until refilled buckets allow a cost; zero if they do. At most a minute: look again then.
    pub fn wait(self, levels: &Levels, cost: Cost) -> Duration {
        let wait =
            |rate: Option<Rate>, level, cost| rate.map_or(Duration::ZERO, |rate| rate.wait(level, cost));
        wait(self.requests, levels.requests, cost.requests).max(wait(self.tokens, levels.tokens, cost.tokens))
    }
}

impl Levels {
    pub fn take(&mut self, cost: Cost) {
        self.requests -= cost.requests;
        self.tokens -= cost.tokens;
    }

    /// Gives back what was taken and not used; what was used beyond it is negative. What no longer fits is lost when the buckets are
    /// refilled.
    pub fn give_back(&mut self, cost: Cost) {
        self.requests += cost.requests;
        self.tokens += cost.tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When requests of these costs start that all want to start at once.
    fn starts(rates: Rates, costs: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        let (mut now, mut levels) = (Duration::ZERO, rates.full(Duration::ZERO));
        let start = |tokens| {
            loop {
                rates.refill(&mut levels, now);
                match rates.wait(&levels, Cost::request(tokens)) {
                    Duration::ZERO => break,
                    wait => now += wait,
                }
            }
            levels.take(Cost::request(tokens));
            now
        };
        costs.into_iter().map(start).collect()
    }

    #[test]
    fn no_minute_has_more_requests_than_its_limit() {
        for limit in [1_u64, 2, 7, 59, 60, 61, 90, 600, 1000] {
            let count = usize::try_from(limit).unwrap();
            let starts = starts(Rates::per_minute(Some(limit), None), (0..limit * 3).map(|_| 0));
            for (first, next) in starts.iter().zip(&starts[count..]) {
                let minute = *next - *first;
                assert!(minute >= Duration::from_nanos(59_999_999_000), "{limit}: {minute:?}");
            }
            // It uses nearly all of the limit.
            let whole = starts.last().unwrap().as_secs_f64();
            assert!(whole <= 182.0, "{limit}: {whole} s for three minutes");
        }
    }

    #[test]
    fn a_burst_is_one_second_of_requests() {
        let starts = starts(Rates::per_minute(Some(600), None), [0; 12]);
        assert_eq!(starts.iter().filter(|start| start.is_zero()).count(), 10);
        assert_eq!(starts[10].as_millis(), 101);
    }

    #[test]
    fn a_large_request_starts_at_once_and_the_next_one_waits_for_its_tokens() {
        let starts = starts(Rates::per_minute(None, Some(6000)), [3100, 100, 100]);
        assert_eq!(starts[0], Duration::ZERO);
        // A debt of 3,000 tokens, and the 100 of its own, at 98.35 tokens a second.
        assert_eq!(starts[1].as_secs(), 31);
        assert_eq!(starts[2].as_secs(), 32);
    }

    #[test]
    fn both_limits_apply() {
        let starts = starts(Rates::per_minute(Some(60), Some(600)), [10, 1, 10, 30, 1]);
        let seconds: Vec<_> = starts.iter().map(|start| start.as_secs_f64().round()).collect();
        assert_eq!(seconds, [0.0, 1.0, 2.0, 3.0, 5.0]);
    }

    #[test]
    fn corrections_count_at_once_and_no_bucket_overflows() {
        let rates = Rates::per_minute(None, Some(600));
        let mut levels = rates.full(Duration::ZERO);
        levels.take(Cost::request(1000));
        assert!(rates.wait(&levels, Cost::request(1)) > Duration::from_secs(50));
        levels.give_back(Cost { requests: 0.0, tokens: 2000.0 });
        rates.refill(&mut levels, Duration::from_secs(1));
        assert_eq!((levels.tokens, rates.wait(&levels, Cost::request(1))), (10.0, Duration::ZERO));
        levels.give_back(Cost { requests: 0.0, tokens: -20.0 });
        assert!(!rates.wait(&levels, Cost::request(1)).is_zero());
    }

    #[test]
    fn a_clock_that_is_set_back_neither_fills_nor_blocks_a_bucket() {
        let rates = Rates::per_minute(Some(60), None);
        let mut levels = rates.full(Duration::from_secs(1000));
        levels.take(Cost::request(0));
        rates.refill(&mut levels, Duration::from_secs(10));
        assert_eq!(levels.requests, 0.0);
        rates.refill(&mut levels, Duration::from_secs(11));
        assert_eq!(levels.requests, 1.0);
    }

    #[test]
    fn a_huge_cost_is_no_overflow() {
        let rates = Rates::per_minute(None, Some(1));
        let mut levels = rates.full(Duration::ZERO);
        levels.take(Cost::request(u64::MAX));
        assert_eq!(rates.wait(&levels, Cost::request(u64::MAX)), MAX_WAIT);
    }
}
