//! The requests that wait to be sent, in the order of their arrival, and what they wait for.
//!
//! A request takes all that it needs at once, or nothing. Where a rule is exhausted, later requests do not overtake: the rule is kept for
//! the first that waits for it. A request that waits for one rule does not block another rule.
//!
//! Only the first request of those that wait for the same thing has a time at which it looks again. The others are woken when it
//! starts or gives up.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::bucket::Cost;
use super::rule_state::{Hold, RuleState};
use super::shared::SharingError;
use super::throttle::{Round, Throttle};

/// Requests that wait or are in flight.
#[derive(Debug)]
pub struct WaitingLine {
    rules: Vec<RuleState>,
    throttles: Vec<Throttle>,
    /// The throttle of each provider and model.
    throttle_indices: HashMap<(String, Option<String>), usize>,
    waiters: BTreeMap<Ticket, Waiter>,
    next: Ticket,
    /// Why limits are no longer shared.
    pub problem: Option<SharingError>,
}

/// The number of a request, by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

#[derive(Debug)]
struct Waiter {
    need: Need,
    /// Wakes its task when its turn changes.
    wake: Arc<Notify>,
    turn: Turn,
}

/// What a request needs.
#[derive(Clone, Debug)]
struct Need {
    throttle: usize,
    /// The rules that match, by index.
    rules: Vec<usize>,
    tokens: u64,
}

/// Whether it is the turn of a request.
#[derive(Debug)]
pub enum Turn {
    /// It may be sent.
    Now(Grant),
    /// Not before a time, at which its task is to call [`advance`](WaitingLine::advance), or before it is woken.
    Later(Option<Instant>),
}

/// What a request in flight holds.
#[derive(Debug)]
pub struct Grant {
    throttle: usize,
    round: Round,
    tokens: u64,
    holds: Vec<(usize, Hold)>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// It was answered, and used so many tokens, if known.
    Answered(Option<u64>),
    /// It got a 429, with the wait that the server asks for.
    Throttled(Option<Duration>),
    /// Nothing is known.
    Unknown,
    /// It was never sent.
    Unsent,
}

impl WaitingLine {
    pub fn new(rules: Vec<RuleState>, problem: Option<SharingError>) -> Self {
        Self {
            rules,
            throttles: Vec::new(),
            throttle_indices: HashMap::new(),
            waiters: BTreeMap::new(),
            next: Ticket(0),
            problem,
        }
    }

    /// Adds a request.
    pub fn enter(
        &mut self,
        provider: &str,
        model: Option<&str>,
        tokens: u64,
        wake: Arc<Notify>,
        now: Instant,
    ) -> Ticket {
        let throttle = *self
            .throttle_indices
            .entry((provider.to_owned(), model.map(str::to_owned)))
            .or_insert_with(|| {
                self.throttles.push(Throttle::default());
                self.throttles.len() - 1
            });
        let matches = |index: &usize| self.rules[*index].rule().matches(provider, model);
        let need = Need { throttle, rules: (0..self.rules.len()).filter(matches).collect(), tokens };
        let ticket = self.next;
        self.next = Ticket(ticket.0 + 1);
        self.waiters.insert(ticket, Waiter { need, wake, turn: Turn::Later(None) });
        self.advance(now);
        ticket
    }

    /// Whether it is the turn of a request that waits. If so, it waits no longer.
    pub fn turn(&mut self, ticket: Ticket) -> Turn {
        match &self.waiters[&ticket].turn {
            Turn::Later(at) => Turn::Later(*at),
            Turn::Now(_) => self.waiters.remove(&ticket).expect("it waits").turn,
        }
    }

    /// Removes a request that gives up, if it still waits.
    pub fn leave(&mut self, ticket: Ticket, now: Instant) {
        let Some(waiter) = self.waiters.remove(&ticket) else { return };
        match waiter.turn {
            Turn::Now(grant) => self.end(grant, End::Unsent, now),
            Turn::Later(_) => {
                waiter.need.rules.iter().for_each(|rule| self.rules[*rule].look_again());
                self.advance(now);
            }
        }
    }

    /// Ends a request.
    pub fn end(&mut self, grant: Grant, end: End, now: Instant) {
        let throttle = &mut self.throttles[grant.throttle];
        match end {
            End::Answered(_) => throttle.succeeded(grant.round),
            End::Throttled(retry_after) => throttle.throttled(grant.round, retry_after, now),
            End::Unknown | End::Unsent => {}
        }
        throttle.end();
        let estimate = Cost::request(grant.tokens);
        let unused = match end {
            End::Answered(Some(tokens)) => Cost { requests: 0.0, tokens: estimate.tokens - tokens as f64 },
            // Providers count a request that they refuse, but not its tokens.
            End::Throttled(_) => Cost { requests: 0.0, ..estimate },
            End::Answered(None) | End::Unknown => Cost::default(),
            End::Unsent => estimate,
        };
        for (rule, hold) in grant.holds {
            self.rules[rule].release(hold, unused, &mut self.problem);
        }
        self.advance(now);
    }

    /// Gives a turn to all requests that may be sent now, and wakes their tasks.
    pub fn advance(&mut self, now: Instant) {
        let mut blocked =
            Blocked { throttles: vec![false; self.throttles.len()], rules: vec![false; self.rules.len()] };
        let mut waiters = mem::take(&mut self.waiters);
        for waiter in waiters.values_mut() {
            let Turn::Later(before) = waiter.turn else { continue };
            waiter.turn = self.examine(&waiter.need, &mut blocked, now);
            let is_sooner = match &waiter.turn {
                Turn::Now(_) => true,
                Turn::Later(at) => at.is_some_and(|at| before.is_none_or(|before| at < before)),
            };
            if is_sooner {
                waiter.wake.notify_one();
            }
        }
        self.waiters = waiters;
    }

    /// Lets a request start if nothing that it needs is blocked, and otherwise blocks what it waits for.
    fn examine(&mut self, need: &Need, blocked: &mut Blocked, now: Instant) -> Turn {
        if blocked.throttles[need.throttle] || need.rules.iter().any(|rule| blocked.rules[*rule]) {
            return Turn::Later(None);
        }
        if let Err(throttled) = self.throttles[need.throttle].check(now) {
            blocked.throttles[need.throttle] = true;
            return Turn::Later(throttled.until);
        }
        let cost = Cost::request(need.tokens);
        let mut ready = Vec::with_capacity(need.rules.len());
        // The time at which all exhausted rules may allow it; `None` if one of them needs a request to end first.
        let mut until = Some(now);
        for rule in &need.rules {
            match self.rules[*rule].prepare(cost, now, &mut self.problem) {
                Ok(part) => ready.push((*rule, part)),
                Err(exhausted) => {
                    blocked.rules[*rule] = true;
                    until = until.zip(exhausted.until).map(|(one, other)| one.max(other));
                }
            }
        }
        if ready.len() < need.rules.len() {
            return Turn::Later(until);
        }
        let take = |(rule, part)| {
            let state: &mut RuleState = &mut self.rules[rule];
            (rule, state.take(part, cost, &mut self.problem))
        };
        let holds = ready.into_iter().map(take).collect();
        let round = self.throttles[need.throttle].start();
        Turn::Now(Grant { throttle: need.throttle, round, tokens: need.tokens, holds })
    }
}

/// What an earlier request waits for.
#[derive(Debug)]
struct Blocked {
    throttles: Vec<bool>,
    rules: Vec<bool>,
}
