//! What an experiment declares about its recordings.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use cobalt_core::item::ItemKeys;
use cobalt_core::recordings::{RecordingFolder, UNATTRIBUTED, cassette_name};
use cobalt_core::reporters::ListedRecordings;
use serde::Serialize;

/// The folder of recordings if none is set, relative to the package.
pub const DEFAULT_FOLDER: &str = "cassettes";

/// The environment variable with the mode.
pub const RECORD_VARIABLE: &str = "COBALT_RECORD";

/// How an experiment uses recordings of model traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordMode {
    /// Requests go to the providers; nothing is recorded.
    Off,
    /// Requests are answered from the recordings; nothing leaves the machine.
    Replay,
    /// Requests go to the providers; everything is recorded again.
    Record,
    /// Requests are answered from the recordings until a conversation diverges. From there on they go to the provider, and the new part
    /// is recorded.
    Auto,
}

impl RecordMode {
    /// The name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Replay => "replay",
            Self::Record => "record",
            Self::Auto => "auto",
        }
    }

    /// Whether requests may be answered from recordings.
    pub(crate) fn replays(self) -> bool {
        matches!(self, Self::Replay | Self::Auto)
    }

    /// Whether new requests are recorded.
    pub(crate) fn records(self) -> bool {
        matches!(self, Self::Record | Self::Auto)
    }
}

impl fmt::Display for RecordMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for RecordMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Off, Self::Replay, Self::Record, Self::Auto];
        let known = all.into_iter().find(|mode| mode.name() == text);
        known.ok_or_else(|| format!("expected `off`, `replay`, `record` or `auto`, not `{text}`"))
    }
}

/// Where an experiment's model traffic is recorded, and what is compared: the value of `record` in
/// [`experiment`](macro@crate::experiment). A path alone is enough.
///
/// ```
/// use cobalt::recording::Recordings;
///
/// let recordings = Recordings::new("cassettes").ignore(["user", "metadata.trace_id"]);
/// assert_eq!(recordings, Recordings::from("cassettes").ignore(["user", "metadata.trace_id"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Recordings {
    pub(crate) folder: PathBuf,
    pub(crate) ignore: Vec<String>,
    pub(crate) mode: Option<RecordMode>,
    pub(crate) allows_no_requests: bool,
}

impl Recordings {
    /// Recordings below a folder, relative to the package; each experiment has a folder of its own in it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ignore: Vec::new(), mode: None, allows_no_requests: false }
    }

    /// Fields of request bodies that are not compared, because they differ each time: dotted paths such as `metadata.trace_id`. A path
    /// continues through each element of a list.
    pub fn ignore<T: Into<String>>(mut self, fields: impl IntoIterator<Item = T>) -> Self {
        self.ignore.extend(fields.into_iter().map(Into::into));
        self
    }

    /// The mode, unless a flag or a variable sets it. Default: what has a recording is replayed, and the rest is recorded; under `CI`,
    /// nothing is recorded.
    pub fn mode(mut self, mode: RecordMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Accepts items whose agent asks no model. Otherwise, an item without a request at the gateway is an error in mode `replay` and in
    /// CI, and a warning elsewhere, as its requests may have bypassed the gateway.
    pub fn allow_no_requests(mut self) -> Self {
        self.allows_no_requests = true;
        self
    }
}

impl<T: Into<PathBuf>> From<T> for Recordings {
    fn from(folder: T) -> Self {
        Self::new(folder)
    }
}

/// The settings of `cobalt.toml`, of flags and of variables that apply to all experiments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordSettings {
    /// The mode of the flag or the variable.
    pub requested: Option<RecordMode>,
    /// The mode of the file.
    pub mode: Option<RecordMode>,
    /// The folder, relative to the package.
    pub folder: Option<PathBuf>,
    /// Further fields that are not compared.
    pub ignore: Vec<String>,
    /// Whether `CI` is set.
    pub is_ci: bool,
    /// Whether failures affect the exit code: with the flag `--ci`.
    pub is_gated: bool,
    /// Recordings that are older are renewed.
    pub stale_after: Option<std::time::Duration>,
}

/// How one experiment uses recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRecording {
    pub mode: RecordMode,
    /// Whether a trial without a recording is recorded although the mode is `replay`, because nobody has chosen the mode.
    pub records_missing: bool,
    /// The folder of all experiments' recordings.
    pub root: PathBuf,
    /// The folder of this experiment's recordings.
    pub folder: PathBuf,
    pub ignore: Vec<String>,
    pub stale_after: Option<std::time::Duration>,
    /// Whether each item must send a request through the gateway, as the experiment declares recordings.
    pub needs_requests: bool,
    /// Whether it runs in CI, where an item without requests is an error.
    pub is_ci: bool,
}

impl RecordSettings {
    /// Resolves a declaration: flag or variable, then the declaration, then the file. An experiment that declares nothing replays if it
    /// has recordings.
    pub fn resolve(&self, experiment: &str, declared: Option<&Recordings>) -> ResolvedRecording {
        let folder = declared.map(|declared| declared.folder.clone()).or_else(|| self.folder.clone());
        let is_declared = folder.is_some();
        let root = cobalt_core::paths::resolve(folder.unwrap_or_else(|| DEFAULT_FOLDER.into()));
        let folder = root.join(cobalt_core::store::file_slug(experiment));
        let unattributed = RecordingFolder::new(&root).cassette(UNATTRIBUTED);
        let exists = folder.is_dir() || is_declared && unattributed.exists();
        let fallback = match (is_declared || exists, exists || self.is_ci) {
            (false, _) => RecordMode::Off,
            (true, true) => RecordMode::Replay,
            (true, false) => RecordMode::Auto,
        };
        let said = self.requested.or_else(|| declared?.mode).or(self.mode);
        let ignore =
            declared.iter().flat_map(|declared| &declared.ignore).chain(&self.ignore).cloned().collect();
        ResolvedRecording {
            mode: said.unwrap_or(fallback),
            records_missing: said.is_none() && !self.is_ci,
            root,
            folder,
            ignore,
            stale_after: self.stale_after,
            needs_requests: declared.is_some_and(|declared| !declared.allows_no_requests),
            is_ci: self.is_ci || self.is_gated,
        }
    }
}

/// The names of the items' cassettes, by the items' keys.
pub fn cassette_names(keys: &ItemKeys) -> Vec<String> {
    keys.iter().map(cassette_name).collect()
}

impl ResolvedRecording {
    /// Whether a run in the mode `replay` would record items that have no recording.
    pub fn would_record(&self, keys: &ItemKeys) -> bool {
        let folder = RecordingFolder::new(&self.folder);
        let is_missing = |name: &String| !folder.cassette(name).exists();
        self.mode == RecordMode::Replay && self.records_missing && cassette_names(keys).iter().any(is_missing)
    }

    /// The recordings for a list of experiments; `None` if there are none. `keys` are those of the items, if they are known.
    pub fn list(&self, keys: Option<&ItemKeys>) -> Option<ListedRecordings> {
        if !self.folder.is_dir() && !RecordingFolder::new(&self.root).cassette(UNATTRIBUTED).exists() {
            return None;
        }
        let unused = keys.and_then(|keys| {
            let used: HashSet<_> = cassette_names(keys).into_iter().collect();
            let files = RecordingFolder::new(&self.folder).cassettes().ok()?;
            let names = files.iter().filter_map(|file| file.file_stem()?.to_str().map(str::to_owned));
            Some(names.filter(|name| !used.contains(name)).collect())
        });
        Some(ListedRecordings { root: self.root.clone(), folder: self.folder.clone(), unused })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(settings: &RecordSettings, declared: Option<&Recordings>) -> RecordMode {
        settings.resolve("an experiment of this test", declared).mode
    }

    #[test]
    fn only_experiments_with_recordings_are_recorded_or_replayed() {
        let dir = tempfile::tempdir().unwrap();
        let declared = Recordings::new(dir.path());
        let (local, ci) =
            (RecordSettings::default(), RecordSettings { is_ci: true, ..RecordSettings::default() });
        assert_eq!(mode(&local, None), RecordMode::Off);
        assert_eq!(mode(&ci, None), RecordMode::Off);
        assert_eq!(mode(&local, Some(&declared)), RecordMode::Auto);
        assert_eq!(mode(&ci, Some(&declared)), RecordMode::Replay);
        std::fs::create_dir(dir.path().join("an-experiment-of-this-test")).unwrap();
        assert_eq!(mode(&local, Some(&declared)), RecordMode::Replay);
        let records_missing = |settings: &RecordSettings, declared: &Recordings| {
            settings.resolve("an experiment of this test", Some(declared)).records_missing
        };
        assert!(records_missing(&local, &declared) && !records_missing(&ci, &declared));
        assert!(!records_missing(&local, &declared.clone().mode(RecordMode::Replay)));
        let folder = Some(dir.path().to_owned());
        assert_eq!(mode(&RecordSettings { folder, ..RecordSettings::default() }, None), RecordMode::Replay);
    }

    #[test]
    fn items_without_a_recording_are_recorded_unless_a_mode_is_set_or_in_ci() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path().join("desk"));
        folder.write("rome", &cobalt_core::recordings::Cassette::new("desk", "rome")).unwrap();
        let would_record = |settings: RecordSettings, keys: &[&str]| {
            let keys: ItemKeys = keys.iter().collect();
            settings.resolve("desk", Some(&Recordings::new(dir.path()))).would_record(&keys)
        };
        assert!(!would_record(RecordSettings::default(), &["rome"]));
        assert!(would_record(RecordSettings::default(), &["rome", "oslo"]));
        assert!(!would_record(RecordSettings { is_ci: true, ..RecordSettings::default() }, &["oslo"]));
        let requested = Some(RecordMode::Replay);
        assert!(!would_record(RecordSettings { requested, ..RecordSettings::default() }, &["oslo"]));
    }

    #[test]
    fn every_item_has_a_visible_file_of_its_own() {
        assert_eq!(
            cassette_names(&["Rome", "rome", "?!", "", "a/b"].into_iter().collect()),
            ["rome-d0d22019", "rome", "item-545f940d", "item-e3b0c442", "a-b-c14cddc0"]
        );
    }

    #[test]
    fn a_flag_overrides_the_declaration_which_overrides_the_file() {
        let settings = |requested| RecordSettings {
            requested,
            mode: Some(RecordMode::Off),
            ..RecordSettings::default()
        };
        let declared = Recordings::new("cassettes").mode(RecordMode::Auto);
        assert_eq!(mode(&settings(Some(RecordMode::Record)), Some(&declared)), RecordMode::Record);
        assert_eq!(mode(&settings(None), Some(&declared)), RecordMode::Auto);
        assert_eq!(mode(&settings(None), None), RecordMode::Off);
        assert!("replays".parse::<RecordMode>().is_err());
    }
}
