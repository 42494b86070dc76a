//! The answers of models that would go.

use std::time::SystemTime;

use cobalt::config::Config;
use cobalt::store::Layout;

use super::entry::{Found, Kind};
use super::folder::{files, folders, is_ours};
use super::limits::Limits;
use crate::error::Error;

/// Looks for them: all, or those that are old, or too old to be used.
pub(super) fn find(settings: &Config, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    let layout = settings.layout();
    if !is_ours(layout.cache(), layout, found) {
        return Ok(());
    }
    let is_expired =
        |time: SystemTime| settings.answers_kept_for().is_some_and(|most| limits.is_older(time, most));
    for folder in folders(layout.cache())? {
        if !Layout::is_answer_folder(&folder.name) {
            continue;
        }
        for file in files(&folder.path())? {
            let entry = if Layout::is_answer(&file.name) { file.entry(Kind::Answer, None)? } else { None };
            found.entries.extend(entry.filter(|entry| limits.is_old(entry.time) || is_expired(entry.time)));
        }
    }
    Ok(())
}
