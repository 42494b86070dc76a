//! Requests that could not be attributed to an item: recorded and replayed all the same, in one file for all experiments of a folder.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cobalt_core::recordings::{
    Interaction, RecordedRequest, RecordingError, RecordingFolder, RequestKey, UNATTRIBUTED,
};

/// The recordings of unattributed requests, by the folder of recordings.
#[derive(Debug, Default)]
pub struct Unattributed(Mutex<HashMap<PathBuf, Tape>>);

#[derive(Debug, Default)]
struct Tape {
    /// The recorded interactions, and whether each was used.
    recorded: Vec<(Arc<Interaction>, bool)>,
    /// Why they cannot be read.
    error: Option<String>,
    /// New interactions that are not written yet.
    new: Vec<(Interaction, bool)>,
    /// Requests whose earlier recordings this process has replaced, by experiment.
    replaced: HashSet<(Option<String>, RequestKey)>,
}

impl Tape {
    fn read(root: &Path) -> Self {
        let mut tape = Self::default();
        match RecordingFolder::new(root).read(UNATTRIBUTED) {
            Ok(cassette) => {
                let interactions = cassette.into_iter().flat_map(|cassette| cassette.trials);
                let interactions = interactions.flat_map(|trial| trial.interactions);
                tape.recorded = interactions.map(|interaction| (Arc::new(interaction), false)).collect();
            }
            Err(error) => tape.error = Some(error.to_string()),
        }
        tape
    }
}

impl Unattributed {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Tape>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    ) -> Result<Option<Arc<Interaction>>, String> {
        let mut tapes = self.lock();
        let tape = tapes.entry(root.to_owned()).or_insert_with(|| Tape::read(root));
        if let Some(error) = &tape.error {
            return Err(error.clone());
        }
        let key = request.key(ignore);
        let fits = |interaction: &Interaction| {
            let of_these = |experiment: &String| experiments.contains(&experiment.as_str());
            interaction.experiment.as_ref().is_none_or(of_these) && interaction.request.key(ignore) == key
        };
        let found = tape.recorded.iter_mut().find(|(interaction, used)| !used && fits(interaction));
        Ok(found.map(|(interaction, used)| {
            *used = true;
            Arc::clone(interaction)
        }))
    }

    /// Adds a new interaction. `replaces`: whether it replaces what was recorded for the request before this process.
    pub fn add(&self, root: &Path, interaction: Interaction, replaces: bool) {
        let mut tapes = self.lock();
        let tape = tapes.entry(root.to_owned()).or_insert_with(|| Tape::read(root));
        tape.new.push((interaction, replaces));
    }

    /// Writes what is new.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn save(&self, ignore: &[String]) -> Result<(), RecordingError> {
        let mut tapes = self.lock();
        for (root, tape) in tapes.iter_mut().filter(|(_, tape)| !tape.new.is_empty()) {
            let new = std::mem::take(&mut tape.new);
            let replaced = &mut tape.replaced;
            RecordingFolder::new(root).update(UNATTRIBUTED, |cassette| {
                let mut trial = cassette.trials.drain(..).next().unwrap_or_default();
                for (interaction, replaces) in new {
                    let id = (interaction.experiment.clone(), interaction.request.key(ignore));
                    if replaces && !replaced.contains(&id) {
                        trial.interactions.retain(|old| {
                            (&old.experiment, old.request.key(ignore)) != (&id.0, id.1.clone())
                        });
                        replaced.insert(id);
                    }
                    trial.interactions.push(interaction);
                }
                cassette.trials = vec![trial];
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::recordings::{Body, RecordedResponse};

    use super::*;

    fn request(body: &str) -> RecordedRequest {
        let body = Body::of_request(format!("{body:?}").as_bytes());
        RecordedRequest { method: "POST".to_owned(), path: "openai/x".to_owned(), url: None, body }
    }

    fn interaction(body: &str, status: u16, experiment: Option<&str>) -> Interaction {
        Interaction {
            experiment: experiment.map(str::to_owned),
            recorded_at: None,
            request: request(body),
            response: RecordedResponse { status, ..RecordedResponse::default() },
            latency_ms: 1.0,
            model: None,
            tokens: None,
        }
    }

    fn statuses(root: &Path, body: &str, experiment: &str) -> Vec<u16> {
        let tapes = Unattributed::default();
        let next = || tapes.answer(root, &request(body), &[], &[experiment]).unwrap();
        std::iter::from_fn(next).map(|interaction| interaction.response.status).collect()
    }

    #[test]
    fn every_answer_is_given_once_and_a_new_recording_replaces_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let first = Unattributed::default();
        for (status, experiment) in [(200, Some("a")), (201, Some("a")), (202, Some("b")), (203, None)] {
            first.add(root, interaction("hi", status, experiment), true);
        }
        first.add(root, interaction("bye", 204, Some("a")), true);
        first.save(&[]).unwrap();
        assert_eq!(statuses(root, "hi", "a"), [200, 201, 203]);
        let second = Unattributed::default();
        second.add(root, interaction("hi", 300, Some("a")), true);
        second.save(&[]).unwrap();
        second.add(root, interaction("hi", 301, Some("a")), true);
        second.save(&[]).unwrap();
        assert_eq!(statuses(root, "hi", "a"), [203, 300, 301]);
        assert_eq!(statuses(root, "hi", "b"), [202, 203]);
        assert_eq!(statuses(root, "bye", "a"), [204]);
    }

    #[test]
    fn a_damaged_recording_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("unattributed.json"), "{").unwrap();
        assert!(Unattributed::default().answer(dir.path(), &request("hi"), &[], &[]).is_err());
    }
}
