//! The table `[baseline]`, and the files to compare a run with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::error::ConfigError;
use super::resolve::{Resolver, first_set};
use super::settings::{OnInconclusive, Origin};
use super::variables::{BASELINE, ON_INCONCLUSIVE};
use crate::settings::Age;

/// The default age from which a baseline is reported as old.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The baseline for thresholds that begin with `vs_baseline.`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Baseline {
    /// How to treat inconclusive thresholds: the difference is within noise, or there is no baseline; default "pass", unless a score
    /// dropped by 0.5.
    on_inconclusive: Option<OnInconclusive>,
    /// The age from which a baseline is reported as old; default "30d".
    max_age: Option<Age>,
}

/// The resolved baseline settings.
#[derive(Clone, Debug)]
pub(super) struct BaselineSettings {
    /// The files to choose from; `None` for the experiment's own file in the baselines directory.
    pub(super) files: Option<Vec<PathBuf>>,
    pub(super) on_inconclusive: OnInconclusive,
    /// Whether that is the default.
    pub(super) is_default: bool,
    pub(super) max_age: Duration,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    pub fn baseline(&mut self, written: Baseline) -> Result<BaselineSettings, ConfigError> {
        let any = |files: Vec<PathBuf>| (!files.is_empty()).then_some(files);
        let files = first_set([
            (any(self.flags.baseline()), Origin::Flag),
            (self.baseline_files().and_then(any), Origin::variable(BASELINE)),
        ]);
        let files = files.map(|(files, origin)| {
            self.note("baseline", &files, origin);
            files
        });
        let key = "baseline.on-inconclusive";
        let on_inconclusive = first_set([
            (self.flags.on_inconclusive, Origin::Flag),
            (self.variables.on_inconclusive()?, Origin::variable(ON_INCONCLUSIVE)),
            (written.on_inconclusive, self.origin(key)),
        ]);
        let (on_inconclusive, origin) =
            on_inconclusive.unwrap_or((OnInconclusive::default(), Origin::Default));
        let is_default = origin == Origin::Default;
        self.note(key, &on_inconclusive, origin);
        let Age(max_age) = self.or_default("baseline.max-age", written.max_age, || Age(DEFAULT_MAX_AGE));
        Ok(BaselineSettings { files, on_inconclusive, is_default, max_age })
    }

    /// The paths in the variable; relative ones start at the workspace root.
    fn baseline_files(&self) -> Option<Vec<PathBuf>> {
        let list = self.variables.path(BASELINE)?;
        let is_named = |path: &PathBuf| !path.as_os_str().is_empty();
        Some(std::env::split_paths(&list).filter(is_named).map(|path| self.workspace.join(path)).collect())
    }
}
