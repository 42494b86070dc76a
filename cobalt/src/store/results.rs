//! Result files: written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::layout::{Layout, file_slug, storage};
use crate::error::Error;
use crate::report::Report;

/// How a file without items ends; the items go in between.
const NO_ITEMS: &str = "[]\n}";

/// The name of a report's file: start, slug of the experiment's name, id.
#[must_use]
pub fn result_file_name(report: &Report) -> String {
    format!("{}_{}_{}.json", report.timestamp.for_file_name(), file_slug(&report.name), report.id)
}

/// Writes a report's file by writing another, syncing it and renaming it, and returns its path.
///
/// # Errors
///
/// The folder cannot be made, or the file not be written.
pub fn write_report(layout: &Layout, report: &Report) -> Result<PathBuf, Error> {
    // Someone may have tidied up since the run began.
    layout.create()?;
    let path = layout.results().join(result_file_name(report));
    // One process at a time has the run; a draft that it left when it was killed is written over.
    let draft = layout.results().join(format!(".{}.tmp", report.id));
    write_by_line(&path, &draft, &report.without_items(), &report.items)?;
    Ok(path)
}

/// Writes a file whole or not at all: indented, but for the items, which stand one a line, so that large files stay small
/// and can be searched by line. `head` must end with its items, and have none.
pub(super) fn write_by_line(
    path: &Path,
    draft: &Path,
    head: &impl Serialize,
    items: &[impl Serialize],
) -> Result<(), Error> {
    let written = File::create(draft).and_then(|file| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        write_json(&mut file, head, items)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(draft, path)
    });
    written.map_err(|source| {
        // What is left of the draft is of no use; that it cannot be removed either would hide the first reason.
        let _ = fs::remove_file(draft);
        storage("write", path, source)
    })
}

fn write_json(to: &mut impl Write, head: &impl Serialize, items: &[impl Serialize]) -> io::Result<()> {
    let head = serde_json::to_string_pretty(head)?;
    let head =
        head.strip_suffix(NO_ITEMS).ok_or_else(|| io::Error::other("a file must end with its items"))?;
    to.write_all(head.as_bytes())?;
    to.write_all(b"[")?;
    for (index, item) in items.iter().enumerate() {
        to.write_all(if index == 0 { b"\n    " } else { b",\n    " })?;
        serde_json::to_writer(&mut *to, item)?;
    }
    to.write_all(if items.is_empty() { b"]\n}\n" } else { b"\n  ]\n}\n" })
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
