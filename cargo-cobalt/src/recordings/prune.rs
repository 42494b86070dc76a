//! Deletes recordings that no item uses, and long texts that no recording refers to.
//!
//! It only touches recordings and their long texts in the folders of listed experiments, never through symbolic links.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use cobalt::command::config::Flags;
use cobalt_core::recordings::{RecordingError, RecordingFolder};
use cobalt_core::reporters::Style;
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::experiments::{ExperimentRecordings, Use, foreign_folders, name, roots, unattributed};
use crate::clean::is_confirmed;
use crate::cli::{Color, PruneRecordings};
use crate::error::Error;
use crate::list::{Experiments, no_experiments, query};
use crate::terminal::{Align, eprint_wrapped, paint, print, relative_path, table};

/// A file to delete.
#[derive(Debug)]
struct UnusedFile {
    what: &'static str,
    path: PathBuf,
    /// In bytes.
    size: u64,
}

/// The files to delete, and why others are kept.
#[derive(Debug, Default)]
struct PrunePlan {
    files: Vec<UnusedFile>,
    notes: Vec<String>,
}

pub fn prune(arguments: &PruneRecordings, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let Experiments { rows, mut errors, built } =
        query(&arguments.selection, &arguments.build, flags, color)?;
    if rows.is_empty() && errors.is_empty() {
        return Err(no_experiments(&arguments.selection, &built));
    }
    let experiments = ExperimentRecordings::of(&rows);
    let mut plan = PrunePlan::of(&experiments)?;
    if arguments.selection.is_everything() && arguments.build.test.is_empty() {
        let foreign = foreign_folders(&experiments);
        let note = |folder: &PathBuf| {
            format!("keeping `{}`: it belongs to no listed experiment", relative_path(folder))
        };
        plan.notes.extend(foreign.iter().map(note));
    }
    print(&listing(&plan.files, paint(&io::stdout()))).map_err(Error::Print)?;
    plan.notes.iter().for_each(|note| eprint_wrapped(note));
    if plan.files.is_empty() {
        eprintln!("Nothing to delete.");
    } else if arguments.yes || is_confirmed(&total(&plan.files))? {
        errors.extend(remove(plan.files));
    }
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(errors)) }
}

impl PrunePlan {
    fn of(experiments: &[ExperimentRecordings]) -> Result<Self, RecordingError> {
        let mut plan = Self::default();
        // Experiments whose names differ little can share a folder.
        let mut by_folder = BTreeMap::<&Path, Vec<&ExperimentRecordings>>::new();
        for experiment in experiments {
            by_folder.entry(experiment.folder.path()).or_default().push(experiment);
        }
        for sharing in by_folder.values() {
            plan.add_experiment(sharing)?;
        }
        for root in roots(experiments) {
            if plan.is_searchable(root) {
                plan.add_blobs(&RecordingFolder::new(root), [unattributed(root)].iter())?;
            }
        }
        Ok(plan)
    }

    /// Adds the unused files of the experiments that have this folder.
    fn add_experiment(&mut self, sharing: &[&ExperimentRecordings]) -> Result<(), RecordingError> {
        let Some(first) = sharing.first() else { return Ok(()) };
        let folder = &first.folder;
        if !self.is_searchable(&first.root) || !self.is_searchable(folder.path()) {
            return Ok(());
        }
        if let Some((experiment, why)) =
            sharing.iter().find_map(|it| Some((&it.experiment, it.unused.as_ref().err()?)))
        {
            self.notes.push(format!(
                "skipping `{}`: the items of `{experiment}` are not known: {why}",
                relative_path(folder.path())
            ));
            return Ok(());
        }
        let is_unused = |file: &PathBuf| sharing.iter().all(|it| it.use_of(&name(file)) == Use::Unused);
        let (unused, mut kept): (Vec<_>, Vec<_>) = folder.cassettes()?.into_iter().partition(is_unused);
        for path in unused {
            match RecordingFolder::read_file(&path) {
                Ok(_) => self.files.extend(UnusedFile::new("recording", path)),
                // It may be a file of the user; the list has the error.
                Err(_) => {
                    let file = relative_path(&path);
                    self.notes.push(format!("keeping `{file}`: it cannot be read as a recording"));
                    kept.push(path);
                }
            }
        }
        self.add_blobs(folder, kept.iter())
    }

    /// Adds the long texts to which none of these recordings refers.
    fn add_blobs<'a>(
        &mut self,
        folder: &RecordingFolder,
        kept: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<(), RecordingError> {
        let blobs = folder.blobs()?;
        let Some(inside) = blobs.first().and_then(|blob| blob.parent()) else { return Ok(()) };
        if !self.is_searchable(inside) {
            return Ok(());
        }
        let mut needed = HashSet::new();
        for file in kept {
            match RecordingFolder::read_file(file) {
                Ok(Some(cassette)) => cassette.for_each_blob(&mut |hash| needed.extend([folder.blob(hash)])),
                Ok(None) => {}
                Err(error) => {
                    self.notes.push(format!("keeping all files in `{}`: {error}", relative_path(inside)));
                    return Ok(());
                }
            }
        }
        let unused: BTreeSet<_> = blobs.into_iter().filter(|blob| !needed.contains(blob)).collect();
        self.files.extend(unused.into_iter().filter_map(|path| UnusedFile::new("blob", path)));
        Ok(())
    }

    /// Whether a folder can be searched. Symbolic links are skipped, with a note.
    fn is_searchable(&mut self, folder: &Path) -> bool {
        let is_link = folder.is_symlink();
        if is_link {
            let note = format!("skipping `{}`: it is a symbolic link", relative_path(folder));
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        !is_link
    }
}

impl UnusedFile {
    /// A file; `None` if it no longer exists or is a symbolic link.
    fn new(what: &'static str, path: PathBuf) -> Option<Self> {
        let known = path.symlink_metadata().ok().filter(Metadata::is_file)?;
        Some(Self { what, size: known.len(), path })
    }
}

const TITLES: [(&str, Align); 3] = [("what", Align::Left), ("size", Align::Right), ("file", Align::Left)];

/// A line per file. Empty if there are none.
fn listing(files: &[UnusedFile], paint: Style) -> String {
    if files.is_empty() {
        return String::new();
    }
    let row = |UnusedFile { what, path, size }: &UnusedFile| {
        [(*what).to_owned(), BinaryBytes(*size).to_string(), relative_path(path)]
    };
    table(TITLES, files.iter().map(row), paint)
}

/// Number and total size of files.
fn total(files: &[UnusedFile]) -> String {
    let size = BinaryBytes(files.iter().map(|file| file.size).sum());
    format!("{} ({size})", count(files.len(), "file"))
}

/// Deletes the files, and folders that are empty then. Returns the errors.
fn remove(files: Vec<UnusedFile>) -> Vec<String> {
    let (mut removed, mut errors) = (Vec::new(), Vec::new());
    for file in files {
        match fs::remove_file(&file.path) {
            Ok(()) => {
                // Succeeds only when a folder is empty.
                let _ = file.path.ancestors().skip(1).take(2).try_for_each(fs::remove_dir);
                removed.push(file);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => errors.push(format!(
                "failed to delete `{}`: {error}; make its folder writable, or delete it yourself",
                relative_path(&file.path)
            )),
        }
    }
    eprintln!("Removed {}", total(&removed));
    errors
}
