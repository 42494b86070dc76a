//! Deletes recordings that no item uses, long texts that no recording refers to, and old temporary files.
//!
//! It only touches such files in the folders of listed experiments, never through symbolic links.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use cobalt::command::config::Flags;
use cobalt_core::recordings::{RecordingError, RecordingFolder, additions_path};
use cobalt_core::reporters::Style;
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::experiments::{ExperimentRecordings, Use, foreign_folders, name, roots, unattributed};
use crate::clean::is_confirmed;
use crate::cli::{BuildOptions, Color, PruneRecordings, Selection};
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
    let is_complete = arguments.selection.is_everything() && arguments.build.test.is_empty();
    // Experiments that are not selected may share a folder with one that is.
    let all = match is_complete {
        true => experiments.clone(),
        false => {
            let build = BuildOptions { test: Vec::new(), ..arguments.build.clone() };
            ExperimentRecordings::of(&query(&Selection::default(), &build, flags, color)?.rows)
        }
    };
    let mut plan = PrunePlan::of(&experiments, &all)?;
    if is_complete {
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
    /// What the selected experiments leave unused. `all` are those of the project.
    fn of(selected: &[ExperimentRecordings], all: &[ExperimentRecordings]) -> Result<Self, RecordingError> {
        let mut plan = Self::default();
        let folders: BTreeMap<_, _> =
            selected.iter().map(|experiment| (experiment.folder.path(), experiment)).collect();
        for (folder, experiment) in folders {
            // Experiments whose names differ little can share a folder.
            let is_sharing = |other: &&ExperimentRecordings| other.folder.path() == folder;
            let sharing: Vec<_> = selected.iter().chain(all).filter(is_sharing).collect();
            plan.add_folder(experiment, &sharing)?;
        }
        for root in roots(selected) {
            if plan.is_searchable(root) {
                let folder = RecordingFolder::new(root);
                plan.add_temporary_files(&folder)?;
                plan.add_blobs(&folder, &[unattributed(root)])?;
            }
        }
        Ok(plan)
    }

    /// Adds the files of processes that ended while they wrote.
    fn add_temporary_files(&mut self, folder: &RecordingFolder) -> Result<(), RecordingError> {
        let files = folder.old_drafts()?.into_iter();
        let inside = files.filter(|path| path.parent().is_some_and(|folder| !folder.is_symlink()));
        self.files.extend(inside.filter_map(|path| UnusedFile::new("temporary file", path)));
        Ok(())
    }

    /// Adds the unused files in the folder of an experiment. `sharing` are all experiments that have this folder.
    fn add_folder(
        &mut self,
        ExperimentRecordings { root, folder, .. }: &ExperimentRecordings,
        sharing: &[&ExperimentRecordings],
    ) -> Result<(), RecordingError> {
        if !self.is_searchable(root) || !self.is_searchable(folder.path()) {
            return Ok(());
        }
        self.add_temporary_files(folder)?;
        let unknown = |it: &&ExperimentRecordings| Some((it.experiment.clone(), it.unused.clone().err()?));
        if let Some((experiment, why)) = sharing.iter().find_map(unknown) {
            let folder = relative_path(folder.path());
            self.notes.push(format!(
                "skipping `{folder}`: cannot tell which recordings of `{experiment}` are used: {why}"
            ));
            return Ok(());
        }
        let mut kept = Vec::new();
        for path in folder.cassettes()? {
            if self.is_kept(&path, sharing) {
                kept.push(path);
            } else {
                let additions = UnusedFile::new("recording", additions_path(&path));
                self.files.extend(UnusedFile::new("recording", path).into_iter().chain(additions));
            }
        }
        self.add_blobs(folder, &kept)
    }

    /// Whether a recording is kept. A note says why, unless an item uses it.
    fn is_kept(&mut self, path: &Path, sharing: &[&ExperimentRecordings]) -> bool {
        let name = name(path);
        let why = match RecordingFolder::read_file(path) {
            Ok(Some(cassette)) => {
                let uses: Vec<_> = sharing.iter().map(|it| it.use_of(&name, &cassette)).collect();
                if uses.contains(&Use::Used) {
                    return true;
                }
                if uses.contains(&Use::Unused) {
                    return false;
                }
                format!("it belongs to experiment `{}`", cassette.experiment)
            }
            // It may be a file of the user; the list has the error.
            Err(_) if sharing.iter().all(|it| it.has_use_for(&name) == Use::Unused) => {
                "it cannot be read as a recording".to_owned()
            }
            Ok(None) | Err(_) => return true,
        };
        self.notes.push(format!("keeping `{}`: {why}", relative_path(path)));
        true
    }

    /// Adds the long texts to which none of these recordings refers.
    fn add_blobs(&mut self, folder: &RecordingFolder, kept: &[PathBuf]) -> Result<(), RecordingError> {
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

/// Deletes the file that belongs to the long texts of a folder, if nothing else is left there.
fn remove_git_attributes(folder: &RecordingFolder) {
    let file = folder.git_attributes();
    let Some(entries) = file.parent().and_then(|inside| fs::read_dir(inside).ok()) else { return };
    if entries.flatten().all(|entry| entry.path() == file) {
        // At worst, it stays.
        let _ = fs::remove_file(file);
    }
}

/// Deletes the files, and folders that are empty then. Returns the errors.
fn remove(files: Vec<UnusedFile>) -> Vec<String> {
    let (mut removed, mut errors) = (Vec::new(), Vec::new());
    for file in files {
        match fs::remove_file(&file.path) {
            Ok(()) => {
                let folder = file.path.ancestors().nth(2).map(RecordingFolder::new);
                folder.iter().for_each(remove_git_attributes);
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use cobalt_core::recordings::Cassette;

    use super::*;

    /// The recordings of an experiment in a folder that others may share, without those that are unused.
    fn experiment(root: &Path, name: &str, unused: &[&str]) -> ExperimentRecordings {
        ExperimentRecordings {
            experiment: name.to_owned(),
            root: root.to_owned(),
            folder: RecordingFolder::new(root.join("a-b")),
            unused: Ok(unused.iter().map(ToString::to_string).collect()),
        }
    }

    /// The names of the files that are deleted.
    fn deleted(selected: &[ExperimentRecordings], all: &[ExperimentRecordings]) -> Vec<String> {
        PrunePlan::of(selected, all).unwrap().files.iter().map(|file| name(&file.path)).collect()
    }

    #[test]
    fn the_recordings_of_another_experiment_in_the_same_folder_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let [one, same] =
            [&["two", "old"], &["one", "old"]].map(|unused| experiment(dir.path(), "a b", unused));
        let [other] = [experiment(dir.path(), "a-b", &["one", "two", "old"])];
        for (item, name) in
            [("one", "a b"), ("two", "a b"), ("old", "a b"), ("gone", "a-b"), ("left", "unknown")]
        {
            one.folder.write(item, &Cassette::new(name, item)).unwrap();
        }
        let one = ExperimentRecordings {
            unused: Ok(["two", "old", "gone", "left"].map(str::to_owned).into()),
            ..one
        };
        let selected = std::slice::from_ref(&one);
        assert_eq!(deleted(selected, &[one.clone(), same.clone(), other.clone()]), ["old"]);
        // Without the others, those of another name are kept, too.
        assert_eq!(deleted(selected, selected), ["old", "two"]);
        let plan = PrunePlan::of(selected, selected).unwrap();
        assert!(
            plan.notes.iter().any(|note| note.ends_with("it belongs to experiment `a-b`")),
            "{:?}",
            plan.notes
        );
    }

    #[test]
    fn a_file_of_another_item_is_unused() {
        let dir = tempfile::tempdir().unwrap();
        let only = experiment(dir.path(), "a b", &[]);
        only.folder.write("one", &Cassette::new("a b", "One!")).unwrap();
        let only = std::slice::from_ref(&only);
        assert_eq!(deleted(only, only), ["one"]);
    }

    #[test]
    fn old_temporary_files_are_deleted_and_the_folder_of_blobs_with_its_last_file() {
        let dir = tempfile::tempdir().unwrap();
        let only = experiment(dir.path(), "a b", &[]);
        only.folder.write_blob(b"of no recording").unwrap();
        let temporary = only.folder.path().join(".one.json.12-0a1b2c3d.tmp");
        let file = fs::File::create(temporary).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
        let only = std::slice::from_ref(&only);
        let plan = PrunePlan::of(only, only).unwrap();
        let what: Vec<_> = plan.files.iter().map(|file| file.what).collect();
        assert_eq!(what, ["temporary file", "blob"]);
        assert!(remove(plan.files).is_empty());
        assert!(!only[0].folder.path().exists());
    }
}
