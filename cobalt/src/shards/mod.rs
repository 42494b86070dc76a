//! Runs that are divided among machines: what the shards of an experiment come to as one run.
#![doc = include_str!("../../docs/shards.md")]

mod error;
mod fit;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

pub use self::error::MergeError;
use self::fit::{common, items};
use crate::config::Config;
use crate::prices::PRICES_AS_OF;
use crate::report::{GitState, Report, SCHEMA, Summary};
use crate::session::{Baseline, add_missing, judge};
use crate::store::new_run_id;

/// The report of a shard, and where it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardFile {
    /// The result file, for messages.
    pub path: PathBuf,
    /// The report with its items.
    pub report: Report,
}

/// Joins the reports of an experiment's shards into that of a run of all items, and judges it. It is not written to a file.
///
/// # Errors
///
/// The files are not of shards that fit together, they leave items out, or what the run is held against cannot be read.
pub fn merge(mut files: Vec<ShardFile>, config: &Config) -> Result<Report, MergeError> {
    files.sort_by_key(|file| file.report.shard);
    fit::check(&files)?;
    let mut report = joined(&files)?;
    report.items = items(files)?;
    let duration = Duration::from_millis(report.summary.total_duration_ms);
    let mut thresholds = report
        .config
        .read_thresholds()
        .map_err(|source| MergeError::Thresholds { experiment: report.name.clone(), source })?;
    add_missing(&mut thresholds, config.additional_thresholds());
    report.config.set_thresholds(&thresholds);
    let baseline = Baseline::find(&report.name, config)?;
    judge(&mut report, &thresholds, &baseline, duration, config);
    Ok(report)
}

/// A report without items, and with what can be told without these.
fn joined(files: &[ShardFile]) -> Result<Report, MergeError> {
    let reports = || files.iter().map(|file| &file.report);
    let first = reports().next().ok_or(MergeError::Nothing)?;
    let git = first.git.as_ref().map(|git| GitState {
        commit: git.commit.clone(),
        dirty: reports().any(|report| report.git.as_ref().is_some_and(|git| git.dirty)),
    });
    Ok(Report {
        schema: SCHEMA,
        // The only shard is the whole run already, and keeps its id: its results count once.
        id: if files.len() == 1 { first.id.clone() } else { new_run_id() },
        timestamp: reports().map(|report| report.timestamp).min().unwrap_or(first.timestamp),
        summary: Summary {
            total_duration_ms: reports().map(|report| report.summary.total_duration_ms).max().unwrap_or(0),
            ..Summary::default()
        },
        partial: false,
        shard: None,
        shards: reports().map(|report| report.id.clone()).filter(|_| files.len() > 1).collect(),
        git: git.filter(|_| reports().all(|report| report.git.is_some())),
        sources: common(reports().map(|report| report.sources.as_ref())).cloned(),
        ci_status: None,
        baseline: None,
        prices_as_of: Some(PRICES_AS_OF.to_owned()),
        ..first.without_items()
    })
}
