//! A file that may be a result file, and what it is if not.

use std::fs;
use std::path::Path;

use cobalt::Report;
use cobalt::store::{check_report, read_journal, without_mark};
use serde::Deserialize;
use serde_json::Value;

/// The longest id, in characters: it becomes a part of a file's name.
const LONGEST_ID: usize = 64;

/// A file that holds the report of a run.
pub(super) struct ResultFile {
    pub(super) report: Report,
    /// The whole file.
    pub(super) bytes: Vec<u8>,
}

impl ResultFile {
    /// Reads a file, or says what is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("failed to read it: {error}"))?;
        let report = serde_json::from_slice::<Report>(without_mark(&bytes));
        let report = report.map_err(|error| other(&bytes, &error))?;
        check(&report)?;
        check_report(&bytes, &report).map_err(|damage| damage.to_string())?;
        Ok(Self { report, bytes })
    }

    /// Whether another file holds the same, however it is written.
    pub(super) fn is_same_as(&self, other: &Path) -> bool {
        let value = |bytes: &[u8]| serde_json::from_slice::<Value>(without_mark(bytes)).ok();
        fs::read(other).is_ok_and(|other| other == self.bytes || value(&other) == value(&self.bytes))
    }
}

/// Refuses what would be no run, or no file.
fn check(report: &Report) -> Result<(), String> {
    let id = &report.id;
    // Behind the last `_` of a file's name stands the id.
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '-';
    if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(fits) {
        return Err(format!("its id `{id}` is none: it must have 1 to {LONGEST_ID} letters, digits or `-`"));
    }
    if report.name.trim().is_empty() {
        return Err("its `name` is empty, and it is the name of an experiment".to_owned());
    }
    Ok(())
}

/// What a file is that is no result file.
fn other(bytes: &[u8], error: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Baseline {
        measurements: u32,
        name: String,
    }

    if let Ok(journal) = read_journal(bytes) {
        let id = journal.header.id;
        return format!(
            "it is the journal of run {id}, which has not ended; put it into `.cobalt/runs`, and \
             `cargo cobalt run --resume {id}` goes on with it"
        );
    }
    match serde_json::from_slice::<Baseline>(without_mark(bytes)) {
        Ok(Baseline { measurements: 1.., name }) => format!(
            "it is a baseline of `{name}`, with the numbers of a run alone; `--baseline PATH` holds runs against it, and in \
             `.cobalt/baselines` it is the one of its experiment"
        ),
        _ => format!("it is no result file: {error}"),
    }
}
