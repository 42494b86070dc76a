//! The recordings of one experiment.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cobalt_core::recordings::{Cassette, JudgeAnswer, RecordingError, RecordingFolder, Trial};
use cobalt_core::report::TrafficSummary;
use cobalt_core::timestamp::Timestamp;

use super::settings::{RecordMode, ResolvedRecording, cassette_names};

impl RecordMode {
    /// Whether requests may be answered from recordings.
    pub fn replays(self) -> bool {
        matches!(self, Self::Replay | Self::Auto)
    }

    /// Whether new requests are recorded.
    pub fn records(self) -> bool {
        matches!(self, Self::Record | Self::Auto)
    }
}

/// The cassette of an item in work, if it has one.
pub type OpenCassette = Arc<Mutex<Option<Cassette>>>;

/// The model traffic of one experiment.
#[derive(Debug)]
pub struct ExperimentTraffic {
    name: String,
    settings: ResolvedRecording,
    folder: RecordingFolder,
    /// The names of the items' cassettes.
    cassettes: Vec<String>,
    keys: Arc<[Arc<str>]>,
    runs: usize,
    /// The cassette of each item in work; one trial after another uses it.
    open: Mutex<HashMap<usize, OpenCassette>>,
    /// The files of all recorded judges' answers by their question, read when an answer is missing.
    judges: OnceLock<HashMap<String, Vec<PathBuf>>>,
    counts: Counts,
}

/// Counts of requests without a token.
#[derive(Debug, Default)]
pub struct Counts {
    pub by_content: AtomicUsize,
    pub unattributed: AtomicUsize,
    pub unattributed_replayed: AtomicUsize,
}

impl ExperimentTraffic {
    pub fn new(name: &str, settings: ResolvedRecording, keys: Arc<[Arc<str>]>, runs: usize) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            folder: RecordingFolder::new(&settings.folder),
            settings,
            cassettes: cassette_names(&keys),
            keys,
            runs,
            open: Mutex::default(),
            judges: OnceLock::new(),
            counts: Counts::default(),
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

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The path of an item's cassette, relative to the package.
    pub fn cassette_for_display(&self, index: usize) -> String {
        let path = self.folder.cassette(&self.cassettes[index]);
        let package = cobalt_core::paths::package_root();
        path.strip_prefix(&package).unwrap_or(&path).display().to_string()
    }

    /// Whether a trial is so old that it is recorded again.
    fn is_stale(&self, cassette: &Cassette, run: usize) -> bool {
        let Some(most) = self.settings.stale_after else { return false };
        let recorded = cassette.trials.get(run).and_then(|trial| trial.recorded_at);
        let age = |at: Timestamp| Timestamp::now().time().duration_since(at.time()).unwrap_or_default();
        recorded.is_some_and(|at| age(at) > most)
    }

    /// How a trial uses its recording, and the recording.
    pub fn recording_of(
        &self,
        index: usize,
        run: usize,
    ) -> Result<(RecordMode, OpenCassette), RecordingError> {
        let open = self.open(index)?;
        let is_stale = open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(|cassette| self.is_stale(cassette, run));
        Ok((if is_stale && self.mode().replays() { RecordMode::Record } else { self.mode() }, open))
    }

    /// The cassette of an item in work.
    fn open(&self, index: usize) -> Result<OpenCassette, RecordingError> {
        if let Some(open) = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(&index) {
            return Ok(Arc::clone(open));
        }
        let read = match self.mode() {
            RecordMode::Off => None,
            _ => self.folder.read(&self.cassettes[index])?,
        };
        let opened = Arc::new(Mutex::new(read));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(index, Arc::clone(&opened));
        Ok(opened)
    }

    /// Ends the work on an item.
    pub fn close(&self, index: usize) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
    }

    /// Writes what is new in a trial.
    pub fn write(
        &self,
        (index, run): (usize, usize),
        mode: RecordMode,
        trial: Option<Trial>,
        judges: Vec<JudgeAnswer>,
    ) -> Result<(), RecordingError> {
        let open = self.open(index)?;
        let mut cassette = open.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cassette.take();
        let mut now = before.unwrap_or_else(|| Cassette::new(&self.name, &self.keys[index]));
        now.experiment.clone_from(&self.name);
        now.item = self.keys[index].to_string();
        if let Some(trial) = trial {
            now.set_trial(run, trial);
        }
        if mode == RecordMode::Record {
            now.trials.truncate(self.runs);
            // Answers of earlier recordings are not asked for any more, as far as this trial knows; the first trial decides.
            if run == 0 {
                now.judges.clear();
            }
        }
        for answer in judges {
            now.judges.retain(|known| (&known.key, &known.model) != (&answer.key, &answer.model));
            now.judges.push(answer);
        }
        now.judges.sort_by(|one, other| (&one.key, &one.model).cmp(&(&other.key, &other.model)));
        let name = &self.cassettes[index];
        if !now.is_empty() {
            self.folder.write(name, &now)?;
        } else if self.folder.cassette(name).exists() {
            self.folder.remove(name)?;
        }
        *cassette = Some(now);
        Ok(())
    }

    /// A judge's answer that is recorded with another item, as a question may be asked once for all.
    pub fn judge_answer_of_other_item(&self, key: &str, model: &str, is_chosen: bool) -> Option<JudgeAnswer> {
        let files = self.judges.get_or_init(|| self.index_judges());
        let answers = files.get(key)?.iter().filter_map(|path| RecordingFolder::read_file(path).ok()?);
        let fits = |answer: &JudgeAnswer| answer.key == key && (answer.model == model || !is_chosen);
        answers.flat_map(|cassette| cassette.judges).find(fits)
    }

    fn index_judges(&self) -> HashMap<String, Vec<PathBuf>> {
        let mut files: HashMap<String, Vec<PathBuf>> = HashMap::new();
        // A file that cannot be read is an error of its own item.
        for path in self.folder.cassettes().unwrap_or_default() {
            let Ok(Some(cassette)) = RecordingFolder::read_file(&path) else { continue };
            for answer in cassette.judges {
                files.entry(answer.key).or_default().push(path.clone());
            }
        }
        files
    }

    /// Adds the counts of requests without a token to a summary.
    pub fn add_counts(&self, summary: &mut Option<TrafficSummary>) {
        let Counts { by_content, unattributed, unattributed_replayed } = &self.counts;
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        if count(unattributed) == 0 && summary.is_none() {
            return;
        }
        let summary = summary.get_or_insert_default();
        summary.attributed_by_content = count(by_content);
        summary.unattributed = count(unattributed);
        summary.unattributed_replayed = count(unattributed_replayed);
    }
}
