//! The project of an archive without its binaries: the settings and the baselines, for `cargo cobalt merge --archive`.

use std::env;
use std::path::{Path, PathBuf};

use cobalt::command::config::{ARCHIVED_BASELINES, Config, Flags};
use tempfile::TempDir;

use super::error::ArchiveError;
use super::extract::temporary_folder;
use super::manifest::{Manifest, NOMINAL_ROOT, WORKSPACE};
use super::unpack::{Contents, PackedArchive};
use crate::config::settings_of;
use crate::error::Error;
use crate::project::MANIFEST;

/// The settings file.
const SETTINGS: &str = "cobalt.toml";

/// A project whose settings are in an archive, or in the checkout of a nextest archive.
#[derive(Debug)]
pub struct ArchivedProject {
    root: PathBuf,
    /// The current folder, in which an archive with its own workspace stores results.
    storage: Option<PathBuf>,
    /// Removes the unpacked files at the end.
    _folder: Option<TempDir>,
}

impl ArchivedProject {
    /// Unpacks the settings and the baselines of an archive. The platform does not matter, as nothing of it is run.
    pub fn open(file: &Path, workspace_remap: Option<&Path>) -> Result<Self, Error> {
        let archive = PackedArchive::open(file)?;
        let Contents::Cobalt(manifest) = &archive.contents else {
            let workspace = workspace_remap.ok_or(ArchiveError::NoWorkspace)?;
            let opened = |source| ArchiveError::Open { path: workspace.to_owned(), source };
            let root = workspace.canonicalize().map_err(opened)?;
            return Ok(Self { root, storage: None, _folder: None });
        };
        if workspace_remap.is_some() {
            return Err(ArchiveError::HasWorkspace(file.to_owned()).into());
        }
        let folder = temporary_folder()?;
        archive.unpack_some(folder.path(), &is_of_settings)?;
        let root = folder.path().join(WORKSPACE).join(settings_folder(manifest));
        let storage = Some(env::current_dir().map_err(Error::CurrentFolder)?);
        Ok(Self { root, storage, _folder: Some(folder) })
    }

    /// The settings. Results are stored where `run --archive` stores them.
    pub fn settings(&self, flags: &Flags) -> Result<Config, Error> {
        let flags = Flags { storage_root: self.storage.clone(), ..flags.clone() };
        let settings = settings_of(&self.root, &flags)?;
        settings.apply_to_process();
        Ok(settings)
    }
}

/// Whether an entry has settings or a baseline.
fn is_of_settings(entry: &str) -> bool {
    let Some(path) = entry.strip_prefix(WORKSPACE).and_then(|path| path.strip_prefix('/')) else {
        return false;
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    [SETTINGS, MANIFEST].contains(&name) || Path::new(path).starts_with(ARCHIVED_BASELINES)
}

/// The folder whose settings count, from the workspace root: that of the package if only one is packed, which may have settings of its
/// own.
fn settings_folder(manifest: &Manifest) -> PathBuf {
    let folder = match &manifest.metadata.packages[..] {
        [only] => only.manifest_path.parent().and_then(|folder| folder.strip_prefix(NOMINAL_ROOT).ok()),
        _ => None,
    };
    folder.map(|folder| folder.as_std_path().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_manifests_and_baselines_are_unpacked_and_nothing_else() {
        for (entry, is_needed) in [
            ("workspace/cobalt.toml", true),
            ("workspace/app/Cargo.toml", true),
            ("workspace/.cobalt/baselines/desk.json", true),
            ("workspace/.cobalt/other.json", false),
            ("workspace/data/items.jsonl", false),
            ("target/debug/cobalt.toml", false),
            ("workspaces/cobalt.toml", false),
        ] {
            assert_eq!(is_of_settings(entry), is_needed, "{entry}");
        }
    }
}
