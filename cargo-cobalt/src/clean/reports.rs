//! The files of reporters that would go: those that have their usual names, in the usual folder.

use cobalt::config::ReporterKind;
use cobalt::store::Layout;

use super::entry::{Found, Kind};
use super::folder::{files, is_ours};
use super::limits::Limits;
use crate::error::Error;

pub(super) fn find(layout: &Layout, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    if !is_ours(&layout.reports(), layout, found) {
        return Ok(());
    }
    let is_usual = |name: &str| ReporterKind::ALL.iter().any(|kind| kind.file_name() == Some(name));
    for file in files(&layout.reports())? {
        let entry = if is_usual(&file.name) { file.entry(Kind::Report, None)? } else { None };
        found.entries.extend(entry.filter(|entry| limits.is_old(entry.time)));
    }
    Ok(())
}
