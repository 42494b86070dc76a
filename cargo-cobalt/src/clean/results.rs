//! The result files that would go.

use std::collections::HashSet;
use std::time::Duration;

use cobalt::config::Config;
use cobalt::store::{ResultFileName, read_measurements};
use cobalt::wording::count;

use super::entry::{Found, Kind};
use super::folder::{Inside, files, is_ours};
use super::kept::Kept;
use super::limits::Limits;
use crate::baseline::json_files;
use crate::error::Error;
use crate::index::{Run, Skipped};
use crate::terminal::{one_line, seen};

/// How old the draft of a result file is at least, if nobody writes it any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Looks for them, among the files of `whole` runs, of runs of some items, and of those that are no results.
pub(super) fn find(
    settings: &Config,
    whole: &[Run],
    skipped: &[Skipped],
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    let folder = settings.layout().results();
    if !is_ours(folder, settings.layout(), found) {
        return Ok(());
    }
    let whole: HashSet<_> = whole.iter().map(|run| &*run.file).collect();
    let skipped: HashSet<_> = skipped.iter().map(|skipped| &*skipped.file).collect();
    let (mut ids, mut foreign) = (HashSet::new(), 0);
    for file in files(folder)? {
        let Some(name) = ResultFileName::parse(&file.name).filter(|_| !skipped.contains(&*file.name)) else {
            foreign += usize::from(!is_draft(&file.name));
            draft(&file, limits, found)?;
            continue;
        };
        let is_kept = kept.is_some_and(|kept| match whole.contains(&*file.name) {
            true => kept.has(&file.name),
            false => kept.has_partial(name),
        });
        let time = name.time().map(|start| start.time());
        let entry = file.entry(Kind::Result, time)?.filter(|entry| !is_kept && limits.is_old(entry.time));
        if let Some(entry) = entry {
            ids.insert(name.id.to_owned());
            found.entries.push(entry);
        }
    }
    if foreign > 0 {
        let stay = if foreign == 1 { "is no result, and stays" } else { "are no results, and stay" };
        found.notes.push(format!("{} in `{}` {stay}", count(foreign, "file"), seen(folder)));
    }
    baselines(settings, &ids, found)
}

/// What is being written: a dot, the run's id, and `.tmp`.
fn is_draft(name: &str) -> bool {
    let id = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A draft goes that nobody completes.
fn draft(file: &Inside, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    if is_draft(&file.name) {
        let draft = file.entry(Kind::Result, None)?;
        let is_left = |time| limits.is_old(time) && limits.is_older(time, ABANDONED);
        found.entries.extend(draft.filter(|draft| is_left(draft.time)));
    }
    Ok(())
}

/// Says of which baselines the run goes. They are files by themselves.
fn baselines(settings: &Config, ids: &HashSet<String>, found: &mut Found) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    for file in json_files(&settings.layout().baselines())? {
        // One that cannot be read is told of by whatever uses it.
        let baseline = read_measurements(&file, settings.prices()).ok();
        if let Some(baseline) = baseline.filter(|baseline| ids.contains(&baseline.id)) {
            found.notes.push(format!(
                "run {} goes, of which the baseline of `{}` was made; the baseline stays as it is",
                one_line(&baseline.id),
                one_line(&baseline.name),
            ));
        }
    }
    Ok(())
}
