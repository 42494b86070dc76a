//! Requests that could not be attributed to an item: still recorded and replayed, in one file for all experiments of a folder.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use cobalt_core::recordings::{
    Interaction, RecordedRequest, RecordingError, RecordingFolder, RequestKey, UNATTRIBUTED,
};
use cobalt_core::timestamp::Timestamp;

use super::lock::lock;

/// Up to this number of new interactions, each is written at once.
const WRITTEN_SINGLY: usize = 200;

/// The recordings of unattributed requests, by the folder of recordings.
#[derive(Debug, Default)]
pub struct Unattributed(Mutex<HashMap<PathBuf, File>>);

#[derive(Debug, Default)]
struct File {
    /// What is recorded, once it is needed, or why it cannot be read.
    recorded: Option<Result<Recorded, String>>,
    /// New interactions that are not written yet.
    new: Vec<Interaction>,
    /// The number of new interactions that are written.
    written: usize,
}

/// The recorded interactions that are not used yet.
#[derive(Debug, Default)]
struct Recorded {
    interactions: Vec<Option<Interaction>>,
    /// Where they are, by the fields that are not compared.
    indexes: HashMap<Vec<String>, Index>,
}

/// The positions of interactions, in order, by their requests and their experiments.
type Index = HashMap<RequestKey, HashMap<Option<String>, VecDeque<usize>>>;

/// An experiment that has sent all that it sends, so its older recordings are of no use.
#[derive(Clone, Copy, Debug)]
pub struct Renewed<'a> {
    pub root: &'a Path,
    pub experiment: &'a str,
    /// When it started.
    pub since: Timestamp,
}

impl Recorded {
    fn read(root: &Path) -> Result<Self, String> {
        let cassette = RecordingFolder::new(root).read(UNATTRIBUTED).map_err(|error| error.to_string())?;
        let trials = cassette.into_iter().flat_map(|cassette| cassette.trials);
        let interactions = trials.flat_map(|trial| trial.interactions).map(Some).collect();
        Ok(Self { interactions, indexes: HashMap::new() })
    }

    fn take(
        &mut self,
        request: &RecordedRequest,
        ignore: &[String],
        experiments: &[&str],
    ) -> Option<Interaction> {
        let Self { interactions, indexes } = self;
        if !indexes.contains_key(ignore) {
            indexes.insert(ignore.to_vec(), index(interactions, ignore));
        }
        let queues = indexes.get_mut(ignore)?.get_mut(&request.key(ignore))?;
        let first = queues.iter_mut().filter_map(|(experiment, queue)| {
            // Another index may have led to it.
            while queue.front().is_some_and(|at| interactions[*at].is_none()) {
                queue.pop_front();
            }
            let fits = experiment.as_deref().is_none_or(|experiment| experiments.contains(&experiment));
            queue.front().copied().filter(|_| fits)
        });
        let first = first.min()?;
        interactions[first].take()
    }

    /// The next interaction whose request differs only in secrets, which may be redacted in one of the two.
    fn take_similar(
        &mut self,
        root: &Path,
        request: &RecordedRequest,
        ignore: &[String],
        experiments: &[&str],
    ) -> Option<Interaction> {
        let folder = RecordingFolder::new(root);
        let read = |hash: &str| folder.read_blob(hash);
        let fits = |interaction: &Interaction| {
            interaction.experiment.as_deref().is_none_or(|experiment| experiments.contains(&experiment))
                && interaction.request.is_same_but_for_secrets(request, &read, ignore)
        };
        self.interactions.iter_mut().find(|interaction| interaction.as_ref().is_some_and(fits))?.take()
    }
}

fn index(interactions: &[Option<Interaction>], ignore: &[String]) -> Index {
    let mut index = Index::new();
    for (at, interaction) in interactions.iter().enumerate() {
        if let Some(interaction) = interaction {
            let queues = index.entry(interaction.request.key(ignore)).or_default();
            queues.entry(interaction.experiment.clone()).or_default().push_back(at);
        }
    }
    index
}

impl Unattributed {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, File>> {
        lock(&self.0)
    }

    /// The next recorded answer to a request, of these experiments or of an unknown one.
    ///
    /// # Errors
    ///
    /// The recording cannot be read.
    pub fn answer(
        &self,
        root: &Path,
        request: &RecordedRequest,
        ignore: &[String],
        experiments: &[&str],
    ) -> Result<Option<Interaction>, String> {
        let mut files = self.lock();
        let file = files.entry(root.to_owned()).or_default();
        match file.recorded.get_or_insert_with(|| Recorded::read(root)) {
            Ok(recorded) => Ok(recorded
                .take(request, ignore, experiments)
                .or_else(|| recorded.take_similar(root, request, ignore, experiments))),
            Err(error) => Err(error.clone()),
        }
    }

    /// Adds a new interaction, and writes it at once, so that a process which is killed loses nothing that was paid for. Large files
    /// are written less often.
    pub fn add(&self, root: &Path, interaction: Interaction) {
        let mut files = self.lock();
        let file = files.entry(root.to_owned()).or_default();
        file.new.push(interaction);
        if file.new.len() * WRITTEN_SINGLY < file.written {
            return;
        }
        // What this process adds is not an answer to its own requests.
        file.recorded.get_or_insert_with(|| Recorded::read(root));
        // `save` tries again, and reports an error.
        if write(&RecordingFolder::new(root).without_sync(), &file.new, None).is_ok() {
            file.written += file.new.len();
            file.new.clear();
        }
    }

    /// Writes what is new, and removes what an experiment no longer needs.
    ///
    /// # Errors
    ///
    /// A file cannot be written. What was to be written is kept.
    pub fn save(&self, renewed: Option<Renewed<'_>>) -> Result<(), RecordingError> {
        let mut files = self.lock();
        if let Some(renewed) =
            renewed.filter(|it| RecordingFolder::new(it.root).cassette(UNATTRIBUTED).exists())
        {
            files.entry(renewed.root.to_owned()).or_default();
        }
        let mut result = Ok(());
        for (root, file) in files.iter_mut() {
            let renewed = renewed.filter(|renewed| renewed.root == root);
            if file.new.is_empty() && renewed.is_none() {
                continue;
            }
            match write(&RecordingFolder::new(root), &file.new, renewed) {
                Ok(()) => file.new.clear(),
                Err(error) => result = result.and(Err(error)),
            }
        }
        result
    }
}

/// Equal requests do not replace each other one by one: an interrupted run, or another process, may have recorded the others.
fn write(
    folder: &RecordingFolder,
    new: &[Interaction],
    renewed: Option<Renewed<'_>>,
) -> Result<(), RecordingError> {
    let is_obsolete = |old: &Interaction| {
        renewed.is_some_and(|it| {
            old.experiment.as_deref() == Some(it.experiment) && old.recorded_at.is_none_or(|at| at < it.since)
        })
    };
    folder.update(UNATTRIBUTED, |cassette| {
        let mut trial = cassette.trials.drain(..).next().unwrap_or_default();
        trial.interactions.retain(|old| !is_obsolete(old));
        trial.interactions.extend_from_slice(new);
        cassette.trials = vec![trial];
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use cobalt_core::recordings::{Body, RecordedResponse};

    use super::*;

    /// A number of seconds after 1970.
    fn at(seconds: u64) -> Timestamp {
        (SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).into()
    }

    fn request(body: &str) -> RecordedRequest {
        let body = Body::of_request(format!("{body:?}").as_bytes());
        RecordedRequest { method: "POST".to_owned(), path: "openai/x".to_owned(), url: None, body }
    }

    fn interaction(body: &str, status: u16, experiment: Option<&str>) -> Interaction {
        Interaction {
            experiment: experiment.map(str::to_owned),
            recorded_at: Some(at(1)),
            request: request(body),
            response: RecordedResponse { status, ..RecordedResponse::default() },
            latency_ms: 1.0,
            model: None,
            tokens: None,
        }
    }

    fn statuses(root: &Path, body: &str, experiment: &str) -> Vec<u16> {
        let recordings = Unattributed::default();
        let next = || recordings.answer(root, &request(body), &[], &[experiment]).unwrap();
        std::iter::from_fn(next).map(|interaction| interaction.response.status).collect()
    }

    #[test]
    fn every_answer_is_given_once_and_those_of_another_process_stay() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let first = Unattributed::default();
        for (status, experiment) in [(200, Some("a")), (201, Some("a")), (202, Some("b")), (203, None)] {
            first.add(root, interaction("hi", status, experiment));
        }
        first.add(root, interaction("bye", 204, Some("a")));
        first.save(None).unwrap();
        assert_eq!(statuses(root, "hi", "a"), [200, 201, 203]);
        let second = Unattributed::default();
        second.add(root, interaction("hi", 300, Some("a")));
        second.save(None).unwrap();
        second.add(root, interaction("hi", 301, None));
        second.save(None).unwrap();
        assert_eq!(statuses(root, "hi", "a"), [200, 201, 203, 300, 301]);
        assert_eq!(statuses(root, "hi", "b"), [202, 203, 301]);
        assert_eq!(statuses(root, "bye", "a"), [204]);
    }

    #[test]
    fn what_an_experiment_no_longer_sends_goes_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let first = Unattributed::default();
        for (body, experiment) in [("hi", "a"), ("bye", "a"), ("hi", "b")] {
            first.add(root, interaction(body, 200, Some(experiment)));
        }
        first.save(None).unwrap();
        let second = Unattributed::default();
        let since = at(2);
        second.add(root, Interaction { recorded_at: Some(at(3)), ..interaction("hi", 300, Some("a")) });
        second.save(None).unwrap();
        assert_eq!(statuses(root, "bye", "a"), [200], "it may still be sent");
        second.save(Some(Renewed { root, experiment: "a", since })).unwrap();
        assert_eq!((statuses(root, "bye", "a"), statuses(root, "hi", "a")), (vec![], vec![300]));
        assert_eq!(statuses(root, "hi", "b"), [200]);
        let since = at(4);
        for experiment in ["a", "b"] {
            Unattributed::default().save(Some(Renewed { root, experiment, since })).unwrap();
        }
        assert!(!root.join("unattributed.json").exists());
    }

    #[test]
    fn a_damaged_recording_is_an_error_and_loses_nothing_that_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("unattributed.json");
        std::fs::write(&file, "{").unwrap();
        let recordings = Unattributed::default();
        recordings.add(dir.path(), interaction("hi", 200, None));
        assert!(recordings.answer(dir.path(), &request("hi"), &[], &[]).is_err());
        assert!(recordings.save(None).is_err());
        std::fs::remove_file(file).unwrap();
        recordings.save(None).unwrap();
        assert_eq!(statuses(dir.path(), "hi", "a"), [200]);
    }
}
