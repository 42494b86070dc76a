//! The copies of data sets that would go: all, or those that were fetched long ago.

use cobalt::store::Layout;

use super::entry::{Entry, Found, Kind};
use super::folder::{files, is_ours};
use super::limits::Limits;
use crate::error::Error;

pub(super) fn find(layout: &Layout, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    let folder = layout.datasets();
    if !is_ours(&folder, layout, found) {
        return Ok(());
    }
    for file in files(&folder)? {
        let entry = file.entry(Kind::Dataset, None)?;
        let is_meant = |entry: &Entry| {
            Layout::is_copy(&file.name) || Layout::is_abandoned_download(&file.name, entry.time)
        };
        found.entries.extend(entry.filter(|entry| is_meant(entry) && limits.is_old(entry.time)));
    }
    Ok(())
}
