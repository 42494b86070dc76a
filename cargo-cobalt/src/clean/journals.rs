//! The journals that would go: of runs that were cut off, and never of those that are going on.

use cobalt::store::{CutOffJournal, JournalHeader, Layout};
use cobalt::wording::count;

use super::entry::{Found, Kind};
use super::folder::{Inside, files, is_ours};
use super::kept::Kept;
use super::limits::Limits;
use crate::error::Error;
use crate::terminal::seen;

/// How many digits a run's id has.
const ID: usize = 12;

pub(super) fn find(
    layout: &Layout,
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    if !is_ours(&layout.journals(), layout, found) {
        return Ok(());
    }
    let (mut going_on, mut foreign) = (0, 0);
    for file in files(&layout.journals())? {
        if !is_journal(&file.name) {
            foreign += 1;
            continue;
        }
        match CutOffJournal::open(&file.path()) {
            Ok(Some(journal)) => add(&file, journal.header.as_ref(), limits, kept, found)?,
            Ok(None) => going_on += 1,
            // It may have been finished at this moment.
            Err(_) => foreign += usize::from(file.path().exists()),
        }
    }
    if going_on > 0 {
        let stay = if going_on == 1 {
            "is going on, and its journal stays"
        } else {
            "are going on, and their journals stay"
        };
        found.notes.push(format!("{} {stay}", count(going_on, "run")));
    }
    if foreign > 0 {
        let stay = if foreign == 1 {
            "is no journal that this version knows, and stays"
        } else {
            "are no journals that this version knows, and stay"
        };
        found.notes.push(format!("{} in `{}` {stay}", count(foreign, "file"), seen(&layout.journals())));
    }
    Ok(())
}

fn is_journal(name: &str) -> bool {
    let id = name.strip_suffix(".jsonl");
    id.is_some_and(|id| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A journal without its first line is of no use to anybody, and of no experiment that is known.
fn add(
    file: &Inside,
    header: Option<&JournalHeader>,
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    let is_kept = header
        .zip(kept)
        .is_some_and(|(header, kept)| kept.has_cut_off(&header.name, &header.timestamp.to_string()));
    let entry = file.entry(Kind::Journal, None)?;
    found.entries.extend(entry.filter(|entry| !is_kept && limits.is_old(entry.time)));
    Ok(())
}
