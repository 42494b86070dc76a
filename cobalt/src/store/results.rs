//! Result files: written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::layout::{Layout, storage};
use crate::error::Error;
use crate::report::Report;
use crate::slug::slug;

/// The longest slug in a file name, in bytes: names may be 255 long on the usual file systems.
const LONGEST_SLUG: usize = 120;
/// How a report without items ends; the items go in between.
const NO_ITEMS: &str = "[]\n}";

/// The name of a report's file: start, slug of the experiment's name, id.
#[must_use]
pub fn result_file_name(report: &Report) -> String {
    let name = slug(&report.name, LONGEST_SLUG);
    let name = if name.is_empty() { "experiment".to_owned() } else { name };
    format!("{}_{name}_{}.json", report.timestamp.for_file_name(), report.id)
}

/// Writes a report's file by writing another, syncing it and renaming it, and returns its path.
pub(crate) fn write_report(layout: &Layout, report: &Report) -> Result<PathBuf, Error> {
    // Someone may have tidied up since the run began.
    layout.create()?;
    let path = layout.results().join(result_file_name(report));
    // One process at a time has the run; a draft that it left when it was killed is written over.
    let draft = layout.results().join(format!(".{}.tmp", report.id));
    let written = File::create(&draft).and_then(|file| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        write_json(&mut file, report)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&draft, &path)
    });
    written.map(|()| path.clone()).map_err(|source| {
        // What is left of the draft is of no use; that it cannot be removed either would hide the first reason.
        let _ = fs::remove_file(&draft);
        storage("write", &path, source)
    })
}

/// Indented, but for the items: one a line, so that large files stay small and can be searched by line.
fn write_json(to: &mut impl Write, report: &Report) -> io::Result<()> {
    let head = serde_json::to_string_pretty(&report.without_items())?;
    let head =
        head.strip_suffix(NO_ITEMS).ok_or_else(|| io::Error::other("a report must end with its items"))?;
    to.write_all(head.as_bytes())?;
    to.write_all(b"[")?;
    for (index, item) in report.items.iter().enumerate() {
        to.write_all(if index == 0 { b"\n    " } else { b",\n    " })?;
        serde_json::to_writer(&mut *to, item)?;
    }
    to.write_all(if report.items.is_empty() { b"]\n}\n" } else { b"\n  ]\n}\n" })
}

/// Reads a result file, one of the original's too.
///
/// # Errors
///
/// The file cannot be read, or is no result file; the message names the file, and the line and column.
pub fn read_report(path: &Path) -> Result<Report, Error> {
    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        storage("read", path, io::Error::new(io::ErrorKind::InvalidData, format!("no result file: {error}")))
    })
}
