//! `cargo cobalt pull`: copies runs from the remote store into the results folder.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_core::atomic_write::write_atomically;
use cobalt_core::hash::sha256;
use cobalt_core::store::{items_file, new_run_id};
use cobalt_core::wording::count;
use indicatif::BinaryBytes;
use ruzstd::decoding::StreamingDecoder;

use super::entry::{RemoteEntry, RemoteFile};
use super::error::{Problem, RemoteError};
use super::local_index::RemoteIndex;
use super::parallel;
use super::push::{MAX_LINES, chosen};
use super::shared_files::SharedCount;
use super::store::Remote;
use crate::cli::Pull;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, IndexedRun, RunFilter};
use crate::terminal::{eprint_wrapped, one_line, print};

/// A larger result file is taken for a damaged one where no index object tells its size.
const LARGEST_RESULT: u64 = 4 << 30;

pub fn pull(arguments: &Pull, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let layout = settings.layout();
    let remote = Remote::open(&settings)?;
    let mut index = remote.sync(layout)?;
    if arguments.recordings || arguments.answers {
        for shared in chosen(arguments.recordings, arguments.answers, &settings) {
            let SharedCount { files, different } = remote.pull_shared(&shared, &mut index)?;
            let note = match different {
                0 => String::new(),
                _ => format!("; {different} with other content on this machine left as they are"),
            };
            let files = count(files, shared.noun());
            print(&format!("{files} pulled from `{}`{note}\n", one_line(remote.url())))
                .map_err(Error::Print)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let entries = selected(arguments, &index, &remote)?;
    let (local, _) = Index::open(layout)?.all_runs()?;
    let local: Vec<_> = local.whole.into_iter().chain(local.partial).collect();
    let is_known = |entry: &RemoteEntry| local.iter().any(|run: &IndexedRun| run.id == entry.run.id);
    let (known, missing): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_known);
    if !arguments.runs.is_empty() {
        for RemoteEntry { run, .. } in &known {
            print(&format!(
                "skipped run {} of `{}`, which is on this machine already\n",
                run.id,
                one_line(&run.name)
            ))
            .map_err(Error::Print)?;
        }
    }
    layout
        .create_folder(layout.results())
        .map_err(|source| Error::Folder { path: layout.results().to_owned(), source })?;
    let outcomes = parallel::map(&missing, |entry| remote.fetch_into(entry, layout.results()));
    let (mut pulled, mut failed) = (0, Vec::new());
    for (RemoteEntry { run, .. }, outcome) in missing.iter().zip(outcomes) {
        match outcome {
            Ok(path) => {
                pulled += 1;
                let size = fs::metadata(&path).map_or(0, |file| file.len());
                let name = one_line(&run.name);
                if missing.len() <= MAX_LINES {
                    print(&format!("pulled  run {} of `{name}` ({})\n", run.id, BinaryBytes(size)))
                        .map_err(Error::Print)?;
                }
            }
            Err(error) => failed.push(format!("run {}: {error}", run.id)),
        }
    }
    print(&format!(
        "{} pulled from `{}`; {} skipped, {} failed\n",
        count(pulled, "run"),
        one_line(remote.url()),
        known.len(),
        failed.len()
    ))
    .map_err(Error::Print)?;
    if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(failed)) }
}

/// The runs to pull: those that are named, or all that match the filters.
fn selected(arguments: &Pull, index: &RemoteIndex, remote: &Remote) -> Result<Vec<RemoteEntry>, RemoteError> {
    if arguments.runs.is_empty() {
        let entries = match &arguments.branch {
            Some(branch) => index.of_branch(branch)?,
            None if arguments.all => index.entries()?,
            None => {
                let since = arguments.since.map(|since| since.timestamp());
                let filter = RunFilter { since, experiment: arguments.experiment.clone(), ..RunFilter::ALL };
                index.query(&filter)?.entries
            }
        };
        let since = arguments.since.map(|since| since.timestamp());
        let is_wanted = |RemoteEntry { run, .. }: &RemoteEntry| {
            since.as_ref().is_none_or(|since| run.timestamp >= *since)
                && (arguments.all || !run.partial)
                && arguments
                    .experiment
                    .as_ref()
                    .is_none_or(|name| name.matches(&run.name) || name.matches(&run.experiment))
        };
        let entries: Vec<_> = entries.into_iter().filter(is_wanted).collect();
        if entries.is_empty() {
            eprint_wrapped(&format!("No run in `{}` matches.", one_line(remote.url())));
        }
        return Ok(entries);
    }
    let mut entries: Vec<RemoteEntry> = Vec::new();
    for typed in &arguments.runs {
        let entry = find(typed, index, remote.url())?;
        if !entries.iter().any(|known| known.run.id == entry.run.id) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// The run with this ID, prefix of an ID, or name that a user gave to it.
fn find(typed: &str, index: &RemoteIndex, url: &str) -> Result<RemoteEntry, RemoteError> {
    let mut found = index.with_id(typed)?;
    if found.is_empty() {
        let entries = index.entries()?.into_iter();
        found = entries.filter(|entry| entry.run.run_name.as_deref() == Some(typed)).collect();
        // The newest run of this name.
        found.truncate(1);
    }
    match (found.len(), found.pop()) {
        (1, Some(entry)) => Ok(entry),
        (0, _) | (_, None) => Err(RemoteError::NoMatch(format!(
            "no run `{typed}` in `{}`: neither a run-ID prefix nor the name of a run; `cargo cobalt history --remote` lists its runs",
            one_line(url)
        ))),
        (several, Some(_)) => Err(RemoteError::NoMatch(format!(
            "`{typed}` matches {} in `{}`; use a longer ID prefix",
            count(several, "run"),
            one_line(url)
        ))),
    }
}

impl Remote {
    /// Fetches the files of a run into a folder, atomically. Returns the path of its result file.
    pub fn fetch_into(&self, entry: &RemoteEntry, folder: &Path) -> Result<PathBuf, RemoteError> {
        let path = folder.join(&entry.run.file);
        let failed = |source| RemoteError::File { action: "write", path: path.clone(), source };
        if let (Some(object), Some(items)) = (entry.items_object(), &entry.items) {
            let fetched = self.fetch_items(&object, items, &items_file(&path));
            fetched.map_err(|error| match error.problem() {
                Some(Problem::Missing) => self.missing(entry, &object),
                _ => error,
            })?;
        }
        let object = entry.result_object();
        let bytes = self.get(&object)?.ok_or_else(|| self.missing(entry, &object))?;
        let bytes = self.decompressed(&object, &bytes, &entry.result)?;
        let draft = folder.join(format!(".{}-{}.tmp", entry.run.id, new_run_id()));
        write_atomically(&path, &draft, |file| file.write_all(&bytes)).map_err(failed)?;
        Ok(path)
    }

    /// The error of a run of which an object is missing: the run was deleted, or the whole store is not there.
    fn missing(&self, entry: &RemoteEntry, object: &str) -> RemoteError {
        let url = self.url().to_owned();
        match self.check_format() {
            Ok(true) => RemoteError::Gone { url, run: entry.run.id.clone(), object: object.to_owned() },
            Ok(false) => RemoteError::Lost { url },
            Err(error) => error,
        }
    }

    fn fetch_items(&self, object: &str, items: &RemoteFile, path: &Path) -> Result<(), RemoteError> {
        let failed = |source| RemoteError::File { action: "write", path: path.to_owned(), source };
        let draft = path.with_file_name(format!(".{}.tmp", new_run_id()));
        let fetched = self.download(object, &draft);
        let renamed = match &fetched {
            Ok((hash, bytes)) if *hash == items.hash && *bytes == items.bytes => {
                fs::rename(&draft, path).map_err(failed)
            }
            Ok(_) => Err(self.damaged(object, "its content does not match its index object")),
            Err(_) => Ok(()),
        };
        let _ = fs::remove_file(&draft);
        fetched.and(renamed)
    }

    /// The content of a compressed object, which must be what the index object says.
    fn decompressed(
        &self,
        object: &str,
        bytes: &[u8],
        expected: &RemoteFile,
    ) -> Result<Vec<u8>, RemoteError> {
        // A damaged object may be endless.
        let (content, hash) = self.decompress(object, bytes, expected.bytes + 1)?;
        match hash == expected.hash {
            true => Ok(content),
            false => Err(self.damaged(object, "its content does not match its index object")),
        }
    }

    /// The content of a compressed object and its hash, which must begin as its name says.
    pub fn decompressed_by_name(
        &self,
        object: &str,
        bytes: &[u8],
        beginning: &str,
    ) -> Result<(Vec<u8>, String), RemoteError> {
        let (content, hash) = self.decompress(object, bytes, LARGEST_RESULT)?;
        match hash.starts_with(beginning) {
            true => Ok((content, hash)),
            false => Err(self.damaged(object, "its content does not match its name")),
        }
    }

    fn decompress(&self, object: &str, bytes: &[u8], most: u64) -> Result<(Vec<u8>, String), RemoteError> {
        let mut content = Vec::new();
        let decoder =
            StreamingDecoder::new(bytes).map_err(|error| self.damaged(object, &error.to_string()))?;
        decoder
            .take(most)
            .read_to_end(&mut content)
            .map_err(|error| self.damaged(object, &error.to_string()))?;
        let hash = sha256(&content);
        Ok((content, hash))
    }

    pub fn damaged(&self, object: &str, problem: &str) -> RemoteError {
        RemoteError::Damaged {
            url: self.url().to_owned(),
            object: object.to_owned(),
            problem: problem.to_owned(),
        }
    }
}
