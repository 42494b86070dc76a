//! The limits of a process.

use crate::log;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::clock::Clock;
use super::permit::{Permit, SharedLine};
use super::rule::LimitRule;
use super::rule_state::RuleState;
use super::shared::SharingError;
use super::waiting_line::{Ticket, Turn, WaitingLine};

/// How often a request is retried, unless a rule says otherwise.
const DEFAULT_RETRIES: u32 = 4;

/// The limits of a process, for all of its requests to models. All rules that match a request apply together.
#[derive(Debug)]
pub struct Limits {
    line: SharedLine,
    rules: Vec<LimitRule>,
}

impl Limits {
    /// The limits of these rules, each of them for all requests that match it, taken together. `shared_dir` is a folder for state that
    /// processes share; it is created.
    pub fn new(rules: Vec<LimitRule>, shared_dir: Option<PathBuf>) -> Self {
        Self::with_clock(rules, shared_dir, None)
    }

    /// Limits whose files have the time of this clock; without it, the system's time.
    pub fn with_clock(rules: Vec<LimitRule>, shared_dir: Option<PathBuf>, clock: Option<Clock>) -> Self {
        let (mut states, mut problem) = (Vec::<RuleState>::new(), None);
        for rule in rules.iter().filter(|rule| rule.has_limit()) {
            // A rule that is written twice has the same files, and applies once.
            if states.iter().any(|state| state.rule().file_name() == rule.file_name()) {
                continue;
            }
            let (state, error) = RuleState::new(rule.clone(), shared_dir.as_deref(), clock);
            states.push(state);
            problem = problem.or(error);
        }
        Self { line: SharedLine::new(WaitingLine::new(states, problem)), rules }
    }

    /// Waits until a request may be sent. `estimated_tokens` are its tokens, as estimated from its size; the permit corrects them.
    ///
    /// Requests that wait for the same limit are served in the order of their arrival.
    pub async fn acquire(&self, provider: &str, model: Option<&str>, estimated_tokens: u64) -> Permit {
        let wake = Arc::new(Notify::new());
        let ticket =
            self.line.lock().enter(provider, model, estimated_tokens, Arc::clone(&wake), Instant::now());
        let place = Place { line: &self.line, ticket };
        let mut has_waited = false;
        loop {
            let turn = place.line.lock().turn(ticket);
            if !matches!(turn, Turn::Now(_)) && !std::mem::replace(&mut has_waited, true) {
                log::debug!(
                    provider = provider,
                    model = model.unwrap_or("unknown"),
                    tokens = estimated_tokens,
                    "waits for a limit"
                );
            }
            match turn {
                Turn::Now(grant) => return Permit::new(self.line.clone(), grant),
                Turn::Later(None) => wake.notified().await,
                Turn::Later(Some(at)) => {
                    if timeout_at(at, wake.notified()).await.is_err() {
                        place.line.lock().advance(Instant::now());
                    }
                }
            }
        }
    }

    /// How often a request is retried after a transient failure: the smallest number of the rules that match and have one; default 4.
    pub fn retries(&self, provider: &str, model: Option<&str>) -> u32 {
        let matching = self.rules.iter().filter(|rule| rule.matches(provider, model));
        matching.filter_map(|rule| rule.retries).min().unwrap_or(DEFAULT_RETRIES)
    }

    /// Why limits are not shared with other processes, although they should be: reported once.
    pub fn take_sharing_error(&self) -> Option<SharingError> {
        self.line.lock().problem.take()
    }
}

/// The place of a request that waits. On drop, it gives up.
struct Place<'a> {
    line: &'a SharedLine,
    ticket: Ticket,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.line.lock().leave(self.ticket, Instant::now());
    }
}
