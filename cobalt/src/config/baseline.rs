//! The table `[baseline]`, and the files that a run is held against.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::error::ConfigError;
use super::find::Flags;
use super::merge::{Merge, first};
use super::settings::Origin;
use super::variables::{BASELINE, ON_INCONCLUSIVE};
use crate::settings::{Age, Text};

/// How old a baseline may be before it is said to be old, unless something is set.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What a run is held against by thresholds that begin with `vs_baseline.`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Baseline {
    /// What becomes of a threshold of which noise may hide whether it is met, or that has no baseline; "pass" unless it is
    /// set.
    on_inconclusive: Option<OnInconclusive>,
    /// How old a baseline may be before it is said to be old; "30d" unless it is set.
    max_age: Option<Age>,
}

/// The settings of baselines that are in force.
#[derive(Clone, Debug)]
pub(super) struct BaselineSettings {
    /// The files to choose from; absent where the experiment's own in the folder of baselines counts.
    pub(super) files: Option<Vec<PathBuf>>,
    pub(super) on_inconclusive: OnInconclusive,
    pub(super) max_age: Duration,
}

/// What becomes of a threshold against a baseline that is neither met nor missed beyond noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnInconclusive {
    /// It passes, and says so.
    #[default]
    Pass,
    /// It fails.
    Fail,
}

impl FromStr for OnInconclusive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "pass" => Ok(Self::Pass),
            "fail" => Ok(Self::Fail),
            _ => Err(format!("expected `pass` or `fail`, not `{text}`")),
        }
    }
}

/// As it is written in the file.
impl fmt::Display for OnInconclusive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        })
    }
}

impl<'de> Deserialize<'de> for OnInconclusive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text { expected: "`pass` or `fail` in quotes", read: str::parse })
    }
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub fn baseline(&mut self, written: Baseline) -> Result<BaselineSettings, ConfigError> {
        let any = |files: Vec<PathBuf>| (!files.is_empty()).then_some(files);
        let files = first([
            (any(self.flags.baseline()), Origin::Flag),
            (self.baseline_files().and_then(any), Origin::variable(BASELINE)),
        ]);
        let files = files.map(|(files, origin)| {
            self.note("baseline", &files, origin);
            files
        });
        let key = "baseline.on-inconclusive";
        let on_inconclusive = first([
            (self.flags.on_inconclusive, Origin::Flag),
            (self.variables.on_inconclusive()?, Origin::variable(ON_INCONCLUSIVE)),
            (written.on_inconclusive, self.origin(key)),
        ]);
        let (on_inconclusive, origin) =
            on_inconclusive.unwrap_or((OnInconclusive::default(), Origin::Default));
        self.note(key, &on_inconclusive, origin);
        let Age(max_age) = self.or_default("baseline.max-age", written.max_age, || Age(DEFAULT_MAX_AGE));
        Ok(BaselineSettings { files, on_inconclusive, max_age })
    }

    /// The paths in the variable, which begin at the root of the workspace where they are relative.
    fn baseline_files(&self) -> Option<Vec<PathBuf>> {
        let list = self.variables.path(BASELINE)?;
        let is_named = |path: &PathBuf| !path.as_os_str().is_empty();
        Some(std::env::split_paths(&list).filter(is_named).map(|path| self.workspace.join(path)).collect())
    }
}

impl Flags {
    /// The files of baselines to choose from, as absolute paths.
    pub(super) fn baseline(&self) -> Vec<PathBuf> {
        self.baseline.iter().map(|path| absolute(path)).collect()
    }

    /// The same in one text, as `PATH` has it.
    pub(super) fn baseline_list(&self) -> Result<OsString, ConfigError> {
        let paths = self.baseline();
        std::env::join_paths(&paths).map_err(|error| ConfigError::BaselinePath { reason: error.to_string() })
    }
}

/// A path of a flag, which begins at the current folder.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
