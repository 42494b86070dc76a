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
pub struct Gate {
    in_flight: usize,
    /// Requests at a time; `None` before the first 429.
    limit: Option<usize>,
    /// Successes since the limit changed.
    successes: usize,
    round: Round,
    /// Reductions without a success between them.
    reductions_in_a_row: u32,
    /// The end of the pause.
    opens_at: Option<Instant>,
}

/// Counts how often the limit was reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(u64);

/// A gate is closed until this time, or until a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    pub until: Option<Instant>,
}

impl Gate {
    /// Whether a request may start.
    pub fn check(&self, now: Instant) -> Result<(), Closed> {
        if let Some(until) = self.opens_at.filter(|until| *until > now) {
            return Err(Closed { until: Some(until) });
        }
        match self.limit {
            Some(limit) if self.in_flight >= limit => Err(Closed { until: None }),
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
            let opens_at = now + BackOff::default().wait(self.reductions_in_a_row, asked);
            self.opens_at = self.opens_at.max(Some(opens_at));
        }
        self.reductions_in_a_row = self.reductions_in_a_row.saturating_add(u32::from(is_new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn started(count: usize) -> (Gate, Vec<Round>) {
        let mut gate = Gate::default();
        let rounds = (0..count).map(|_| gate.start()).collect();
        (gate, rounds)
    }

    /// How many requests may start after all pauses.
    fn free(gate: &mut Gate, now: Instant) -> usize {
        let later = now + MAX_PAUSE * 2;
        let mut count = 0;
        while gate.check(later).is_ok() && count < 1000 {
            gate.start();
            count += 1;
        }
        gate.in_flight -= count;
        count
    }

    #[test]
    fn nothing_is_limited_before_a_429() {
        let (mut gate, _) = started(500);
        assert_eq!(free(&mut gate, Instant::now()), 1000);
    }

    #[test]
    fn a_429_halves_the_requests_at_a_time_once_for_those_that_started_together() {
        let now = Instant::now();
        let (mut gate, rounds) = started(64);
        for round in rounds {
            gate.throttled(round, None, now);
            gate.end();
        }
        assert_eq!(free(&mut gate, now), 32);
        let rounds: Vec<_> = (0..32).map(|_| gate.start()).collect();
        gate.throttled(rounds[0], None, now);
        assert_eq!(gate.limit, Some(16));
    }

    #[test]
    fn at_least_one_request_is_allowed() {
        let now = Instant::now();
        let mut gate = Gate::default();
        for _ in 0..5 {
            let round = gate.start();
            gate.throttled(round, None, now);
            gate.end();
        }
        assert_eq!(free(&mut gate, now), 1);
    }

    #[test]
    fn successes_allow_one_more_at_a_time() {
        let now = Instant::now();
        let (mut gate, rounds) = started(8);
        gate.throttled(rounds[0], None, now);
        rounds.iter().for_each(|round| {
            gate.succeeded(*round);
            gate.end();
        });
        assert_eq!(free(&mut gate, now), 4, "successes from before the 429 do not count");
        let mut succeed = |count| {
            for _ in 0..count {
                let round = gate.start();
                gate.succeeded(round);
                gate.end();
            }
            free(&mut gate, now)
        };
        assert_eq!((succeed(3), succeed(1), succeed(4), succeed(1)), (4, 5, 5, 6));
    }

    #[test]
    fn nothing_starts_before_the_time_that_the_server_asks_for() {
        let now = Instant::now();
        let (mut gate, rounds) = started(4);
        gate.throttled(rounds[0], Some(SECOND * 10), now);
        gate.throttled(rounds[1], Some(SECOND * 20), now);
        gate.throttled(rounds[2], Some(SECOND), now);
        (0..4).for_each(|_| gate.end());
        let Err(Closed { until: Some(until) }) = gate.check(now + SECOND * 19) else { panic!("{gate:?}") };
        assert!(until >= now + SECOND * 20 && until < now + SECOND * 21);
        assert_eq!(gate.check(until), Ok(()));
    }

    #[test]
    fn a_server_that_asks_for_an_hour_is_asked_again_after_a_minute() {
        let now = Instant::now();
        let (mut gate, rounds) = started(1);
        gate.throttled(rounds[0], Some(Duration::MAX), now);
        gate.end();
        assert_eq!(gate.check(now + MAX_PAUSE + SECOND), Ok(()));
    }

    #[test]
    fn the_pauses_grow_without_a_success() {
        let mut now = Instant::now();
        let mut gate = Gate::default();
        let mut pause = |gate: &mut Gate| {
            let round = gate.start();
            gate.throttled(round, None, now);
            gate.end();
            let pause = gate.opens_at.unwrap() - now;
            now += pause;
            pause.as_millis()
        };
        let pauses: Vec<_> = (0..4).map(|_| pause(&mut gate)).collect();
        assert!(pauses[0] <= 500 && pauses[3] >= 2000, "{pauses:?}");
        let round = gate.start();
        gate.succeeded(round);
        gate.end();
        assert!(pause(&mut gate) <= 500);
    }
}
