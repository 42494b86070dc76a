//! The requests of one trial in their order: those answered from its recording, and new ones.

use std::collections::HashSet;
use std::sync::Arc;

use cobalt_core::recordings::{
    Interaction, RecordedRequest, RecordingFolder, RequestKey, Trial, differences_in_full, nearest,
};
use cobalt_core::report::{Execution, Status};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::count;

use super::status::{is_answer, refuses_key};

/// The maximum number of differences that an error lists.
const MAX_DIFFERENCES: usize = 3;

/// The requests of one trial.
#[derive(Debug, Default)]
pub struct TrialRequests {
    recorded: Vec<Recorded>,
    /// When the trial was recorded.
    recorded_at: Option<Timestamp>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Recorded {
    key: RequestKey,
    interaction: Arc<Interaction>,
    is_used: bool,
}

#[derive(Debug)]
struct Entry {
    key: RequestKey,
    answer: Answer,
}

#[derive(Debug)]
enum Answer {
    Replayed(Arc<Interaction>),
    /// The request was sent, and is not answered yet.
    Pending,
    New(Box<Interaction>),
    /// The request was never answered, or not sent.
    None,
    /// The provider could not be reached, for this reason.
    Unreachable(String),
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

    /// The number of recorded requests.
    pub fn number_recorded(&self) -> usize {
        self.recorded.len()
    }

    /// Whether there was no request.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there was a request that was not replayed.
    pub fn has_new(&self) -> bool {
        self.entries.iter().any(|entry| !matches!(entry.answer, Answer::Replayed(_)))
    }

    /// Whether a request is not answered yet.
    pub fn has_pending(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.answer, Answer::Pending))
    }

    /// Whether the recording has an answer to a request that is not used yet.
    pub fn has(
        &self,
        key: &RequestKey,
        request: &RecordedRequest,
        folder: &RecordingFolder,
        ignore: &[String],
    ) -> bool {
        self.place_of(key, request, folder, ignore).is_some()
    }

    /// The place of the answer to a request that is not used yet. Secrets may be redacted in only one of the two requests.
    fn place_of(
        &self,
        key: &RequestKey,
        request: &RecordedRequest,
        folder: &RecordingFolder,
        ignore: &[String],
    ) -> Option<usize> {
        let read = |hash: &str| folder.read_blob(hash);
        let is_same = |recorded: &Recorded| {
            !recorded.is_used && recorded.interaction.request.is_same_but_for_secrets(request, &read, ignore)
        };
        let place = self.recorded.iter().position(|recorded| !recorded.is_used && recorded.key == *key);
        place.or_else(|| self.recorded.iter().position(is_same))
    }

    /// Adds an answer to the recording.
    pub fn adopt(&mut self, key: RequestKey, interaction: Interaction) {
        self.recorded.push(Recorded { key, interaction: Arc::new(interaction), is_used: false });
    }

    /// Answers a request from the recording; each recorded answer once.
    pub fn replay(
        &mut self,
        key: &RequestKey,
        request: &RecordedRequest,
        folder: &RecordingFolder,
        ignore: &[String],
    ) -> Option<Arc<Interaction>> {
        let place = self.place_of(key, request, folder, ignore)?;
        let recorded = &mut self.recorded[place];
        recorded.is_used = true;
        let interaction = Arc::clone(&recorded.interaction);
        let answer = Answer::Replayed(Arc::clone(&interaction));
        self.entries.push(Entry { key: key.clone(), answer });
        Some(interaction)
    }

    /// Adds a request that is sent, and returns its place.
    pub fn send(&mut self, key: RequestKey) -> usize {
        self.entries.push(Entry { key, answer: Answer::Pending });
        self.entries.len() - 1
    }

    /// Whether the request at a place is not answered yet.
    pub fn is_pending(&self, entry: usize) -> bool {
        matches!(self.entries.get(entry), Some(Entry { answer: Answer::Pending, .. }))
    }

    /// The key of the request at a place.
    pub fn key(&self, entry: usize) -> Option<&RequestKey> {
        self.entries.get(entry).map(|entry| &entry.key)
    }

    /// Ends a request that is not answered yet; without an interaction, it never will be.
    pub fn end(&mut self, entry: usize, interaction: Option<Interaction>) {
        if self.is_pending(entry) {
            let answer = interaction.map(|interaction| Answer::New(Box::new(interaction)));
            self.entries[entry].answer = answer.unwrap_or(Answer::None);
        }
    }

    /// Ends a request whose provider could not be reached.
    pub fn fail(&mut self, entry: usize, problem: &str) {
        if self.is_pending(entry) {
            self.entries[entry].answer = Answer::Unreachable(problem.to_owned());
        }
    }

    /// Why a provider could not be reached, unless the client has sent the request again and got an answer.
    pub fn unreachable(&self) -> Option<&str> {
        self.unanswered().find_map(|entry| match &entry.answer {
            Answer::Unreachable(problem) => Some(problem.as_str()),
            _ => None,
        })
    }

    /// The requests without an answer, also later.
    fn unanswered(&self) -> impl Iterator<Item = &Entry> {
        let is_answered_later = |at: usize, key: &RequestKey| {
            self.entries[at + 1..].iter().any(|it| it.answer.interaction().is_some() && it.key == *key)
        };
        let is_unanswered = move |(at, entry): &(usize, &Entry)| {
            entry.answer.interaction().is_none() && !is_answered_later(*at, &entry.key)
        };
        self.entries.iter().enumerate().filter(is_unanswered).map(|(_, entry)| entry)
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
        self.entries.iter().filter_map(|entry| match &entry.answer {
            Answer::Replayed(interaction) => Some(&**interaction),
            _ => None,
        })
    }

    /// The interactions that a trial in progress keeps: what was replayed and answered without an error, and then those of its recording
    /// that were not used.
    pub fn interactions_so_far(&self) -> Vec<Interaction> {
        let is_kept = |interaction: &&Interaction| interaction.response.status < 400;
        let entries = self.entries.iter().filter_map(|entry| entry.answer.interaction()).filter(is_kept);
        let unused = self.recorded.iter().filter(|recorded| !recorded.is_used);
        entries.chain(unused.map(|recorded| &*recorded.interaction)).cloned().collect()
    }

    /// Takes the interactions to write. Those that were replayed keep the time at which they were recorded.
    pub fn take_interactions(&mut self) -> Vec<Interaction> {
        let recorded_at = self.recorded_at;
        self.entries.drain(..).filter_map(|entry| entry.answer.into_interaction(recorded_at)).collect()
    }

    /// Why the trial must not be recorded; `None` if it is complete. `was_refused`: whether a request was refused; `is_recorded`: whether
    /// it would replace a recording.
    pub fn incomplete(&self, outcome: &Execution, was_refused: bool, is_recorded: bool) -> Option<String> {
        // An agent that succeeds in spite of them has seen all that it needs.
        let failures = if outcome.status == Status::Ok { Vec::new() } else { self.failures() };
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
        self.unanswered().next().map(|_| "a request was not answered".to_owned())
    }

    /// The statuses of new responses that are no answers, unless the client has sent the request again and got one.
    fn failures(&self) -> Vec<u16> {
        let mut answered = HashSet::new();
        let mut failures = Vec::new();
        for entry in self.entries.iter().rev() {
            let Some(interaction) = entry.answer.interaction() else { continue };
            let status = interaction.response.status;
            if is_answer(status) {
                answered.insert(&entry.key);
            } else if matches!(entry.answer, Answer::New(_)) && !answered.contains(&entry.key) {
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
        folder: &RecordingFolder,
        ignore: &[String],
    ) -> String {
        if self.recorded.is_empty() {
            return match run {
                0 => "the item has no recording".to_owned(),
                run => format!("the item has no recording of trial {}", run + 1),
            };
        }
        let left = self.recorded.iter().filter(|recorded| !recorded.is_used);
        let Some((interaction, differences)) =
            nearest(left.map(|recorded| &*recorded.interaction), request, ignore)
        else {
            let number = self.recorded.len();
            return format!("the recording has {}, and this is one more", count(number, "request"));
        };
        let read = |hash: &str| folder.read_blob(hash);
        let in_full = differences_in_full(&interaction.request, (request, body), &read, ignore);
        let differences = in_full.unwrap_or(differences);
        let is_it = |recorded: &Recorded| std::ptr::eq(&raw const *recorded.interaction, interaction);
        let number = self.recorded.iter().position(is_it).map_or(0, |at| at + 1);
        let mut texts: Vec<_> = differences.iter().take(MAX_DIFFERENCES).map(ToString::to_string).collect();
        if differences.len() > MAX_DIFFERENCES {
            texts.push(format!("and {} more", differences.len() - MAX_DIFFERENCES));
        }
        format!("the nearest recorded request, number {number}, differs in {}", texts.join("; "))
    }
}

impl Answer {
    fn interaction(&self) -> Option<&Interaction> {
        match self {
            Self::Replayed(interaction) => Some(interaction),
            Self::New(interaction) => Some(interaction),
            Self::Pending | Self::None | Self::Unreachable(_) => None,
        }
    }

    /// The interaction to write. `recorded_at` is when those were recorded that are kept.
    fn into_interaction(self, recorded_at: Option<Timestamp>) -> Option<Interaction> {
        match self {
            Self::Replayed(interaction) => {
                let kept = Arc::unwrap_or_clone(interaction);
                Some(Interaction { recorded_at: kept.recorded_at.or(recorded_at), ..kept })
            }
            Self::New(interaction) => Some(*interaction),
            Self::Pending | Self::None | Self::Unreachable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::recordings::{Body, RecordedResponse};
    use serde_json::json;

    use super::*;

    fn request(text: &str) -> RecordedRequest {
        let (method, path) = ("POST".to_owned(), "openai/chat/completions".to_owned());
        let body = Body::of_request(json!({ "messages": [text] }).to_string().as_bytes());
        RecordedRequest { method, path, url: None, body }
    }

    fn interaction(text: &str, status: u16) -> Interaction {
        let response = RecordedResponse { status, ..RecordedResponse::default() };
        Interaction {
            experiment: None,
            recorded_at: None,
            request: request(text),
            response,
            latency_ms: 2.0,
            model: None,
            tokens: None,
        }
    }

    /// A trial that sent these requests, each with the status of its response; `None` if there was none.
    fn sent(requests: &[(&str, Option<u16>)]) -> TrialRequests {
        let mut trial = TrialRequests::default();
        for (text, status) in requests {
            let entry = trial.send(request(text).key(&[]));
            trial.end(entry, status.map(|status| interaction(text, status)));
        }
        trial
    }

    fn replay(requests: &mut TrialRequests, text: &str) -> bool {
        let request = request(text);
        requests.replay(&request.key(&[]), &request, &RecordingFolder::new("none"), &[]).is_some()
    }

    fn outcome(status: Status) -> Execution {
        Execution { status, ..Execution::default() }
    }

    /// A trial whose recording has these requests.
    fn recorded(texts: &[&str]) -> TrialRequests {
        let interactions = texts.iter().map(|text| interaction(text, 200)).collect();
        TrialRequests::of(&Trial { interactions, ..Trial::default() }, &[])
    }

    #[test]
    fn each_recorded_answer_is_replayed_once() {
        let mut requests = recorded(&["a", "a"]);
        let replayed: Vec<_> = (0..3).map(|_| replay(&mut requests, "a")).collect();
        assert_eq!(replayed, [true, true, false]);
        assert_eq!((requests.replayed_latency(), requests.has_new()), (4.0, false));
    }

    #[test]
    fn replay_does_not_depend_on_known_secrets() {
        for (then, now) in [
            ("order [redacted:OUR_KEY]", "order order_id_2024x"),
            ("order order_id_2024x", "order [redacted:OUR_KEY]"),
            ("order [redacted:OUR_KEY]", "order [redacted:THEIR_KEY]"),
        ] {
            let mut requests = recorded(&["other", then]);
            assert!(replay(&mut requests, now) && !replay(&mut requests, now), "{then}, {now}");
        }
        assert!(!replay(&mut recorded(&["order [redacted:OUR_KEY] today"]), "order order_id_2024x tomorrow"));
    }

    #[test]
    fn a_request_ends_once() {
        let mut trial = TrialRequests::default();
        let entry = trial.send(request("a").key(&[]));
        assert!(trial.is_pending(entry) && trial.has_pending());
        trial.end(entry, Some(interaction("a", 200)));
        trial.end(entry, None);
        assert!(!trial.has_pending());
        assert_eq!(trial.take_interactions().len(), 1);
    }

    #[test]
    fn a_trial_is_recorded_only_if_it_is_complete() {
        let failed = || outcome(Status::Error);
        for (requests, outcome, expected) in [
            (sent(&[("a", Some(200))]), outcome(Status::Ok), None),
            (sent(&[("a", None)]), outcome(Status::Ok), Some("a request was not answered")),
            (sent(&[("a", None), ("a", Some(200))]), outcome(Status::Ok), None),
            (sent(&[("a", Some(200))]), outcome(Status::Timeout), Some("the agent timed out")),
            (sent(&[("a", Some(401))]), failed(), Some("the provider does not accept the key (status 401)")),
            (sent(&[("a", Some(503))]), failed(), Some("the provider could not answer (status 503)")),
            (sent(&[("a", Some(503)), ("a", Some(200))]), failed(), None),
            (sent(&[("a", Some(401))]), outcome(Status::Ok), None),
        ] {
            let found = requests.incomplete(&outcome, false, true);
            assert_eq!(found.as_deref(), expected, "{requests:?}");
        }
        let refused = sent(&[("a", Some(200))]).incomplete(&outcome(Status::Ok), true, true);
        assert_eq!(refused.as_deref(), Some("a request was refused"));
        let first = sent(&[("a", Some(503))]).incomplete(&failed(), false, false);
        assert_eq!(first, None, "there is no recording to keep");
    }

    #[test]
    fn the_reason_names_the_nearest_request_that_is_left() {
        let explain = |requests: &TrialRequests, text: &str, run| {
            let asked = request(text);
            let body = json!({ "messages": [text] }).to_string();
            requests.explain(&asked, body.as_bytes(), run, &RecordingFolder::new("none"), &[])
        };
        let none = TrialRequests::default();
        assert_eq!(explain(&none, "a", 0), "the item has no recording");
        assert_eq!(explain(&none, "a", 1), "the item has no recording of trial 2");
        let mut two = recorded(&["a", "b"]);
        assert!(replay(&mut two, "a"));
        let text = explain(&two, "c", 0);
        assert!(text.starts_with("the nearest recorded request, number 2, differs in "), "{text}");
        assert!(replay(&mut two, "b"));
        assert_eq!(explain(&two, "c", 0), "the recording has 2 requests, and this is one more");
    }
}
