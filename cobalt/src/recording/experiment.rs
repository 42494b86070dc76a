//! The recordings of one experiment.

use crate::log;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use cobalt_core::item::ItemKeys;
use cobalt_core::recordings::{
    Addition, AdditionsFile, Cassette, JudgeAnswer, RecordingError, RecordingFolder, Trial, UNATTRIBUTED,
};
use cobalt_core::redact::redacted;
use cobalt_core::report::TrafficSummary;
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::{count, join_quoted};

use super::failure::RecordingFailure;
use super::lock::lock;
use super::process::NO_KEY;
use super::request_shape::RequestShape;
use super::route::PROVIDERS;
use super::settings::{RecordMode, ResolvedRecording, cassette_names};

/// The maximum number of trials that a note lists.
const MAX_LISTED: usize = 3;
/// The maximum length of an agent's error in that of its experiment, in characters.
const MAX_CAUSE: usize = 200;
/// What to do if the requests of an agent do not pass through the gateway.
pub const REMEDY: &str = "the agent's client must take its address from `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and similar variables, or \
                          from `context.base_url`: see \"Recipes\" in docs/real-agents.md. If the agent asks no model, use \
                          `Recordings::new(…).allow_no_requests()`; if its requests cannot pass through the gateway, use \
                          `Recordings::new(…).mode(RecordMode::Off)`";

/// The cassette of an item in progress, if it has one.
pub type OpenCassette = Arc<Mutex<Option<Cassette>>>;

/// The model traffic of one experiment.
#[derive(Debug)]
pub struct ExperimentTraffic {
    name: String,
    settings: ResolvedRecording,
    folder: RecordingFolder,
    /// The names of the items' cassettes.
    cassettes: Vec<String>,
    keys: Arc<ItemKeys>,
    runs: usize,
    /// Whether a trial without a recording is recorded although the mode is `replay`.
    records_missing: bool,
    /// The cassette of each item in progress; one trial after another uses it.
    open: Mutex<HashMap<usize, OpenCassette>>,
    /// The files of the answers that were added to these since they were written.
    additions: Mutex<HashMap<usize, AdditionsFile>>,
    counts: Counts,
    /// What is known of its requests.
    shape: Mutex<RequestShape>,
    started: Timestamp,
    /// The trials that were written.
    written: Mutex<HashSet<(usize, usize)>>,
    /// The number of requests without an item that have got no answer that could replace a recorded one.
    unanswered: AtomicUsize,
    /// The trials that were not recorded, and why.
    unrecorded: Mutex<Vec<String>>,
    /// The items whose agents sent no request.
    unseen: Mutex<BTreeSet<usize>>,
    /// Whether there were recordings at the start.
    has_recordings: bool,
    /// Why nothing more of it is run.
    failure: OnceLock<RecordingFailure>,
}

/// Counts of requests without a token.
#[derive(Debug, Default)]
pub struct Counts {
    pub by_content: AtomicUsize,
    pub unattributed: AtomicUsize,
    pub unattributed_replayed: AtomicUsize,
}

impl ExperimentTraffic {
    pub fn new(name: &str, settings: ResolvedRecording, keys: Arc<ItemKeys>, runs: usize) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            folder: RecordingFolder::new(&settings.folder),
            has_recordings: settings.folder.is_dir()
                || RecordingFolder::new(&settings.root).cassette(UNATTRIBUTED).exists(),
            // A provider would only refuse the placeholder.
            records_missing: settings.records_missing && !has_placeholder_key(),
            settings,
            cassettes: cassette_names(&keys),
            keys,
            runs,
            open: Mutex::default(),
            additions: Mutex::default(),
            counts: Counts::default(),
            shape: Mutex::default(),
            started: Timestamp::now(),
            written: Mutex::default(),
            unanswered: AtomicUsize::new(0),
            unrecorded: Mutex::default(),
            unseen: Mutex::default(),
            failure: OnceLock::new(),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn mode(&self) -> RecordMode {
        self.settings.mode
    }

    pub fn ignore(&self) -> &[String] {
        &self.settings.ignore
    }

    pub fn folder(&self) -> &RecordingFolder {
        &self.folder
    }

    pub fn root(&self) -> &std::path::Path {
        &self.settings.root
    }

    /// Whether each item must send a request through the gateway.
    pub fn needs_requests(&self) -> bool {
        self.settings.needs_requests
    }

    pub fn is_ci(&self) -> bool {
        self.settings.is_ci
    }

    /// Why nothing more of it is run.
    pub fn failure(&self) -> Option<&RecordingFailure> {
        self.failure.get()
    }

    /// Stops the experiment, as a recording cannot be written.
    pub fn fail_to_write(&self, problem: &dyn std::fmt::Display) {
        let (experiment, problem) = (self.name.clone(), problem.to_string());
        let _ = self.failure.set(RecordingFailure::Write { experiment, problem });
    }

    /// Stops the experiment, as there is neither a key nor a recording. Otherwise each item would say so.
    pub fn lack_key(&self, key: &str, cause: Option<String>) {
        if !self.has_recordings {
            let (experiment, key) = (self.name.clone(), key.to_owned());
            let _ = self.failure.set(RecordingFailure::NoKey { experiment, key, cause });
        }
    }

    /// Stops the experiment if its agent has failed for lack of a key, before it sent anything.
    pub fn note_agent_error(&self, error: &str) {
        if let Some(key) = missing_key(error, |name| std::env::var(name).is_ok_and(|value| !value.is_empty()))
        {
            let line = error.lines().next().unwrap_or_default();
            let line = redacted(line);
            let cause = line.chars().filter(|letter| !letter.is_control()).take(MAX_CAUSE).collect();
            self.lack_key(&key, Some(cause));
        }
    }

    /// Notes that the agent of an item sent no request.
    pub fn note_unseen(&self, index: usize) {
        lock(&self.unseen).insert(index);
    }

    /// A warning of the items whose agents sent no request.
    pub fn take_warning(&self) -> Option<String> {
        let unseen = std::mem::take(&mut *lock(&self.unseen));
        if unseen.is_empty() {
            return None;
        }
        let mut items = join_quoted(unseen.iter().take(MAX_LISTED).map(|index| &self.keys[*index]));
        if unseen.len() > MAX_LISTED {
            items = format!("{items} and {} more", unseen.len() - MAX_LISTED);
        }
        let number = count(unseen.len(), "item");
        Some(format!(
            "warning: {number} of `{}` sent no request through the gateway, so nothing is recorded or replayed for it: \
             {items}; {REMEDY}",
            self.name
        ))
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What is known of its requests.
    pub fn shape(&self) -> MutexGuard<'_, RequestShape> {
        lock(&self.shape)
    }

    /// The path of an item's cassette, relative to the package.
    fn cassette_for_display(&self, index: usize) -> String {
        let path = self.folder.cassette(&self.cassettes[index]);
        let package = cobalt_core::paths::package_root();
        path.strip_prefix(&package).unwrap_or(&path).display().to_string()
    }

    /// The key of an item.
    pub fn item_key(&self, index: usize) -> &str {
        &self.keys[index]
    }

    /// Whether a trial is so old that it is recorded again.
    fn is_stale(&self, trial: &Trial) -> bool {
        let Some(most) = self.settings.stale_after else { return false };
        let age = |at: Timestamp| Timestamp::now().time().duration_since(at.time()).unwrap_or_default();
        trial.oldest().is_some_and(|at| age(at) > most)
    }

    /// How a trial uses its recording, and the recording.
    pub fn recording_of(
        &self,
        index: usize,
        run: usize,
    ) -> Result<(RecordMode, OpenCassette), RecordingError> {
        let open = self.open(index)?;
        let cassette = lock(&open);
        let (mode, reason) = match cassette.as_ref().and_then(|cassette| cassette.trial(run)) {
            // What was paid for is not sent again.
            Some(trial) if trial.partial && (self.mode().records() || self.records_missing) => {
                (RecordMode::Auto, "its recording is partial")
            }
            Some(trial) if self.mode().replays() && self.is_stale(trial) => {
                (RecordMode::Record, "its recording is old")
            }
            None if self.mode() == RecordMode::Replay && self.records_missing => {
                (RecordMode::Auto, "it has no recording")
            }
            Some(_) => (self.mode(), "it has a recording"),
            None => (self.mode(), "it has no recording"),
        };
        log::debug!(
            experiment = self.name,
            item = self.keys[index],
            trial = run,
            mode = mode,
            reason = reason,
            "chose how the trial uses its recording"
        );
        drop(cassette);
        Ok((mode, open))
    }

    /// The cassette of an item in progress.
    fn open(&self, index: usize) -> Result<OpenCassette, RecordingError> {
        if let Some(open) = lock(&self.open).get(&index) {
            return Ok(Arc::clone(open));
        }
        let read = match self.mode() {
            RecordMode::Off => None,
            _ => self.folder.read(&self.cassettes[index])?,
        };
        // It was renamed, or its item has another key now.
        let is_own = |cassette: &Cassette| cassette.item.is_empty() || cassette.item == self.keys[index];
        let mut read = read.filter(is_own);
        if let Some(cassette) = &mut read {
            cassette.give_judges_to_trials(self.runs);
        }
        let opened = Arc::new(Mutex::new(read));
        lock(&self.open).insert(index, Arc::clone(&opened));
        Ok(opened)
    }

    /// Ends the work on an item.
    pub fn close(&self, index: usize) {
        lock(&self.open).remove(&index);
        lock(&self.additions).remove(&index);
    }

    /// When it started.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// Expects an answer to a request without an item.
    pub fn expect_unattributed(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the answer has come.
    pub fn receive_unattributed(&self) {
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether everything was recorded again by this process: all trials of all items, and all requests without an item.
    pub fn is_renewed(&self) -> bool {
        let written = lock(&self.written).len();
        self.mode() == RecordMode::Record
            && written == self.keys.len() * self.runs
            && self.unanswered.load(Ordering::Relaxed) == 0
    }

    /// Writes what is new in a trial: its traffic, if that is new, and its judges' answers. `keeps_others`: whether recorded answers to
    /// other questions are kept.
    pub fn write(
        &self,
        (index, run): (usize, usize),
        trial: Option<Trial>,
        judges: Vec<JudgeAnswer>,
        keeps_others: bool,
    ) -> Result<(), RecordingError> {
        let open = self.open(index)?;
        let mut cassette = lock(&open);
        let now = cassette.get_or_insert_with(|| Cassette::new(&self.name, &self.keys[index]));
        now.experiment.clone_from(&self.name);
        now.item = self.keys[index].to_owned();
        let mut before = now.trials.get(run).cloned().unwrap_or_default();
        let others = std::mem::replace(&mut before.judges, judges);
        let mut trial = match trial {
            Some(trial) => Trial { judges: before.judges, ..trial },
            None => before,
        };
        if keeps_others {
            let is_other = |other: &JudgeAnswer| {
                let id = (&other.key, &other.model);
                !trial.judges.iter().any(|answer| (&answer.key, &answer.model) == id)
            };
            let others: Vec<_> = others.into_iter().filter(is_other).collect();
            trial.judges.extend(others);
        }
        // Equal questions stay in their order.
        trial.judges.sort_by(|one, other| (&one.key, &one.model).cmp(&(&other.key, &other.model)));
        now.set_trial(run, trial);
        // A single trial may be recorded again because it is old.
        if self.mode() == RecordMode::Record {
            now.trials.truncate(self.runs);
        }
        self.write_file(&self.folder, index, now)?;
        lock(&self.written).insert((index, run));
        Ok(())
    }

    /// Writes a cassette, which has all that was added before.
    fn write_file(
        &self,
        folder: &RecordingFolder,
        index: usize,
        cassette: &Cassette,
    ) -> Result<(), RecordingError> {
        lock(&self.additions).remove(&index);
        folder.write_or_remove(&self.cassettes[index], cassette)
    }

    /// Writes what a trial in progress has recorded so far, or what it had before; nothing else refers to it then.
    pub fn write_so_far(&self, (index, run): (usize, usize), trial: Trial) -> Result<(), RecordingError> {
        let open = self.open(index)?;
        let mut cassette = lock(&open);
        let now = cassette.get_or_insert_with(|| Cassette::new(&self.name, &self.keys[index]));
        let is_empty = trial.is_empty();
        now.set_trial(run, trial);
        while is_empty && now.trials.last().is_some_and(Trial::is_empty) {
            now.trials.pop();
        }
        self.write_file(&self.folder.without_sync(), index, now)
    }

    /// Adds an answer to what a trial in progress has written so far.
    pub fn add_so_far(&self, index: usize, addition: Addition) -> Result<(), RecordingError> {
        let open = self.open(index)?;
        let mut cassette = lock(&open);
        let mut files = lock(&self.additions);
        let file = match files.entry(index) {
            Entry::Occupied(file) => file.into_mut(),
            Entry::Vacant(place) => {
                place.insert(AdditionsFile::create(&self.folder.cassette(&self.cassettes[index]))?)
            }
        };
        file.append(&addition)?;
        if let Some(cassette) = &mut *cassette {
            addition.add_to(cassette);
        }
        Ok(())
    }

    /// Whether a trial has a recording of all that it sends.
    pub fn is_recorded(&self, index: usize, run: usize) -> bool {
        self.open(index).is_ok_and(|open| {
            let cassette = lock(&open);
            cassette.as_ref().and_then(|cassette| cassette.trial(run)).is_some_and(|trial| !trial.partial)
        })
    }

    /// Whether all trials of an item are answered from their recordings.
    pub fn replays(&self, index: usize) -> bool {
        let replays = |run| {
            let mode = self.recording_of(index, run).is_ok_and(|(mode, _)| mode.replays());
            mode && self.is_recorded(index, run)
        };
        (0..self.runs).all(replays)
    }

    /// Notes that a trial is not recorded. `is_recorded`: whether it keeps a recording; `has_sent`: whether it has sent anything;
    /// `is_kept`: whether its answered requests are kept.
    pub fn note_unrecorded(
        &self,
        (index, run): (usize, usize),
        is_recorded: bool,
        (has_sent, is_kept): (bool, bool),
        reason: &str,
    ) {
        let end = match (is_recorded, has_sent) {
            _ if is_kept => "; its answered requests are kept",
            (true, _) => "; its recording is unchanged",
            (false, true) => "",
            (false, false) => return,
        };
        let trial = if self.runs > 1 { format!(", trial {}", run + 1) } else { String::new() };
        let note = format!("`{}`{trial}: {reason}{end}", self.cassette_for_display(index));
        lock(&self.unrecorded).push(note);
    }

    /// A note on the trials that were not recorded since it was last taken.
    pub fn take_note(&self) -> Option<String> {
        let mut notes = std::mem::take(&mut *lock(&self.unrecorded));
        let number = notes.len();
        if number == 0 {
            return None;
        }
        notes.sort_unstable();
        notes.truncate(MAX_LISTED);
        if number > notes.len() {
            notes.push(format!("and {} more", number - notes.len()));
        }
        let what = count(number, "trial");
        Some(format!("note: {what} of `{}` could not be recorded:\n  {}", self.name, notes.join("\n  ")))
    }

    /// Adds the counts of requests without a token to a summary.
    pub fn add_counts(&self, summary: &mut Option<TrafficSummary>) {
        let Counts { by_content, unattributed, unattributed_replayed } = &self.counts;
        let load = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        if load(unattributed) == 0 && summary.is_none() {
            return;
        }
        let summary = summary.get_or_insert_default();
        summary.attributed_by_content = load(by_content);
        summary.unattributed = load(unattributed);
        summary.unattributed_replayed = load(unattributed_replayed);
    }
}

fn all_keys() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().flat_map(|provider| provider.keys).copied()
}

/// Whether this process replaces a key that is not set by a placeholder.
fn has_placeholder_key() -> bool {
    all_keys().any(|name| std::env::var(name).is_ok_and(|value| value == NO_KEY))
}

/// The key that an agent lacks according to its error: the variable in it, or any if none is set.
fn missing_key(error: &str, is_set: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(named) = all_keys().find(|name| error.contains(name)) {
        return (!is_set(named)).then(|| format!("`{named}`"));
    }
    // The variable of something else, such as a tool.
    let mut words = error.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    if words.any(|word| word.ends_with("_API_KEY")) {
        return None;
    }
    let error = error.to_ascii_lowercase();
    let hints =
        ["api key", "api_key", "apikey", "environment variable not found", "notpresent", "been poisoned"];
    let is_of_key = hints.iter().any(|hint| error.contains(hint)) && !all_keys().any(is_set);
    is_of_key.then(|| "the key of your model's provider, such as `OPENAI_API_KEY`,".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_missing_key() {
        let none = |_: &str| false;
        for (error, expected) in [
            ("panicked at evals.rs: OPENAI_API_KEY: NotPresent", Some("`OPENAI_API_KEY`")),
            (
                "no API key for this provider",
                Some("the key of your model's provider, such as `OPENAI_API_KEY`,"),
            ),
            (
                "LazyLock instance has previously been poisoned",
                Some("the key of your model's provider, such as `OPENAI_API_KEY`,"),
            ),
            ("the index is missing", None),
        ] {
            assert_eq!(missing_key(error, none).as_deref(), expected, "{error}");
        }
        let openai = |name: &str| name == "OPENAI_API_KEY";
        assert_eq!(missing_key("set ANTHROPIC_API_KEY", openai).as_deref(), Some("`ANTHROPIC_API_KEY`"));
        for error in ["OPENAI_API_KEY has no access", "this API key is too old"] {
            assert_eq!(missing_key(error, openai), None, "{error}");
        }
    }
}
