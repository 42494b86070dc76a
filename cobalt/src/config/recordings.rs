//! The table `[recordings]` and its resolution.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use super::error::ConfigError;
use super::resolve::{Resolver, first_set};
use super::settings::Origin;
use super::variables::RECORD;
use crate::recording::{RecordMode, RecordSettings};
use crate::settings::deserialize_from_str;

/// Recordings of model traffic.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct RecordingsTable {
    /// Folder of recordings, relative to each package. If it is set, every experiment is recorded and replayed; default "cassettes" for
    /// experiments that set `record` or have recordings.
    pub(super) dir: Option<PathBuf>,
    /// Whether to replay or to record; default "replay" if an experiment has recordings or `CI` is set, else "auto". With the
    /// default and without `CI`, trials that have no recording are recorded.
    #[cfg_attr(feature = "schema", schemars(with = "Option<RecordMode>"))]
    pub(super) mode: Option<ModeName>,
    /// Fields of request bodies that are not compared, such as "metadata.trace_id".
    pub(super) ignore: Option<Vec<String>>,
}

/// A mode by its name.
#[derive(Debug)]
pub(super) struct ModeName(RecordMode);

deserialize_from_str! {
    ModeName: "`off`, `replay`, `record` or `auto` in quotes",
    |text| text.parse().map(Self)
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    pub(super) fn recordings(
        &mut self,
        written: RecordingsTable,
        is_gated: bool,
    ) -> Result<RecordSettings, ConfigError> {
        let RecordingsTable { dir, mode, ignore } = written;
        let mode = mode.map(|ModeName(mode)| mode);
        let flag = (self.flags.record, Origin::Flag);
        let variable = (self.variables.record()?, Origin::variable(RECORD));
        let requested = first_set([flag, variable]);
        self.note_written("recordings.dir", dir.as_ref());
        self.note_written("recordings.ignore", ignore.as_ref());
        match &requested {
            Some((mode, origin)) => self.note("recordings.mode", mode, origin.clone()),
            None => self.note_written("recordings.mode", mode.as_ref()),
        }
        let is_off = |value: &str| matches!(value.trim(), "" | "0" | "false");
        Ok(RecordSettings {
            requested: requested.map(|(mode, _)| mode),
            mode,
            folder: dir,
            ignore: ignore.unwrap_or_default(),
            is_ci: self.variables.text("CI").is_some_and(|value| !is_off(&value)),
            is_gated,
            stale_after: self.variables.record_stale()?,
        })
    }
}
