//! What earlier runs of an experiment left: the newest whole one, and the partial ones since.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::layout::{Layout, file_slug, storage};
use super::results::{ResultFileName, read_report};
use crate::error::Error;
use crate::report::Report;

/// The newest whole run of an experiment and the partial ones that started after it, the newest first.
///
/// Of many files only these are read: the names tell the experiment and the second in which a run started.
pub(crate) fn latest_reports(layout: &Layout, experiment: &str) -> Result<Vec<Report>, Error> {
    let mut reports: Vec<Report> = Vec::new();
    let mut start_of_whole = None;
    for (start, path) in files(layout, experiment)? {
        if start_of_whole.as_ref().is_some_and(|whole| *whole != start) {
            break;
        }
        let report = read_report(&path)?;
        // Names that differ may be written alike in names of files.
        if report.name == experiment {
            start_of_whole = start_of_whole.or_else(|| (!report.partial).then_some(start));
            reports.push(report);
        }
    }
    reports.sort_by_key(|report| Reverse(report.timestamp));
    let whole = reports.iter().position(|report| !report.partial);
    reports.truncate(whole.map_or(reports.len(), |place| place + 1));
    Ok(reports)
}

/// The files whose names are those of the experiment's runs, the newest first, each with its start.
fn files(layout: &Layout, experiment: &str) -> Result<Vec<(String, PathBuf)>, Error> {
    let failed = |source| storage("read", layout.results(), source);
    let entries = match fs::read_dir(layout.results()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let slug = file_slug(experiment);
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Some(start) = entry.file_name().to_str().and_then(|name| start(name, &slug)) {
            files.push((start.to_owned(), entry.path()));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// The start in the name of a result file, where it is one of a run of the experiment with this slug.
fn start<'a>(name: &'a str, slug: &str) -> Option<&'a str> {
    ResultFileName::parse(name).filter(|name| name.experiment == slug).map(|name| name.start)
}
