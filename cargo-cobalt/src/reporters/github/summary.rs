//! The summary of the step: a Markdown file that GitHub shows on the page of a run, up to a size.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::formats::fitting;
use crate::formats::markdown::sections;
use crate::results::Results;

/// The most items of an experiment that are told of.
const MOST_ITEMS: usize = 20;
/// GitHub refuses a summary that is larger, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// What is said where not all has room.
const CUT: &str = "\n> The rest has no room in a summary: the reporters `markdown` and `html` write all of it into a file.\n";

/// Adds what a call came to to what the step has written before.
pub(super) fn append(path: &Path, results: &Results) -> io::Result<()> {
    let written = fs::metadata(path).map_or(0, |file| file.len());
    let room = usize::try_from(LARGEST.saturating_sub(written)).unwrap_or(usize::MAX);
    let text = fitting(&sections(results, MOST_ITEMS), room, CUT);
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
