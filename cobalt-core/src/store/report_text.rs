//! The text of result files and baseline files: one item per line, or without items if these are in parts.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::error::{StoreError, storage_error};
use super::parts::PartsIndex;
use crate::atomic_write::{self, Draft};
use crate::report::{Report, SCHEMA_OF_PARTS};

/// The end of a file without items; the items are inserted in between.
const EMPTY_ITEMS_END: &str = "[]\n}";

/// Strips the UTF-8 byte order mark that some editors and shells add.
#[must_use]
pub fn strip_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Writes a file atomically: indented, but with one item per line, which keeps large files small and searchable by line. `head`
/// must end with an empty list of items.
pub fn write_items_by_line(
    path: &Path,
    draft: &Path,
    head: &impl Serialize,
    items: impl Iterator<Item = impl Serialize>,
) -> Result<(), StoreError> {
    write_atomically(path, draft, |file| write_json(file, head, items.map(Ok)))
}

/// Writes a file atomically, using a draft that is synced and renamed.
pub fn write_atomically(
    path: &Path,
    draft: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), StoreError> {
    atomic_write::write_atomically(path, draft, write).map_err(|source| storage_error("write", path, source))
}

/// Writes the draft of the result file of a run whose items are in parts. `head` has no items.
///
/// Versions of Cobalt that know no parts would take the run for one without items. They refuse the file, as its items are a text, and
/// their error has that text.
pub fn write_draft_of_head(draft: &Path, head: &Report, parts: &PartsIndex) -> io::Result<Draft> {
    let head = Report { schema: SCHEMA_OF_PARTS, ..head.without_items() };
    let note = format!("kept in parts, in `{}`; update Cobalt to read them", parts.file);
    atomic_write::write_draft(draft, |file| {
        write_before_items(file, &head)?;
        write!(file, "{},\n  \"parts\": ", serde_json::to_string(&note)?)?;
        serde_json::to_writer(&mut *file, parts)?;
        file.write_all(b"\n}\n")
    })
}

fn write_before_items(to: &mut impl Write, head: &impl Serialize) -> io::Result<()> {
    let head = serde_json::to_string_pretty(head)?;
    let head = head
        .strip_suffix(EMPTY_ITEMS_END)
        .ok_or_else(|| io::Error::other("a file must end with its items"))?;
    to.write_all(head.as_bytes())
}

pub fn write_json<T: Serialize>(
    to: &mut impl Write,
    head: &impl Serialize,
    items: impl Iterator<Item = io::Result<T>>,
) -> io::Result<()> {
    write_before_items(to, head)?;
    let mut is_empty = true;
    to.write_all(b"[")?;
    for item in items {
        to.write_all(if is_empty { b"\n    " } else { b",\n    " })?;
        serde_json::to_writer(&mut *to, &item?)?;
        is_empty = false;
    }
    to.write_all(if is_empty { b"]\n}\n" } else { b"\n  ]\n}\n" })
}
