//! `cargo cobalt clean --remote`: lists and deletes old runs of the team's remote store.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;

use cobalt::command::config::Config;
use cobalt_core::reporters::Style;
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::is_confirmed;
use crate::cli::Clean;
use crate::error::Error;
use crate::remote::{Remote, RemoteEntry, RemoteError, RemoteRetention};
use crate::runs::format_minute;
use crate::terminal::{Align, one_line, paint, print, table};

pub fn clean(arguments: &Clean, settings: &Config) -> Result<ExitCode, Error> {
    let retention = RemoteRetention {
        before: arguments.older_than.map(|age| age.timestamp()),
        keep: arguments.keep.map(usize::from),
    };
    if retention.before.is_none() && retention.keep.is_none() {
        let why = "`--remote` needs `--older-than AGE`, such as `--older-than 90d`, or `--keep N`";
        return Err(Error::Arguments(why.to_owned()));
    }
    let remote = Remote::open(settings)?;
    let index = remote.sync(settings.layout())?;
    let old = retention.select(index.entries().map_err(RemoteError::from)?);
    if old.is_empty() {
        eprintln!("Nothing to delete.");
        return Ok(ExitCode::SUCCESS);
    }
    print(&listing(&old, arguments.verbose, paint(&io::stdout()))).map_err(Error::Print)?;
    let total = total(&old);
    if arguments.yes || is_confirmed(&format!("{total} from `{}`", one_line(remote.url())))? {
        remote.remove(&index, &old)?;
        eprintln!("Removed {total} from `{}`", one_line(remote.url()));
    }
    Ok(ExitCode::SUCCESS)
}

fn total(entries: &[RemoteEntry]) -> String {
    format!("{} ({})", count(entries.len(), "run"), size(entries.iter()))
}

fn size<'a>(entries: impl Iterator<Item = &'a RemoteEntry>) -> BinaryBytes {
    BinaryBytes(entries.map(RemoteEntry::stored_bytes).sum())
}

const TITLES: [(&str, Align); 6] = [
    ("name", Align::Left),
    ("branch", Align::Left),
    ("runs", Align::Right),
    ("size", Align::Right),
    ("oldest (UTC)", Align::Left),
    ("newest (UTC)", Align::Left),
];
const RUN_TITLES: [(&str, Align); 5] = [
    ("id", Align::Left),
    ("start (UTC)", Align::Left),
    ("name", Align::Left),
    ("branch", Align::Left),
    ("size", Align::Right),
];

/// A line per experiment and branch and, with `by_run`, one per run before. `entries` are oldest first.
fn listing(entries: &[RemoteEntry], by_run: bool, paint: Style) -> String {
    let branch = |entry: &RemoteEntry| one_line(entry.run.git_branch.as_deref().unwrap_or("-"));
    let mut groups = BTreeMap::<_, Vec<&RemoteEntry>>::new();
    for entry in entries {
        groups.entry((one_line(&entry.run.name), branch(entry))).or_default().push(entry);
    }
    let start = |entry: Option<&&RemoteEntry>| {
        entry.map_or_else(String::new, |entry| format_minute(&entry.run.timestamp))
    };
    let rows = groups.into_iter().map(|((name, branch), runs)| {
        let bytes = size(runs.iter().copied()).to_string();
        [name, branch, runs.len().to_string(), bytes, start(runs.first()), start(runs.last())]
    });
    let summary = table(TITLES, rows, paint);
    if !by_run {
        return summary;
    }
    let run = |entry: &RemoteEntry| {
        let bytes = BinaryBytes(entry.stored_bytes()).to_string();
        let RemoteEntry { run, .. } = entry;
        [run.id.clone(), format_minute(&run.timestamp), one_line(&run.name), branch(entry), bytes]
    };
    format!("{}\n{summary}", table(RUN_TITLES, entries.iter().map(run), paint))
}
