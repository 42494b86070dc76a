//! What would go, as a table.

use std::time::SystemTime;

use cobalt::report::Timestamp;
use cobalt::reporters::Paint;
use cobalt::wording::count;
use indicatif::BinaryBytes;

use super::entry::{Entry, Kind};
use crate::terminal::{Align, seen, table};

const TITLES: [(&str, Align); 5] = [
    ("what", Align::Left),
    ("files", Align::Right),
    ("size", Align::Right),
    ("oldest (UTC)", Align::Left),
    ("newest (UTC)", Align::Left),
];
const FILE_TITLES: [(&str, Align); 4] =
    [("what", Align::Left), ("size", Align::Right), ("time (UTC)", Align::Left), ("file", Align::Left)];

/// A line for each kind of files and, if they are to be named, one for each file. Empty where there are none.
pub(super) fn listing(entries: &[Entry], by_file: bool, paint: Paint) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows = Kind::ALL.into_iter().filter_map(|kind| row(kind, entries));
    let text = table(TITLES, rows, paint);
    if by_file { format!("{}\n{text}", files(entries, paint)) } else { text }
}

fn row(kind: Kind, entries: &[Entry]) -> Option<[String; 5]> {
    let of_kind: Vec<_> = entries.iter().filter(|entry| entry.kind == kind).collect();
    let times = || of_kind.iter().map(|entry| entry.time);
    Some([
        kind.name().to_owned(),
        of_kind.len().to_string(),
        BinaryBytes(of_kind.iter().map(|entry| entry.size).sum()).to_string(),
        minute(times().min()?),
        minute(times().max()?),
    ])
}

fn files(entries: &[Entry], paint: Paint) -> String {
    let row = |Entry { kind, path, size, time }: &Entry| {
        [kind.name().to_owned(), BinaryBytes(*size).to_string(), minute(*time), seen(path)]
    };
    table(FILE_TITLES, entries.iter().map(row), paint)
}

/// How many files, and how large they are together.
pub(super) fn total(entries: &[Entry]) -> String {
    let size = BinaryBytes(entries.iter().map(|entry| entry.size).sum());
    format!("{} ({size})", count(entries.len(), "file"))
}

fn minute(time: SystemTime) -> String {
    Timestamp::from(time).to_string()[..16].replace('T', " ")
}
