//! `cargo cobalt push`: copies finished runs to the remote store.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bytes::Bytes;
use cobalt::command::config::{Config, Flags};
use cobalt::command::log;
use cobalt_core::hash::{hex, sha256};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Timestamp;
use cobalt_core::store::{Layout, items_file, strip_bom};
use cobalt_core::wording::count;
use indicatif::BinaryBytes;
use sha2::{Digest, Sha256};

use super::entry::{RemoteEntry, RemoteFile};
use super::error::RemoteError;
use super::fetch::compress;
use super::local_index::RemoteIndex;
use super::rebuild::Rebuilt;
use super::redacted::{RedactedParts, redact_result};
use super::shared_files::{Shared, SharedCount};
use super::store::Remote;
use super::transfer::{Transfer, Transferred};
use super::{layout, parallel};
use crate::cli::Push;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, IndexedRun, parse_run};
use crate::runs::KnownRuns;
use crate::terminal::{eprint_wrapped, one_line, print};

pub fn push(arguments: &Push, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let remote = Remote::open(&settings)?;
    let redacts = (arguments.redacted || settings.remote().redacts).then(|| settings.prices());
    remote.prepare(settings.layout())?;
    let mut index = remote.sync(settings.layout())?;
    if arguments.recordings || arguments.cache {
        return push_shared(arguments, &settings, &remote, &mut index);
    }
    if arguments.rebuild_index {
        return rebuild_index(&remote);
    }
    let runs = match arguments.runs.is_empty() {
        true => unpushed(&index, settings.layout(), arguments.all)?,
        false => named(&index, settings.layout(), arguments)?,
    };
    let pushed = if runs.is_empty() {
        eprint_wrapped(&format!("Nothing to push; {} is up to date.", shown(remote.url())));
        Ok(ExitCode::SUCCESS)
    } else {
        push_runs(&runs, &remote, redacts)
    };
    if let Err(error) = remote.pack() {
        eprint_wrapped(&format!("warning: {error}"));
    }
    pushed
}

/// Rebuilds the index, and prints what was repaired.
fn rebuild_index(remote: &Remote) -> Result<ExitCode, Error> {
    let Rebuilt { added, replaced, failed } = remote.rebuild_index()?;
    let replaced = match replaced.len() {
        0 => String::new(),
        objects => format!("; {} replaced: `{}`", count(objects, "damaged object"), replaced.join("`, `")),
    };
    let added = count(added.len(), "run");
    print(&format!("{added} added to the index of {}{replaced}\n", shown(remote.url())))
        .map_err(Error::Print)?;
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Error::Multiple(failed.iter().map(ToString::to_string).collect()))
}

/// Pushes runs, and prints each when it is done.
fn push_runs(runs: &[RunToPush], remote: &Remote, redacts: Option<&PriceTable>) -> Result<ExitCode, Error> {
    let mut transfer = Transfer::new("pushed", runs.len());
    parallel::for_each(
        runs,
        |run| remote.push_with(run, redacts),
        |place, pushed| {
            let done = pushed.map(|PushedRun { entry, is_new }| {
                let size = BinaryBytes(entry.stored_bytes());
                let note = if is_new { size.to_string() } else { "already in the store".to_owned() };
                Transferred { id: entry.run.id, name: entry.run.name, is_new, note }
            });
            transfer.add(done, &format!("`{}`", runs[place].path.display()))
        },
    );
    let redacted = if redacts.is_some() { ", without inputs and outputs" } else { "" };
    transfer.conclude(&format!("to {}{redacted}", shown(remote.url())))
}

fn shown(url: &str) -> String {
    format!("`{}`", one_line(url))
}

/// Pushes recordings and cached model responses.
fn push_shared(
    arguments: &Push,
    settings: &Config,
    remote: &Remote,
    index: &mut RemoteIndex,
) -> Result<ExitCode, Error> {
    if settings.remote().redacts {
        let why = "recordings and cached model responses contain inputs and outputs, and `storage.push-redacted` is set";
        return Err(Error::Arguments(why.to_owned()));
    }
    for shared in chosen(arguments.recordings, arguments.cache, settings) {
        let SharedCount { files, .. } = remote.push_shared(&shared, index)?;
        print(&format!("{} pushed to {}\n", count(files, shared.noun()), shown(remote.url())))
            .map_err(Error::Print)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What flags choose to share.
pub fn chosen(recordings: bool, responses: bool, settings: &Config) -> Vec<Shared> {
    let recordings = recordings.then(|| Shared::recordings(settings));
    recordings.into_iter().chain(responses.then(|| Shared::responses(settings))).collect()
}

/// A run that is to be pushed.
#[derive(Debug, Default)]
pub struct RunToPush {
    pub path: PathBuf,
    /// What the store has of the run, if the run was named.
    pub versions: Vec<RemoteEntry>,
    /// Whether the run was deleted from the store, and is to be put back.
    pub is_removed: bool,
}

/// The runs that the user names.
fn named(index: &RemoteIndex, layout: &Layout, arguments: &Push) -> Result<Vec<RunToPush>, Error> {
    let runs = KnownRuns::open(layout)?.resolve(&arguments.runs)?;
    let run = |run: crate::runs::ResolvedRun| {
        let (versions, is_removed) = (index.versions(&run.id)?, index.is_removed(&run.id)?);
        Ok(RunToPush { path: run.path, versions, is_removed })
    };
    let runs: Result<_, RemoteError> = runs.into_iter().map(run).collect();
    Ok(runs?)
}

/// The runs that the store neither has nor had; with `all`, partial runs, too.
fn unpushed(index: &RemoteIndex, layout: &Layout, all: bool) -> Result<Vec<RunToPush>, Error> {
    let (runs, skipped) = Index::open(layout)?.all_runs()?;
    for skipped in skipped {
        eprint_wrapped(&format!(
            "warning: skipping `{}`: {}",
            one_line(&skipped.file),
            one_line(&skipped.reason)
        ));
    }
    let partial = if all { runs.partial } else { Vec::new() };
    let mut unpushed = Vec::new();
    for IndexedRun { id, file, .. } in runs.whole.into_iter().chain(partial) {
        if !index.has(&id, None).map_err(RemoteError::from)?
            && !index.is_removed(&id).map_err(RemoteError::from)?
        {
            unpushed.push(RunToPush { path: layout.results().join(file), ..RunToPush::default() });
        }
    }
    Ok(unpushed)
}

/// A pushed run.
#[derive(Debug)]
pub struct PushedRun {
    pub entry: RemoteEntry,
    /// Whether it was not in the store before.
    pub is_new: bool,
}

impl Remote {
    /// Pushes the run of a result file.
    pub fn push_run(&self, path: &Path, redacts: Option<&PriceTable>) -> Result<PushedRun, RemoteError> {
        self.push_with(&RunToPush { path: path.to_owned(), ..RunToPush::default() }, redacts)
    }

    /// Pushes a run: its files first, its index object last. Repeating it does no harm. With prices, the run is redacted; of a large
    /// run, they give the costs of items.
    pub fn push_with(&self, run: &RunToPush, redacts: Option<&PriceTable>) -> Result<PushedRun, RemoteError> {
        let file = FileToPush::read(&run.path, redacts)?;
        let items = file.items.as_deref().map(|items| self.push_items(&file.run.id, items)).transpose()?;
        let compressed = Bytes::from(compress(&file.bytes));
        let (bytes, stored_bytes) = (file.bytes.len() as u64, compressed.len() as u64);
        let mut entry = RemoteEntry {
            format: layout::FORMAT_VERSION,
            pushed_at: Timestamp::now().to_string(),
            repeated: 0,
            redacted: redacts.is_some(),
            run: file.run.clone(),
            result: RemoteFile { hash: sha256(&file.bytes), bytes, stored_bytes },
            items,
        };
        entry.repeated = run.repetition_of(&entry);
        log::debug!(
            run = entry.run.id,
            experiment = entry.run.name,
            redacted = entry.redacted,
            bytes = stored_bytes,
            "pushes the run"
        );
        let index = format!("{}/{}", layout::INDEX, entry.name());
        let is_listed = !run.is_removed && self.is_listed(&entry)?;
        if is_listed && self.has(&entry.result_object(), stored_bytes)? {
            return Ok(PushedRun { entry, is_new: false });
        }
        self.upload(&entry.result_object(), compressed)?;
        if run.is_removed {
            self.delete(&layout::tombstone(&entry.run.id, &entry.result.hash))?;
        }
        let text = entry.to_bytes().map_err(|error| run.invalid(error))?;
        if RemoteEntry::parse(&text).is_none() {
            return Err(run.invalid("its ID or its start is not that of a result file of Cobalt"));
        }
        // S3 also refuses one of two writers at the same time, the other of which may fail.
        // A damaged one is replaced.
        if !self.create(&index, text.clone())? && !self.is_listed(&entry)? {
            self.put(&index, text)?;
        }
        Ok(PushedRun { entry, is_new: true })
    }

    /// Whether the store has the index object of an entry, undamaged.
    fn is_listed(&self, entry: &RemoteEntry) -> Result<bool, RemoteError> {
        let found = self.get(&format!("{}/{}", layout::INDEX, entry.name()))?;
        Ok(found.is_some_and(|bytes| RemoteEntry::read(&entry.name(), &bytes).is_ok()))
    }

    fn push_items(&self, id: &str, file: &Path) -> Result<RemoteFile, RemoteError> {
        let failed = |source| RemoteError::File { action: "read", path: file.to_owned(), source };
        let (hash, bytes) = File::open(file).and_then(hash_of).map_err(failed)?;
        let object = layout::items(id, &hash);
        if !self.has(&object, bytes)? {
            self.upload_file(&object, file)?;
        }
        Ok(RemoteFile { hash, bytes, stored_bytes: bytes })
    }
}

impl RunToPush {
    /// How often a content was pushed again: once more if the store has it, and shows another one that was pushed later.
    fn repetition_of(&self, entry: &RemoteEntry) -> u32 {
        let alike = || self.versions.iter().filter(|version| version.redacted == entry.redacted);
        let last = alike().max_by(|one, other| one.pushed_at.cmp(&other.pushed_at));
        let same = alike().filter(|version| version.result.hash == entry.result.hash);
        let repeated = same.map(|version| version.repeated).max();
        match repeated.zip(last) {
            Some((repeated, last)) if last.result.hash != entry.result.hash => repeated.saturating_add(1),
            Some((repeated, _)) => repeated,
            None => 0,
        }
    }

    fn invalid(&self, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RemoteError {
        let source = io::Error::new(io::ErrorKind::InvalidData, why);
        RemoteError::File { action: "push", path: self.path.clone(), source }
    }
}

/// A result file as it is pushed.
struct FileToPush {
    bytes: Vec<u8>,
    run: IndexedRun,
    /// The file of the items, if they are in a file of their own.
    items: Option<PathBuf>,
    /// The files of a redacted run in parts, until dropped.
    _redacted: Option<RedactedParts>,
}

impl FileToPush {
    fn read(path: &Path, redacts: Option<&PriceTable>) -> Result<Self, RemoteError> {
        let failed = |source| RemoteError::File { action: "read", path: path.to_owned(), source };
        let invalid = |error: serde_json::Error| failed(io::Error::new(io::ErrorKind::InvalidData, error));
        let in_parts = redacts.filter(|_| items_file(path).exists());
        let redacted = in_parts.map(|prices| RedactedParts::write(path, prices)).transpose();
        let redacted = redacted.map_err(|error| failed(io::Error::other(error)))?;
        let path = redacted.as_ref().map_or(path, |redacted| &redacted.result);
        let mut bytes = fs::read(path).map_err(failed)?;
        if redacts.is_some() && redacted.is_none() {
            bytes = redact_result(&bytes).map_err(invalid)?;
        }
        let run = parse_run(strip_bom(&bytes)).map_err(invalid)?;
        let items = Some(items_file(path)).filter(|items| items.exists());
        Ok(Self { bytes, run, items, _redacted: redacted })
    }
}

/// The SHA-256 and the size of a file.
fn hash_of(file: File) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let bytes = io::copy(&mut BufReader::new(file), &mut HashWriter(&mut hash))?;
    Ok((hex(&hash.finalize()), bytes))
}

/// Adds what is written to a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
