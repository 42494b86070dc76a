//! The reserved cost of requests in flight.

use crate::log;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::ledger::Totals;
use super::quote::Quote;
use super::spending::{Budget, Decision, Refused};

/// How often the ledger is read while a request waits for other processes.
const POLL: Duration = Duration::from_millis(100);
/// How long a request waits while nothing changes: other processes may have ended, or the agent waits for this request.
const STALE: Duration = Duration::from_secs(300);
/// Amounts below are rounding errors of sums, in USD.
const MIN_AMOUNT: f64 = 1e-9;

/// An amount that is set aside for a request. If it is dropped after the request was sent, the whole amount is charged, as it may have
/// been paid.
#[derive(Debug, Default)]
pub struct Reservation(Option<Reserved>);

#[derive(Debug)]
struct Reserved {
    budget: Arc<Budget>,
    quote: Quote,
    /// In USD.
    amount: f64,
    /// Whether it is the first request to its model.
    is_probe: bool,
    is_sent: bool,
}

impl Reservation {
    /// Notes that its request is sent, so that it may have to be paid from now on.
    pub fn note_sent(&mut self) {
        if let Some(reserved) = &mut self.0 {
            reserved.is_sent = true;
        }
    }

    /// Charges the cost of the response, in USD; the reserved amount if it is unknown. Returns the charge.
    pub fn settle(mut self, usd: Option<f64>) -> f64 {
        match self.0.take() {
            Some(reserved) => {
                let charge = usd.unwrap_or(reserved.amount);
                // An error costs nothing, and says nothing of the next request.
                let is_typical = if reserved.quote.is_free { charge > 0.0 } else { usd != Some(0.0) };
                reserved.charge(charge, is_typical);
                charge
            }
            None => usd.unwrap_or(0.0),
        }
    }

    /// Whether it belongs to a budget.
    #[cfg(feature = "judge")]
    pub fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Gives the amount back: the request was not sent, or not answered.
    pub fn release(self) {
        self.settle(Some(0.0));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(reserved) = self.0.take() {
            let charge = if reserved.is_sent { reserved.amount } else { 0.0 };
            // Without a response, nothing is known of the next request.
            reserved.charge(charge, false);
        }
    }
}

impl Reserved {
    /// `is_typical`: whether further requests to the model may cost as much.
    fn charge(self, charge: f64, is_typical: bool) {
        let Self { budget, quote, amount, is_probe, .. } = self;
        let mut state = budget.lock();
        state.in_flight -= 1;
        if is_probe {
            state.probed.remove(&quote.provider);
        }
        if is_typical {
            let highest = state.highest.entry((quote.provider, quote.model)).or_default();
            *highest = highest.max(charge);
        }
        budget.change(&mut state, charge, |totals| {
            totals.spent += charge;
            totals.reserved = (totals.reserved - amount).max(0.0);
            if is_typical {
                totals.highest = totals.highest.max(charge);
            }
            if is_probe {
                totals.probes = totals.probes.saturating_sub(1);
            }
        });
        drop(state);
        budget.changed.notify_waiters();
    }
}

impl Budget {
    /// Reserves the estimated cost of a request; waits while it may not fit.
    pub async fn reserve(self: &Arc<Self>, quote: Quote) -> Result<Reservation, String> {
        if quote.is_free {
            let mut state = self.lock();
            // A proxy on this machine may have answered with a model that has a price.
            if state.highest_charge(&quote).is_none() {
                state.in_flight += 1;
                drop(state);
                return Ok(self.reserved(quote, 0.0, false));
            }
        }
        let mut waits = Waits::default();
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before the decision, so that no change is missed.
            changed.as_mut().enable();
            let (decision, is_probe, totals) = self.try_reserve(&quote, waits.stale());
            match decision {
                Decision::Start(amount) => return Ok(self.reserved(quote, amount, is_probe)),
                Decision::Refuse => {
                    log::warn!(
                        provider = quote.provider,
                        spent = totals.spent,
                        budget = self.max,
                        "refuses a request that the budget does not cover"
                    );
                    self.refusals.fetch_add(1, Ordering::SeqCst);
                    return Err(self.refusal().unwrap_or_else(|| self.message(&self.lock())));
                }
                Decision::Wait => {
                    log::trace!(
                        provider = quote.provider,
                        spent = totals.spent,
                        reserved = totals.reserved,
                        "waits for the cost of earlier requests"
                    );
                    waits.note(totals);
                    // Other processes do not notify.
                    let _ = tokio::time::timeout(POLL, changed).await;
                }
            }
        }
    }

    fn reserved(self: &Arc<Self>, quote: Quote, amount: f64, is_probe: bool) -> Reservation {
        let budget = Arc::clone(self);
        Reservation(Some(Reserved { budget, quote, amount, is_probe, is_sent: false }))
    }

    /// Reserves the amount of a request if it may start. Also returns whether it is a probe. `stale`: the totals that have not changed
    /// for long.
    pub fn try_reserve(&self, quote: &Quote, stale: Option<Totals>) -> (Decision, bool, Totals) {
        let mut state = self.lock();
        let request = WaitingRequest {
            estimate: quote.estimate,
            highest: state.highest_charge(quote),
            is_probed: state.probed.contains(&quote.provider),
            own_probes: state.probed.len(),
            in_flight: state.in_flight,
            stale,
        };
        let is_probe = request.highest.is_none();
        let decision = self.change(&mut state, 0.0, |totals| {
            let decision = self.decide_request(&request, *totals);
            if let Decision::Start(amount) = decision {
                totals.reserved += amount;
                totals.probes += u32::from(is_probe);
            }
            decision
        });
        match decision {
            Decision::Start(_) => {
                state.in_flight += 1;
                if is_probe {
                    state.probed.insert(quote.provider.clone());
                }
            }
            Decision::Refuse => {
                let estimate = request.highest.unwrap_or(quote.estimate);
                state.refused.get_or_insert(Refused { what: "request", estimate });
            }
            Decision::Wait => {}
        }
        (decision, is_probe, state.totals)
    }

    fn decide_request(&self, request: &WaitingRequest, totals: Totals) -> Decision {
        let WaitingRequest { estimate, highest, is_probed, own_probes, in_flight, stale } = *request;
        // Another request that has waited as long may just have started.
        let is_stale = stale == Some(totals);
        // As long as nothing is known of a model, it may cost as much as another.
        let estimate = estimate.max(highest.unwrap_or(totals.highest));
        if totals.spent >= self.max {
            return Decision::Refuse;
        }
        let is_probed_elsewhere = totals.probes as usize > own_probes && totals.highest == 0.0;
        if highest.is_none() && (is_probed || is_probed_elsewhere) && !is_stale {
            return Decision::Wait;
        }
        if self.fits(totals.spent + totals.reserved + estimate) {
            return Decision::Start(estimate);
        }
        let others = in_flight > 0 || totals.reserved > MIN_AMOUNT;
        if others && !is_stale {
            return Decision::Wait;
        }
        // The estimate is the most that it may cost; it probably costs as much as those before it.
        let expected = if others { estimate } else { highest.unwrap_or(0.0) };
        if self.fits(totals.spent + totals.reserved + expected) {
            Decision::Start(estimate)
        } else {
            Decision::Refuse
        }
    }
}

/// What a decision about a request depends on, apart from the totals.
struct WaitingRequest {
    /// In USD.
    estimate: f64,
    /// The highest charge for a request to its model, in USD.
    highest: Option<f64>,
    /// Whether the first request to another model of its provider is in flight.
    is_probed: bool,
    /// The first requests to models that this process has in flight.
    own_probes: usize,
    /// The requests of this process in flight.
    in_flight: usize,
    /// The totals that have not changed for long.
    stale: Option<Totals>,
}

/// How long a request has waited without a change.
#[derive(Debug, Default)]
struct Waits(Option<(Totals, Instant)>);

impl Waits {
    fn note(&mut self, totals: Totals) {
        if self.0.is_none_or(|(before, _)| before != totals) {
            self.0 = Some((totals, Instant::now()));
        }
    }

    /// The totals that have not changed for long.
    fn stale(&self) -> Option<Totals> {
        self.0.filter(|(_, since)| since.elapsed() > STALE).map(|(totals, _)| totals)
    }
}
