//! Answers of trials in progress, in lines beside their cassette: to write the whole cassette for each of them would take quadratic time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RecordingError;
use super::cassette::{Cassette, Interaction, JudgeAnswer, Trial};
use crate::hash::sha256;

/// The ending of a file of additions.
pub const ADDITIONS_ENDING: &str = ".added.jsonl";
/// The maximum number of trials that additions may have: a damaged line must not take all memory.
const MAX_TRIALS: usize = 1_000_000;

/// An answer of a trial in progress: a line of the file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Addition {
    /// The trial's number, from 0.
    pub run: usize,
    /// A request and its response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// A judge's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeAnswer>,
}

/// The file of a cassette's additions. Its first line is the hash of the cassette to which they belong; a cassette that is written again
/// has all of them.
#[derive(Debug)]
pub struct AdditionsFile {
    path: PathBuf,
    file: File,
}

impl Addition {
    /// Adds it to its trial.
    pub fn add_to(self, cassette: &mut Cassette) {
        if cassette.trial(self.run).is_none() {
            cassette.set_trial(self.run, Trial { partial: true, ..Trial::default() });
        }
        let trial = &mut cassette.trials[self.run];
        trial.interactions.extend(self.interaction);
        trial.judges.extend(self.judge);
    }
}

impl AdditionsFile {
    /// Creates the file of a cassette that was just written.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn create(cassette: &Path) -> Result<Self, RecordingError> {
        let path = path_of(cassette);
        let create = || {
            let hash = sha256(&fs::read(cassette)?);
            let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
            file.write_all(format!("{hash}\n").as_bytes())?;
            Ok(file)
        };
        match create() {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(RecordingError::Io { action: "write", path, source }),
        }
    }

    /// Appends an answer, which then survives the process, but not the machine.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn append(&mut self, addition: &Addition) -> Result<(), RecordingError> {
        let line = serde_json::to_string(addition).map_err(io::Error::from);
        let end = self.file.stream_position();
        let written = line.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        if written.is_err()
            && let Ok(end) = end
        {
            // The next line must not join a part of this one.
            let _ = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::Start(end)));
        }
        written.map_err(|source| RecordingError::Io { action: "write", path: self.path.clone(), source })
    }
}

/// The path of a cassette's additions.
#[must_use]
pub fn path_of(cassette: &Path) -> PathBuf {
    cassette.with_extension("added.jsonl")
}

/// Whether a file has additions to a cassette that is gone or was written again.
pub(super) fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.and_then(|name| name.strip_suffix(ADDITIONS_ENDING)) else { return false };
    let cassette = fs::read(path.with_file_name(format!("{name}.json")));
    let additions = fs::read(path).unwrap_or_default();
    !cassette.is_ok_and(|cassette| additions.starts_with(format!("{}\n", sha256(&cassette)).as_bytes()))
}

/// Adds to a cassette with this content what its file of additions has.
///
/// # Errors
///
/// The file cannot be read, or a line is invalid.
pub(super) fn read_additions(
    path: &Path,
    content: &[u8],
    cassette: &mut Cassette,
) -> Result<(), RecordingError> {
    let path = path_of(path);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(RecordingError::Io { action: "read", path, source }),
    };
    // A killed process may leave an incomplete last line.
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    if lines.next().is_none_or(|hash| hash != sha256(content).as_bytes()) {
        return Ok(());
    }
    for line in lines {
        let addition: Addition = serde_json::from_slice(line)
            .map_err(|source| RecordingError::Invalid { path: path.clone(), source })?;
        if addition.run >= MAX_TRIALS {
            let source = serde::de::Error::custom(format!("trial {} is out of range", addition.run));
            return Err(RecordingError::Invalid { path, source });
        }
        addition.add_to(cassette);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recordings::RecordingFolder;

    fn addition(run: usize, path: &str) -> Addition {
        let interaction = json!({ "request": { "method": "POST", "path": path, "json": { "b": 1, "a": 2 } },
            "response": { "status": 200, "json": { "b": 1, "a": 2 } }, "latencyMs": 1.0 });
        Addition { run, interaction: Some(serde_json::from_value(interaction).unwrap()), judge: None }
    }

    fn paths(folder: &RecordingFolder) -> Vec<Vec<String>> {
        let cassette = folder.read("one").unwrap().unwrap();
        let of = |trial: &Trial| trial.interactions.iter().map(|it| it.request.path.clone()).collect();
        cassette.trials.iter().map(of).collect()
    }

    #[test]
    fn additions_are_read_with_their_cassette() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        let mut cassette = Cassette::new("desk", "one");
        addition(0, "a").add_to(&mut cassette);
        folder.write("one", &cassette).unwrap();
        let path = folder.cassette("one");
        let mut file = AdditionsFile::create(&path).unwrap();
        file.append(&addition(0, "b")).unwrap();
        file.append(&addition(1, "c")).unwrap();
        assert_eq!(paths(&folder), [vec!["a", "b"], vec!["c"]]);
        assert!(folder.read("one").unwrap().unwrap().trials[1].partial);

        // The process was killed while it wrote.
        let text = fs::read_to_string(path_of(&path)).unwrap();
        fs::write(path_of(&path), text.clone() + "{\"run\":0,\"inter").unwrap();
        assert_eq!(paths(&folder), [vec!["a", "b"], vec!["c"]]);
        fs::write(path_of(&path), text + "{\"run\":0,\"inter\n").unwrap();
        let error = folder.read("one").unwrap_err().to_string();
        assert!(error.contains("one.added.jsonl` is not a valid recording"), "{error}");
    }

    #[test]
    fn written_cassettes_have_no_additions() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        let mut cassette = Cassette::new("desk", "one");
        addition(0, "a").add_to(&mut cassette);
        let path = folder.cassette("one");
        for is_restored in [false, true] {
            folder.write("one", &cassette).unwrap();
            AdditionsFile::create(&path).unwrap().append(&addition(0, "b")).unwrap();
            assert!(!is_left_over(&path_of(&path)));
            let file = fs::read(path_of(&path)).unwrap();
            addition(0, "b").add_to(&mut cassette);
            folder.write("one", &cassette).unwrap();
            assert!(!path_of(&path).exists());
            if is_restored {
                // The process was killed before it was removed.
                fs::write(path_of(&path), file).unwrap();
                assert!(is_left_over(&path_of(&path)));
            }
            assert_eq!(paths(&folder)[0].len(), cassette.trials[0].interactions.len());
        }
        folder.remove("one").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
