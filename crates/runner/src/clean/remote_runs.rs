//! `cargo cobalt clean --remote`: lists and deletes old runs of the team's remote store.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;

use cobalt::command::config::Config;
use cobalt_core::reporters::Style;
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::is_confirmed;
use crate::cli::{Clean, Since};
use crate::error::Error;
use crate::remote::{Leftovers, Remote, RemoteEntry, RemoteError, RemoteRetention};
use crate::runs::format_minute;
use crate::terminal::{Align, eprint_wrapped, one_line, paint, print, table};

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
    let leftovers = remote.leftovers(&index, arguments.older_than.map(Since::time))?;
    if leftovers.unlisted > 0 {
        eprint_wrapped(&format!(
            "note: keeping {} without an index entry; list them again with `cargo cobalt push --rebuild-index`",
            count(leftovers.unlisted, "result file")
        ));
    }
    if old.is_empty() && leftovers.objects.is_empty() {
        eprintln!("Nothing to delete.");
        return Ok(ExitCode::SUCCESS);
    }
    print(&listing(&old, arguments.files, paint(&io::stdout()))).map_err(Error::Print)?;
    if !leftovers.objects.is_empty() {
        let text = format!("{} of deleted runs, unfinished pushes and old shards\n", objects(&leftovers));
        print(&text).map_err(Error::Print)?;
    }
    let url = one_line(remote.url());
    if arguments.yes || is_confirmed(&format!("{} from `{url}`", total(&old, &leftovers)))? {
        let removal = remote.remove(&index, &old)?;
        let removed = format!("Removed {} of {} from `{url}`", removal.runs, count(old.len(), "run"));
        if let Some(error) = removal.error {
            eprint_wrapped(&format!("{removed}; to delete the others, repeat the command"));
            return Err(error.into());
        }
        remote.delete_all(&leftovers.objects)?;
        eprintln!("Removed {} from `{url}`", total(&old, &leftovers));
    }
    Ok(ExitCode::SUCCESS)
}

/// The number and the size of what is deleted.
fn total(entries: &[RemoteEntry], leftovers: &Leftovers) -> String {
    let runs =
        (!entries.is_empty()).then(|| format!("{} ({})", count(entries.len(), "run"), size(entries.iter())));
    let rest = (!leftovers.objects.is_empty()).then(|| objects(leftovers));
    runs.into_iter().chain(rest).collect::<Vec<_>>().join(" and ")
}

fn objects(leftovers: &Leftovers) -> String {
    let size = BinaryBytes(leftovers.objects.iter().map(|object| object.bytes).sum());
    format!("{} ({size})", count(leftovers.objects.len(), "object"))
}

fn size<'a>(entries: impl Iterator<Item = &'a RemoteEntry>) -> BinaryBytes {
    BinaryBytes(entries.map(RemoteEntry::stored_bytes).fold(0, u64::saturating_add))
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
    if entries.is_empty() {
        return String::new();
    }
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
