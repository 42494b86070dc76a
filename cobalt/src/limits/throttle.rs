//! Fewer requests at a time after a 429, for one provider and model.
//!
//! Additive increase, multiplicative decrease, as in TCP congestion control (RFC 5681): a 429 halves the requests at a time; after
//! as many successes as requests are allowed at a time, one more is. Requests that started before a 429 say nothing about the smaller
//! number: their 429s do not reduce it again, and their successes do not raise it.

use std::time::Duration;

use cobalt_core::back_off::BackOff;
use tokio::time::Instant;

/// The longest pause. A server may ask for any; a request that is sent after this asks it again.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The requests of one provider and model.
#[derive(Debug, Default)]
pub struct Throttle {
    in_flight: usize,
    /// Requests at a time; `None` before the first 429.
    limit: Option<usize>,
    /// Successes since the limit changed.
    successes: usize,
    round: Round,
    /// Reductions without a success between them.
    reductions_in_a_row: u32,
    /// The end of the pause.
    paused_until: Option<Instant>,
}

/// Counts how often the limit was reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(u64);

/// No request may start until this time, or until a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    pub until: Option<Instant>,
}

impl Throttle {
    /// Whether a request may start.
    pub fn check(&self, now: Instant) -> Result<(), Throttled> {
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            return Err(Throttled { until: Some(until) });
        }
        match self.limit {
            Some(limit) if self.in_flight >= limit => Err(Throttled { until: None }),
            _ => Ok(()),
        }
    }

    /// Counts a request that starts.
    pub fn start(&mut self) -> Round {
        self.in_flight += 1;
        self.round
    }

    /// Counts the end of a request.
    pub fn end(&mut self) {
        self.in_flight -= 1;
    }

    /// Notes the success of a request that started in this round and is still counted.
    pub fn succeeded(&mut self, round: Round) {
        let Some(limit) = self.limit.filter(|_| round == self.round) else { return };
        self.reductions_in_a_row = 0;
        self.successes += 1;
        if self.successes >= limit {
            self.limit = Some(limit.saturating_add(1));
            self.successes = 0;
        }
    }

    /// Notes a 429 for a request that started in this round and is still counted. Nothing starts before the wait that the server asks
    /// for, or else for a back-off.
    pub fn throttled(&mut self, round: Round, retry_after: Option<Duration>, now: Instant) {
        let is_new = round == self.round;
        if is_new {
            self.limit = Some((self.in_flight / 2).max(1));
            self.successes = 0;
            self.round = Round(round.0 + 1);
        }
        if is_new || retry_after.is_some() {
            let asked = retry_after.map(|wait| wait.min(MAX_PAUSE));
            let paused_until = now + BackOff::default().wait(self.reductions_in_a_row, asked);
            self.paused_until = self.paused_until.max(Some(paused_until));
        }
        self.reductions_in_a_row = self.reductions_in_a_row.saturating_add(u32::from(is_new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn started(count: usize) -> (Throttle, Vec<Round>) {
        let mut throttle = Throttle::default();
        let rounds = (0..count).map(|_| throttle.start()).collect();
        (throttle, rounds)
    }

    /// How many requests may start after all pauses.
    fn free(throttle: &mut Throttle, now: Instant) -> usize {
        let later = now + MAX_PAUSE * 2;
        let mut count = 0;
        while throttle.check(later).is_ok() && count < 1000 {
            throttle.start();
            count += 1;
        }
        throttle.in_flight -= count;
        count
    }

    #[test]
    fn nothing_is_limited_before_a_429() {
        let (mut throttle, _) = started(500);
        assert_eq!(free(&mut throttle, Instant::now()), 1000);
    }

    #[test]
    fn a_429_halves_the_requests_at_a_time_once_for_those_that_started_together() {
        let now = Instant::now();
        let (mut throttle, rounds) = started(64);
        for round in rounds {
            throttle.throttled(round, None, now);
            throttle.end();
        }
        assert_eq!(free(&mut throttle, now), 32);
        let rounds: Vec<_> = (0..32).map(|_| throttle.start()).collect();
        throttle.throttled(rounds[0], None, now);
        assert_eq!(throttle.limit, Some(16));
    }

    #[test]
    fn at_least_one_request_is_allowed() {
        let now = Instant::now();
        let mut throttle = Throttle::default();
        for _ in 0..5 {
            let round = throttle.start();
            throttle.throttled(round, None, now);
            throttle.end();
        }
        assert_eq!(free(&mut throttle, now), 1);
    }

    #[test]
    fn successes_allow_one_more_at_a_time() {
        let now = Instant::now();
        let (mut throttle, rounds) = started(8);
        throttle.throttled(rounds[0], None, now);
        rounds.iter().for_each(|round| {
            throttle.succeeded(*round);
            throttle.end();
        });
        assert_eq!(free(&mut throttle, now), 4, "successes from before the 429 do not count");
        let mut succeed = |count| {
            for _ in 0..count {
                let round = throttle.start();
                throttle.succeeded(round);
                throttle.end();
            }
            free(&mut throttle, now)
        };
        assert_eq!((succeed(3), succeed(1), succeed(4), succeed(1)), (4, 5, 5, 6));
    }

    #[test]
    fn nothing_starts_before_the_time_that_the_server_asks_for() {
        let now = Instant::now();
        let (mut throttle, rounds) = started(4);
        throttle.throttled(rounds[0], Some(SECOND * 10), now);
        throttle.throttled(rounds[1], Some(SECOND * 20), now);
        throttle.throttled(rounds[2], Some(SECOND), now);
        (0..4).for_each(|_| throttle.end());
        let Err(Throttled { until: Some(until) }) = throttle.check(now + SECOND * 19) else {
            panic!("{throttle:?}")
        };
        assert!(until >= now + SECOND * 20 && until < now + SECOND * 21);
        assert_eq!(throttle.check(until), Ok(()));
    }

    #[test]
    fn a_server_that_asks_for_an_hour_is_asked_again_after_a_minute() {
        let now = Instant::now();
        let (mut throttle, rounds) = started(1);
        throttle.throttled(rounds[0], Some(Duration::MAX), now);
        throttle.end();
        assert_eq!(throttle.check(now + MAX_PAUSE + SECOND), Ok(()));
    }

    #[test]
    fn the_pauses_grow_without_a_success() {
        let mut now = Instant::now();
        let mut throttle = Throttle::default();
        let mut pause = |throttle: &mut Throttle| {
            let round = throttle.start();
            throttle.throttled(round, None, now);
            throttle.end();
            let pause = throttle.paused_until.unwrap() - now;
            now += pause;
            pause.as_millis()
        };
        let pauses: Vec<_> = (0..4).map(|_| pause(&mut throttle)).collect();
        assert!(pauses[0] <= 500 && pauses[3] >= 2000, "{pauses:?}");
        let round = throttle.start();
        throttle.succeeded(round);
        throttle.end();
        assert!(pause(&mut throttle) <= 500);
    }
}
