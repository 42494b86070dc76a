//! Baseline files: the numbers of a run that later ones are held against, small enough to be kept in git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{CREATE, StoreError, storage};
use super::layout::Layout;
use super::results::{without_mark, write_by_line};
use crate::prices::PriceTable;
use crate::report::{Measurements, Report};

/// Writes the baseline of the run's experiment in place of an earlier one, and returns its path.
///
/// # Errors
///
/// The folder cannot be made, or the file not be written.
pub fn write_baseline(layout: &Layout, run: &Measurements) -> Result<PathBuf, StoreError> {
    let folder = layout.baselines();
    layout.create_folder(&folder).map_err(|source| storage(CREATE, &folder, source))?;
    let path = layout.baseline(&run.name);
    let draft = folder.join(format!(".{}.tmp", run.id));
    write_by_line(&path, &draft, &run.without_items(), &run.items)?;
    Ok(path)
}

/// Reads what a comparison needs, from a baseline file or a result file, one of the original's too.
///
/// # Errors
///
/// The file cannot be read, or is neither; the message names the file, and the line and column.
pub fn read_measurements(path: &Path, prices: &PriceTable) -> Result<Measurements, StoreError> {
    let unfit = |error| unfit(path, &error);
    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    let bytes = without_mark(&bytes);
    let is_baseline = is_baseline(bytes).map_err(unfit)?;
    if is_baseline {
        return serde_json::from_slice(bytes).map_err(unfit);
    }
    let report: Report = serde_json::from_slice(bytes).map_err(unfit)?;
    Ok(Measurements::of(&report, prices))
}

/// The name of the experiment that a baseline file or a result file is of.
pub(crate) fn experiment_of(path: &Path) -> Result<String, StoreError> {
    #[derive(serde::Deserialize)]
    struct Head {
        name: String,
    }

    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    let head: Head = serde_json::from_slice(without_mark(&bytes)).map_err(|error| unfit(path, &error))?;
    Ok(head.name)
}

fn unfit(path: &Path, error: &serde_json::Error) -> StoreError {
    let reason = format!("neither a baseline file nor a result file: {error}");
    storage("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
}

fn is_baseline(bytes: &[u8]) -> serde_json::Result<bool> {
    #[derive(serde::Deserialize)]
    struct Head {
        measurements: Option<Value>,
    }

    Ok(serde_json::from_slice::<Head>(bytes)?.measurements.is_some())
}
