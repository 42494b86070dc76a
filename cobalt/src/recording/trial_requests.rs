//! The requests of one trial in their order: those answered from its recording, and new ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cobalt_core::recordings::{
    Interaction, RecordedRequest, RequestKey, Trial, differences_in_full, nearest,
};
use cobalt_core::report::{Execution, Status};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::count;

use super::experiment::ExperimentTraffic;
use crate::http::is_transient;

/// The maximum number of differences that an error lists.
const MAX_DIFFERENCES: usize = 3;

/// Whether a status says that the provider does not accept the key.
pub fn refuses_key(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Whether a status says that the provider has no answer now: it is busy or broken, or the quota is used up.
pub fn could_not_answer(status: u16) -> bool {
    is_transient(status) || matches!(status, 402 | 425)
}

/// The requests of one trial.
#[derive(Debug, Default)]
pub struct TrialRequests {
    recorded: Vec<Recorded>,
    /// When the trial was recorded.
    recorded_at: Option<Timestamp>,
    entries: Vec<Entry>,
    pending: usize,
}

#[derive(Debug)]
struct Recorded {
    key: RequestKey,
    interaction: Arc<Interaction>,
    is_used: bool,
}

#[derive(Debug)]
enum Entry {
    Replayed(Arc<Interaction>),
    /// Sent, and not answered yet.
    Pending(RequestKey),
    Answered(Box<Interaction>),
    /// Never answered, or not sent.
    Lost(RequestKey),
}

impl TrialRequests {
    /// With the recording of the trial.
    pub fn of(trial: &Trial, ignore: &[String]) -> Self {
        let recorded = |interaction: &Interaction| Recorded {
            key: interaction.request.key(ignore),
            interaction: Arc::new(interaction.clone()),
            is_used: false,
        };
        Self {
            recorded: trial.interactions.iter().map(recorded).collect(),
            recorded_at: trial.recorded_at,
            ..Self::default()
        }
    }

    /// Whether any request is recorded.
    pub fn has_recording(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Whether there was no request.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there was a request that was not replayed.
    pub fn has_new(&self) -> bool {
        self.entries.iter().any(|entry| !matches!(entry, Entry::Replayed(_)))
    }

    /// Whether a request is not answered yet.
    pub fn has_pending(&self) -> bool {
        self.pending > 0
    }

    /// Answers a request from the recording; each recorded answer once.
    pub fn replay(&mut self, key: &RequestKey) -> Option<Arc<Interaction>> {
        let recorded = self.recorded.iter_mut().find(|recorded| !recorded.is_used && recorded.key == *key)?;
        recorded.is_used = true;
        let interaction = Arc::clone(&recorded.interaction);
        self.entries.push(Entry::Replayed(Arc::clone(&interaction)));
        Some(interaction)
    }

    /// Adds a request that is sent, and returns its place.
    pub fn send(&mut self, key: RequestKey) -> usize {
        self.pending += 1;
        self.entries.push(Entry::Pending(key));
        self.entries.len() - 1
    }

    /// Whether the request at a place is not answered yet.
    pub fn is_pending(&self, entry: usize) -> bool {
        matches!(self.entries.get(entry), Some(Entry::Pending(_)))
    }

    /// Ends a request that is not answered yet; without an interaction, it never will be.
    pub fn end(&mut self, entry: usize, interaction: Option<Interaction>) {
        let Some(Entry::Pending(key)) = self.entries.get(entry) else { return };
        let lost = || Entry::Lost(key.clone());
        self.entries[entry] =
            interaction.map_or_else(lost, |interaction| Entry::Answered(Box::new(interaction)));
        self.pending -= 1;
    }

    /// The recorded latency of all replayed requests, in milliseconds.
    pub fn replayed_latency(&self) -> f64 {
        self.replayed().map(|interaction| interaction.latency_ms).sum()
    }

    /// When the oldest replayed request was recorded.
    pub fn replayed_since(&self) -> Option<Timestamp> {
        self.replayed().filter_map(|interaction| interaction.recorded_at.or(self.recorded_at)).min()
    }

    fn replayed(&self) -> impl Iterator<Item = &Interaction> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Replayed(interaction) => Some(&**interaction),
            _ => None,
        })
    }

    /// Takes the interactions to write. Those that were replayed keep the time at which they were recorded.
    pub fn take_interactions(&mut self) -> Vec<Interaction> {
        let recorded_at = self.recorded_at;
        self.entries.drain(..).filter_map(|entry| entry.into_interaction(recorded_at)).collect()
    }

    /// Why the trial must not be recorded; `None` if it is complete. `was_refused`: whether a request was refused; `is_recorded`: whether
    /// it would replace a recording.
    pub fn incomplete(
        &self,
        outcome: &Execution,
        was_refused: bool,
        is_recorded: bool,
        ignore: &[String],
    ) -> Option<String> {
        // An agent that succeeds in spite of them has seen all that it needs.
        let failures = if outcome.status == Status::Ok { Vec::new() } else { self.failures(ignore) };
        if let Some(status) = failures.iter().find(|status| refuses_key(**status)) {
            return Some(format!("the provider does not accept the key (status {status})"));
        }
        if let Some(status) = failures.first().filter(|_| is_recorded) {
            return Some(format!("the provider could not answer (status {status})"));
        }
        if outcome.status == Status::Timeout {
            return Some("the agent timed out".to_owned());
        }
        if was_refused {
            return Some("a request was refused".to_owned());
        }
        // A client may have sent it again.
        let is_answered_later = |at: usize, key: &RequestKey| {
            self.entries[at + 1..]
                .iter()
                .filter_map(Entry::interaction)
                .any(|it| it.request.key(ignore) == *key)
        };
        let is_unanswered = |(at, entry): (usize, &Entry)| match entry {
            Entry::Pending(key) | Entry::Lost(key) => !is_answered_later(at, key),
            Entry::Replayed(_) | Entry::Answered(_) => false,
        };
        if self.entries.iter().enumerate().any(is_unanswered) {
            return Some("a request was not answered".to_owned());
        }
        let is_unsent = self.entries.is_empty() && outcome.status != Status::Ok;
        is_unsent.then(|| "the agent failed before it sent anything".to_owned())
    }

    /// The statuses of new responses that are no answers, unless the client has sent the request again and got one.
    fn failures(&self, ignore: &[String]) -> Vec<u16> {
        let is_failure = |status| refuses_key(status) || could_not_answer(status);
        let mut answered = HashSet::new();
        let mut failures = Vec::new();
        for entry in self.entries.iter().rev() {
            let Some(interaction) = entry.interaction() else { continue };
            let (status, key) = (interaction.response.status, interaction.request.key(ignore));
            if !is_failure(status) {
                answered.insert(key);
            } else if matches!(entry, Entry::Answered(_)) && !answered.contains(&key) {
                failures.push(status);
            }
        }
        failures
    }

    /// Why a request of a trial is not recorded. `body` is that of the request with its long texts.
    pub fn explain(
        &self,
        request: &RecordedRequest,
        body: &[u8],
        run: usize,
        experiment: &ExperimentTraffic,
    ) -> String {
        if self.recorded.is_empty() {
            return match run {
                0 => "the item has no recording".to_owned(),
                run => format!("the item has no recording of trial {}", run + 1),
            };
        }
        let left = || self.recorded.iter().filter(|recorded| !recorded.is_used);
        if left().next().is_none() {
            let number = self.recorded.len();
            return format!("the recording has {}, and this is one more", count(number, "request"));
        }
        let numbers: HashMap<_, _> = self
            .recorded
            .iter()
            .enumerate()
            .map(|(at, recorded)| (Arc::as_ptr(&recorded.interaction), at))
            .collect();
        let Some((interaction, differences)) =
            nearest(left().map(|recorded| &*recorded.interaction), request, experiment.ignore())
        else {
            return String::new();
        };
        let read = |hash: &str| experiment.folder().read_blob(hash);
        let in_full = differences_in_full(&interaction.request, (request, body), &read, experiment.ignore());
        let differences = in_full.unwrap_or(differences);
        let number = numbers.get(&std::ptr::from_ref(interaction)).map_or(0, |at| at + 1);
        let mut texts: Vec<_> = differences.iter().take(MAX_DIFFERENCES).map(ToString::to_string).collect();
        if differences.len() > MAX_DIFFERENCES {
            texts.push(format!("and {} more", differences.len() - MAX_DIFFERENCES));
        }
        format!("the nearest recorded request, number {number}, differs in {}", texts.join("; "))
    }
}

impl Entry {
    fn interaction(&self) -> Option<&Interaction> {
        match self {
            Self::Replayed(interaction) => Some(interaction),
            Self::Answered(interaction) => Some(interaction),
            Self::Pending(_) | Self::Lost(_) => None,
        }
    }

    /// The interaction to write. `recorded_at` is when those were recorded that are kept.
    fn into_interaction(self, recorded_at: Option<Timestamp>) -> Option<Interaction> {
        match self {
            Self::Replayed(interaction) => {
                let kept = Arc::unwrap_or_clone(interaction);
                Some(Interaction { recorded_at: kept.recorded_at.or(recorded_at), ..kept })
            }
            Self::Answered(interaction) => Some(*interaction),
            Self::Pending(_) | Self::Lost(_) => None,
        }
    }
}
