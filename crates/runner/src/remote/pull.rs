//! `cargo cobalt pull`: copies runs from the remote store into the results folder.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use cobalt::command::config::{Config, Flags};
use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::local_index::RemoteIndex;
use super::parallel;
use super::push::chosen;
use super::shared_files::SharedCount;
use super::store::Remote;
use super::transfer::{Transfer, Transferred};
use crate::cli::Pull;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, IndexedRun, RunFilter};
use crate::runs::{KnownRuns, RunLabels, read_labels, write_labels};
use crate::terminal::{eprint_wrapped, one_line, print};

pub fn pull(arguments: &Pull, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let layout = settings.layout();
    let remote = Remote::open(&settings)?;
    let mut index = remote.sync(layout)?;
    if arguments.recordings || arguments.cache {
        return pull_shared(arguments, &settings, &remote, &mut index);
    }
    let incomplete = index.incomplete(remote.url()).filter(|_| arguments.runs.is_empty());
    let entries = match arguments.runs.is_empty() {
        true => matching(arguments, &index, &remote)?,
        false => named(arguments, &index, layout, &remote)?,
    };
    let (local, _) = Index::open(layout)?.all_runs()?;
    let local: HashMap<_, _> =
        local.whole.into_iter().chain(local.partial).map(|run| (run.id, run.file)).collect();
    layout
        .create_folder(layout.results())
        .map_err(|source| Error::Folder { path: layout.results().to_owned(), source })?;
    let tasks: Vec<_> = entries
        .into_iter()
        .map(|entry| {
            let path = local.get(&entry.run.id).map(|file| layout.results().join(file));
            RunToPull { entry, local: path, is_named: !arguments.runs.is_empty() }
        })
        .collect();
    let pulled = pull_runs(&tasks, &remote, layout)?;
    incomplete.map_or(Ok(pulled), |error| Err(error.into()))
}

/// Pulls recordings and cached model responses.
fn pull_shared(
    arguments: &Pull,
    settings: &Config,
    remote: &Remote,
    index: &mut RemoteIndex,
) -> Result<ExitCode, Error> {
    for shared in chosen(arguments.recordings, arguments.cache, settings) {
        let SharedCount { files, different } = remote.pull_shared(&shared, index)?;
        let note = match different {
            0 => String::new(),
            _ => format!("; {different} skipped: local content differs"),
        };
        let files = count(files, shared.noun());
        print(&format!("{files} pulled from `{}`{note}\n", one_line(remote.url()))).map_err(Error::Print)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A run of the store that is wanted.
struct RunToPull {
    entry: RemoteEntry,
    /// The result file of this machine, if it has the run.
    local: Option<PathBuf>,
    /// Whether the user named the run.
    is_named: bool,
}

/// Pulls runs, and prints each when it is done.
fn pull_runs(runs: &[RunToPull], remote: &Remote, layout: &Layout) -> Result<ExitCode, Error> {
    let printed = runs.iter().filter(|run| run.is_named || run.local.is_none()).count();
    let mut transfer = Transfer::new("pulled", runs.len()).printing(printed);
    parallel::for_each(
        runs,
        |run| remote.pull_run(run, layout),
        |place, pulled| {
            let run = &runs[place].entry.run;
            let is_new = pulled.as_ref().is_ok_and(|(is_new, _)| *is_new);
            let done = pulled.map(|(_, note)| Transferred {
                id: run.id.clone(),
                name: run.name.clone(),
                is_new,
                note,
            });
            transfer.add(done, &format!("run {}", run.id))
        },
    );
    transfer.conclude(&format!("from `{}`", one_line(remote.url())))
}

impl Remote {
    /// Fetches a run, or the labels of one that this machine has. Returns whether anything changed, and a note.
    fn pull_run(&self, run: &RunToPull, layout: &Layout) -> Result<(bool, String), RemoteError> {
        let RunToPull { entry, local, is_named } = run;
        match local {
            None => {
                let path = self.fetch_into(entry, layout.results())?;
                let size = fs::metadata(&path).map_or(0, |file| file.len());
                Ok((true, BinaryBytes(size).to_string()))
            }
            Some(path) if *is_named && self.pull_labels(entry, path, layout)? => {
                Ok((true, "updated labels".to_owned()))
            }
            Some(_) => Ok((false, "already on this machine".to_owned())),
        }
    }

    /// Takes over the name, the note and the tags of the store's copy, unless that is redacted. Returns whether they differed.
    fn pull_labels(&self, entry: &RemoteEntry, path: &PathBuf, layout: &Layout) -> Result<bool, RemoteError> {
        let failed = |source| RemoteError::File { action: "update", path: path.clone(), source };
        let invalid = |error: Error| failed(std::io::Error::other(error.to_string()));
        if entry.redacted || sha256(&fs::read(path).map_err(failed)?) == entry.result.hash {
            return Ok(false);
        }
        let theirs = read_labels(&self.fetch(entry, layout)?).map_err(invalid)?;
        let mine = read_labels(path).map_err(invalid)?;
        if mine == theirs {
            return Ok(false);
        }
        let RunLabels { run_name, note, tags } = theirs;
        let change = RunLabels {
            run_name: Some(run_name.unwrap_or_default()),
            note: Some(note.unwrap_or_default()),
            tags: Some(tags.unwrap_or_default()),
        };
        write_labels(path, &change).map_err(invalid)?;
        Ok(true)
    }
}

/// The runs that match the filters.
fn matching(arguments: &Pull, index: &RemoteIndex, remote: &Remote) -> Result<Vec<RemoteEntry>, RemoteError> {
    let since = arguments.since.map(|since| since.timestamp());
    let entries = match &arguments.branch {
        Some(branch) => index.of_branch(branch)?,
        None if arguments.all => index.entries()?,
        None => {
            let (since, experiment) = (since.clone(), arguments.experiment.clone());
            index.query(&RunFilter { since, experiment, ..RunFilter::ALL })?.entries
        }
    };
    let is_of_experiment = |run: &IndexedRun| {
        let wanted = arguments.experiment.as_ref();
        wanted.is_none_or(|name| name.matches(&run.name) || name.matches(&run.experiment))
    };
    let is_wanted = |RemoteEntry { run, .. }: &RemoteEntry| {
        since.as_ref().is_none_or(|since| run.timestamp >= *since)
            && (arguments.all || !run.partial)
            && is_of_experiment(run)
    };
    let entries: Vec<_> = entries.into_iter().filter(is_wanted).collect();
    if entries.is_empty() {
        eprint_wrapped(&format!("No run in `{}` matches.", one_line(remote.url())));
    }
    Ok(entries)
}

/// The runs that are named: all of a name that several experiments have.
fn named(
    arguments: &Pull,
    index: &RemoteIndex,
    layout: &Layout,
    remote: &Remote,
) -> Result<Vec<RemoteEntry>, Error> {
    let entries = index.entries().map_err(RemoteError::from)?;
    let runs = entries.iter().map(|entry| entry.run.clone());
    let (other_partial, complete): (Vec<_>, Vec<_>) = runs.partition(|run| run.partial);
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    // Only runs of the store are meant, not files of this machine.
    let results = layout.remote_runs();
    let known = KnownRuns { other_partial, results, ..KnownRuns::of(complete, layout, &folder) };
    let mut ids = HashSet::new();
    for name in &arguments.runs {
        let found = known.find(name).map_err(|error| {
            let url = one_line(remote.url());
            RemoteError::NoMatch(format!("{error} (in `{url}`; see `cargo cobalt history --remote`)"))
        })?;
        ids.extend(found.runs().into_iter().map(|run| run.id));
    }
    Ok(entries.into_iter().filter(|entry| ids.contains(&entry.run.id)).collect())
}
