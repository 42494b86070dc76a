//! A rule with its state in this process: what is in use, and what is left.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::bucket::{Cost, Levels, Rates};
use super::clock::Clock;
use super::rule::LimitRule;
use super::shared::{Prepared, Readiness, SharedRule, SharingError, Slot};

/// A rule and what its requests use.
#[derive(Debug)]
pub struct RuleState {
    rule: LimitRule,
    rates: Rates,
    in_flight: usize,
    clock: Clock,
    store: Store,
}

/// Where the state is.
#[derive(Debug)]
enum Store {
    /// In this process.
    Local(Levels),
    /// In files, which are not read again before a time.
    Shared { files: SharedRule, retry_at: Option<Instant> },
}

/// What a request needs of the rule, ready to be taken; `None` if no other process is involved.
#[derive(Debug)]
pub struct Ready(Option<Prepared>);

/// The rule allows no request now: until a time, or until a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    pub until: Option<Instant>,
}

/// What a request in flight holds of a rule.
#[derive(Debug)]
pub struct Hold(Option<Slot>);

impl RuleState {
    /// A rule, and why it is not shared if it should be. `clock` is for files; without it, the system's time.
    pub fn new(rule: LimitRule, folder: Option<&Path>, clock: Option<Clock>) -> (Self, Option<SharingError>) {
        let rates = Rates::per_minute(rule.requests_per_minute, rule.tokens_per_minute);
        let local = Clock::Since(Instant::now());
        let mut state =
            Self { rule, rates, in_flight: 0, clock: local, store: Store::Local(rates.full(local.now())) };
        let open = |folder| {
            SharedRule::open(folder, state.rule.file_name(), rates, state.rule.concurrent_requests)
                .map_err(|source| SharingError { folder: folder.to_owned(), source })
        };
        match folder.map(open).transpose() {
            Ok(None) => (state, None),
            Ok(Some(files)) => {
                state.clock = clock.unwrap_or(Clock::System);
                state.store = Store::Shared { files, retry_at: None };
                (state, None)
            }
            Err(error) => (state, Some(error)),
        }
    }

    /// The rule.
    pub fn rule(&self) -> &LimitRule {
        &self.rule
    }

    /// Whether a request of this cost may start. If the files fail, the rule is no longer shared, and `problem` says why.
    pub fn prepare(
        &mut self,
        cost: Cost,
        now: Instant,
        problem: &mut Option<SharingError>,
    ) -> Result<Ready, Exhausted> {
        if self.rule.concurrent_requests.is_some_and(|most| self.in_flight >= most) {
            return Err(Exhausted { until: None });
        }
        let time = self.clock.now();
        let wait = match &mut self.store {
            Store::Local(levels) => {
                self.rates.refill(levels, time);
                match self.rates.wait(levels, cost) {
                    Duration::ZERO => return Ok(Ready(None)),
                    wait => wait,
                }
            }
            Store::Shared { retry_at: Some(at), .. } if *at > now => {
                return Err(Exhausted { until: Some(*at) });
            }
            Store::Shared { files, retry_at } => match files.prepare(cost, time) {
                Ok(Readiness::Ready(prepared)) => return Ok(Ready(Some(prepared))),
                Ok(Readiness::Wait(wait)) => {
                    *retry_at = Some(now + wait);
                    wait
                }
                Err(source) => {
                    *problem = self.stop_sharing(source);
                    return self.prepare(cost, now, problem);
                }
            },
        };
        Err(Exhausted { until: Some(now + wait) })
    }

    /// Counts a request that starts.
    pub fn take(&mut self, ready: Ready, cost: Cost, problem: &mut Option<SharingError>) -> Hold {
        self.in_flight += 1;
        match (&mut self.store, ready.0) {
            (Store::Local(levels), _) => {
                levels.take(cost);
                Hold(None)
            }
            (Store::Shared { .. }, None) => Hold(None),
            (Store::Shared { files, .. }, Some(prepared)) => match files.take(prepared, cost) {
                Ok(slot) => Hold(slot),
                Err(source) => {
                    *problem = self.stop_sharing(source);
                    Hold(None)
                }
            },
        }
    }

    /// Counts the end of a request, and gives back what it did not use; what it used beyond its cost is negative.
    pub fn release(&mut self, hold: Hold, unused: Cost, problem: &mut Option<SharingError>) {
        self.in_flight -= 1;
        self.look_again();
        let time = self.clock.now();
        match &mut self.store {
            Store::Local(levels) => levels.give_back(unused),
            Store::Shared { files, .. } => {
                if let Err(source) = files.release(hold.0, unused, time) {
                    *problem = self.stop_sharing(source);
                }
            }
        }
    }

    /// Reads the files the next time: another request may need less, or something was given back.
    pub fn look_again(&mut self) {
        if let Store::Shared { retry_at, .. } = &mut self.store {
            *retry_at = None;
        }
    }

    /// Keeps the state in this process alone from now on, with full buckets.
    fn stop_sharing(&mut self, source: std::io::Error) -> Option<SharingError> {
        let Store::Shared { files, .. } = &self.store else { return None };
        let error = SharingError { folder: files.folder().to_owned(), source };
        self.clock = Clock::Since(Instant::now());
        self.store = Store::Local(self.rates.full(self.clock.now()));
        Some(error)
    }
}
