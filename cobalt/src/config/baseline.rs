//! The table `[baseline]`, and the files that a run is held against.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::error::ConfigError;
use super::merge::{Merge, first};
use super::settings::{OnInconclusive, Origin};
use super::variables::{BASELINE, ON_INCONCLUSIVE};
use crate::settings::Age;

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
