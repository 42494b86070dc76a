//! `cargo cobalt push`: copies finished runs to the remote store.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bytes::Bytes;
use cobalt::command::config::{Config, Flags};
use cobalt_core::hash::{hex, sha256};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Timestamp;
use cobalt_core::store::{Layout, items_file, strip_bom};
use cobalt_core::wording::count;
use indicatif::BinaryBytes;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sha2::{Digest, Sha256};

use super::entry::{RemoteEntry, RemoteFile};
use super::error::RemoteError;
use super::local_index::RemoteIndex;
use super::location::Location;
use super::packs::PACK_FROM;
use super::redacted::{RedactedParts, redact_result};
use super::shared_files::{Shared, SharedCount};
use super::store::Remote;
use super::{layout, parallel};
use crate::cli::Push;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, IndexedRun, parse_run};
use crate::interrupt;
use crate::results::{Output, Results};
use crate::runs::KnownRuns;
use crate::terminal::{eprint_wrapped, one_line, print};

/// More runs are only counted.
pub const MAX_LINES: usize = 20;

pub fn push(arguments: &Push, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let remote = Remote::open(&settings)?;
    let redacts = (arguments.redacted || settings.remote().redacts).then(|| settings.prices());
    remote.prepare()?;
    let mut index = remote.sync(settings.layout())?;
    if arguments.recordings || arguments.answers {
        return push_shared(arguments, &settings, &remote, &mut index);
    }
    if arguments.rebuild_index {
        let runs = remote.rebuild_index(&index)?.len();
        print(&format!("{} added to the index of {}\n", count(runs, "run"), shown(remote.url())))
            .map_err(Error::Print)?;
        return Ok(ExitCode::SUCCESS);
    }
    let paths = if arguments.runs.is_empty() {
        unpushed(&index, settings.layout(), arguments.all)?
    } else {
        let runs = KnownRuns::open(settings.layout())?.resolve(&arguments.runs)?;
        // A run that was deleted from the store is put back if it is named.
        for run in &runs {
            for hash in index.tombstones(&run.id).map_err(RemoteError::from)? {
                remote.delete(&layout::tombstone(&run.id, &hash))?;
            }
        }
        runs.into_iter().map(|run| run.path).collect()
    };
    if paths.is_empty() {
        eprint_wrapped(&format!("Nothing to push: {} has all finished runs.", shown(remote.url())));
        return Ok(ExitCode::SUCCESS);
    }
    let outcomes = parallel::map(&paths, |path| remote.push_run(path, redacts));
    let (mut pushed, mut known, mut failed) = (0, 0, Vec::new());
    for (path, outcome) in paths.iter().zip(outcomes) {
        match outcome {
            Ok(PushedRun { entry, is_new }) => {
                let run = &entry.run;
                let (word, counted) = if is_new { ("pushed ", &mut pushed) } else { ("skipped", &mut known) };
                *counted += 1;
                let size = BinaryBytes(entry.stored_bytes());
                let why = if is_new { format!("({size})") } else { "(it is there already)".to_owned() };
                if paths.len() <= MAX_LINES {
                    print(&format!("{word} run {} of `{}` {why}\n", run.id, one_line(&run.name)))
                        .map_err(Error::Print)?;
                }
            }
            Err(error) => failed.push(format!("`{}`: {error}", path.display())),
        }
    }
    let redacted = if redacts.is_some() { ", without inputs and outputs" } else { "" };
    print(&format!(
        "{} pushed to {}{redacted}; {known} skipped, {} failed\n",
        count(pushed, "run"),
        shown(remote.url()),
        failed.len()
    ))
    .map_err(Error::Print)?;
    // Other machines read fewer objects then; it does not matter when.
    if let Err(error) = remote.pack(PACK_FROM) {
        eprint_wrapped(&format!("warning: {error}"));
    }
    if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(failed)) }
}

fn shown(url: &str) -> String {
    format!("`{}`", one_line(url))
}

/// Pushes recordings and answers.
fn push_shared(
    arguments: &Push,
    settings: &Config,
    remote: &Remote,
    index: &mut RemoteIndex,
) -> Result<ExitCode, Error> {
    if settings.remote().redacts {
        let why = "recordings and answers contain inputs and outputs, and `storage.push-redacted` is set";
        return Err(Error::Arguments(why.to_owned()));
    }
    for shared in chosen(arguments.recordings, arguments.answers, settings) {
        let SharedCount { files, .. } = remote.push_shared(&shared, index)?;
        print(&format!("{} pushed to {}\n", count(files, shared.noun()), shown(remote.url())))
            .map_err(Error::Print)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What flags choose to share.
pub fn chosen(recordings: bool, answers: bool, settings: &Config) -> Vec<Shared> {
    let recordings = recordings.then(|| Shared::recordings(settings));
    recordings.into_iter().chain(answers.then(|| Shared::answers(settings))).collect()
}

/// The files of the runs that the store neither has nor had; with `all`, partial runs, too.
fn unpushed(index: &RemoteIndex, layout: &Layout, all: bool) -> Result<Vec<PathBuf>, Error> {
    let (runs, skipped) = Index::open(layout)?.all_runs()?;
    for skipped in skipped {
        eprint_wrapped(&format!(
            "warning: skipping `{}`: {}",
            one_line(&skipped.file),
            one_line(&skipped.reason)
        ));
    }
    let partial = if all { runs.partial } else { Vec::new() };
    let mut paths = Vec::new();
    for IndexedRun { id, file, .. } in runs.whole.into_iter().chain(partial) {
        if !index.has(&id, None).map_err(RemoteError::from)?
            && !index.is_removed(&id).map_err(RemoteError::from)?
        {
            paths.push(layout.results().join(file));
        }
    }
    Ok(paths)
}

/// Refuses settings with which finished runs could not be pushed, before anything is run.
pub fn check_push(settings: &Config) -> Result<(), RemoteError> {
    if settings.remote().pushes { Location::open(settings.remote()).map(drop) } else { Ok(()) }
}

/// Pushes the saved runs of an invocation, if the settings say so. A failure is a warning with the command that repeats it. Returns
/// whether nothing is left to push.
pub fn push_finished(settings: &Config, results: &Results, output: &dyn Output) -> bool {
    let saved: Vec<_> = results
        .experiments
        .iter()
        .filter_map(|finished| Some((finished.report.id.as_str(), finished.path.as_deref()?)))
        .collect();
    if !settings.remote().pushes || saved.is_empty() {
        return true;
    }
    let ids: Vec<_> = saved.iter().map(|(id, _)| *id).collect();
    let redacted = if settings.remote().redacts { " --redacted" } else { "" };
    let again = format!("to push later: `cargo cobalt push{redacted} {}`", ids.join(" "));
    if interrupt::was_received() {
        output.warn(&format!("not pushed, as the run was interrupted; {again}"));
        return false;
    }
    let redacts = settings.remote().redacts.then(|| settings.prices());
    let outcomes = Remote::open(settings).and_then(|remote| {
        remote.prepare()?;
        let outcomes = parallel::map(&saved, |(_, path)| remote.push_run(path, redacts));
        outcomes.into_iter().collect::<Result<Vec<_>, _>>().map(|runs| (remote, runs))
    });
    match outcomes {
        Ok((remote, runs)) => {
            let size = BinaryBytes(runs.iter().map(|run| run.entry.stored_bytes()).sum());
            let runs = count(runs.len(), "run");
            output.eprintln(&format!("pushed {runs} ({size}) to {}", shown(remote.url())));
            true
        }
        Err(error) => {
            output.warn(&format!("{error}; the results are saved on this machine; {again}"));
            false
        }
    }
}

/// A pushed run.
#[derive(Debug)]
pub struct PushedRun {
    pub entry: RemoteEntry,
    /// Whether it was not in the store before.
    pub is_new: bool,
}

impl Remote {
    /// Pushes the run of a result file: its files first, its index object last. Repeating it does no harm. With
    /// prices, the run is redacted; of a large run, they give the costs of items.
    pub fn push_run(&self, path: &Path, redacts: Option<&PriceTable>) -> Result<PushedRun, RemoteError> {
        let failed = |source| RemoteError::File { action: "read", path: path.to_owned(), source };
        let invalid = |error: serde_json::Error| failed(io::Error::new(io::ErrorKind::InvalidData, error));
        let in_parts = redacts.filter(|_| items_file(path).exists());
        let redacted = in_parts.map(|prices| RedactedParts::write(path, prices)).transpose();
        let redacted = redacted.map_err(|error| failed(io::Error::other(error)))?;
        let path = redacted.as_ref().map_or(path, |redacted| &redacted.result);
        let bytes = fs::read(path).map_err(failed)?;
        let items = items_file(path);
        let bytes = if redacts.is_some() && redacted.is_none() {
            redact_result(&bytes).map_err(invalid)?
        } else {
            bytes
        };
        let run = parse_run(strip_bom(&bytes)).map_err(invalid)?;
        let hash = sha256(&bytes);
        let items = if items.exists() { Some(self.push_items(&run.id, &items)?) } else { None };
        let compressed = Bytes::from(compress_to_vec(&*bytes, CompressionLevel::Fastest));
        let result = RemoteFile { hash, bytes: bytes.len() as u64, stored_bytes: compressed.len() as u64 };
        let entry = RemoteEntry {
            format: layout::FORMAT_VERSION,
            pushed_at: Timestamp::now().to_string(),
            redacted: redacts.is_some(),
            run,
            result,
            items,
        };
        let index = format!("{}/{}", layout::INDEX, entry.name());
        if self.get(&index)?.is_some() {
            return Ok(PushedRun { entry, is_new: false });
        }
        self.upload(&entry.result_object(), compressed)?;
        let text = serde_json::to_vec(&entry).map_err(invalid)?;
        let is_new = self.create(&index, text.clone())?;
        // S3 also refuses one of two writers at the same time, the other of which may fail.
        if !is_new && self.get(&index)?.is_none() {
            self.put(&index, text)?;
        }
        Ok(PushedRun { entry, is_new })
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
