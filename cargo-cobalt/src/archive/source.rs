//! Runs the binaries of an archive: unpacks it, and passes them on as cargo would have built them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cobalt::command::config::{Config, Flags, GIT_STATE};
use cobalt::recording::RecordMode;
use tempfile::TempDir;

use super::error::ArchiveError;
use super::extract::unpacked;
use super::manifest::{Manifest, NOMINAL_ROOT, PackedBinary, WORKSPACE, rebase};
use super::nextest::NextestArchive;
use super::platform;
use super::unpack::{Contents, PackedArchive};
use crate::cli::{ArchiveOptions, BuildOptions, Selection};
use crate::config::settings_of;
use crate::error::Error;
use crate::interrupt;
use crate::project::{
    Binary, BinaryParts, BinarySource, BuildOutput, Candidate, Inputs, Project, SourceHash,
    variables_configured_in,
};
use crate::shell;

/// A test binary in an unpacked archive.
#[derive(Clone, Debug, Default)]
pub struct ArchivedBinary {
    pub path: PathBuf,
    pub linked: Vec<PathBuf>,
    pub toolchain: Vec<PathBuf>,
    pub programs: Vec<(String, PathBuf)>,
    pub script: BTreeMap<String, String>,
}

/// The project and the binaries of an unpacked archive.
#[derive(Debug)]
pub struct ArchivedBinaries {
    project: Project,
    build: BuildOptions,
    /// By the ID of the package and the target.
    binaries: HashMap<(String, String), ArchivedBinary>,
    /// The hashes of the sources, by the ID of the package.
    sources: HashMap<String, SourceHash>,
    /// The state of the repository, if the archive says it.
    git: Option<String>,
    /// The current folder, in which an archive with its own workspace stores results.
    storage: Option<PathBuf>,
    /// The flags that name the archive.
    named_by: String,
    /// Removes the unpacked files at the end.
    _folder: Option<TempDir>,
}

impl ArchivedBinaries {
    /// Unpacks an archive.
    pub fn open(
        file: &Path,
        options: &ArchiveOptions,
        build: &BuildOptions,
        flags: &Flags,
    ) -> Result<Self, Error> {
        interrupt::install_handler()?;
        let archive = PackedArchive::open(file)?;
        let here = std::env::current_dir().map_err(Error::CurrentFolder)?;
        // Whether a target is there is known without its features.
        let build = BuildOptions { all_features: true, ..build.clone() };
        match &archive.contents {
            Contents::Cobalt(manifest) => {
                if options.workspace_remap.is_some() {
                    return Err(ArchiveError::HasWorkspace(file.to_owned()).into());
                }
                if options.extract_to.is_none()
                    && matches!(flags.record, Some(RecordMode::Record | RecordMode::Auto))
                {
                    return Err(ArchiveError::RecordsNowhere.into());
                }
                check_platform(file, &manifest.platform)?;
                let (folder, guard) = unpacked(&archive, options.extract_to.as_deref())?;
                let opened = Self::of_manifest(manifest, &folder, guard, build, here);
                Ok(Self { named_by: flags_of(file, options), ..opened })
            }
            Contents::Nextest => {
                let workspace = options.workspace_remap.as_deref().ok_or(ArchiveError::NoWorkspace)?;
                let opened = |source| ArchiveError::Open { path: workspace.to_owned(), source };
                let workspace = workspace.canonicalize().map_err(opened)?;
                let (folder, guard) = unpacked(&archive, options.extract_to.as_deref())?;
                let NextestArchive { metadata, platform, binaries } =
                    NextestArchive::read(&folder, &workspace)?;
                platform.map_or(Ok(()), |platform| check_platform(file, &platform))?;
                let project = Project::of(metadata);
                let sources = HashMap::new();
                Ok(Self {
                    project,
                    build,
                    binaries,
                    sources,
                    git: None,
                    storage: None,
                    named_by: flags_of(file, options),
                    _folder: guard,
                })
            }
        }
    }

    fn of_manifest(
        manifest: &Manifest,
        folder: &Path,
        guard: Option<TempDir>,
        build: BuildOptions,
        here: PathBuf,
    ) -> Self {
        let mut metadata = manifest.metadata.clone();
        rebase(&mut metadata, Path::new(NOMINAL_ROOT), &folder.join(WORKSPACE));
        let mut binaries = HashMap::new();
        let mut sources = HashMap::new();
        for packed in &manifest.binaries {
            let archived = ArchivedBinary {
                path: folder.join(&packed.path),
                toolchain: packed.libraries.iter().map(|library| folder.join(library)).collect(),
                programs: packed
                    .programs
                    .iter()
                    .map(|(name, path)| (name.clone(), folder.join(path)))
                    .collect(),
                script: packed.variables.clone(),
                ..ArchivedBinary::default()
            };
            binaries.insert((packed.package.clone(), packed.target.clone()), archived);
            sources.insert(packed.package.clone(), source_hash(packed));
        }
        let git = Some(manifest.git.clone().unwrap_or_default());
        Self {
            project: Project::of(metadata),
            build,
            binaries,
            sources,
            git,
            storage: Some(here),
            named_by: String::new(),
            _folder: guard,
        }
    }

    fn binary(&self, candidate: &Candidate) -> Option<Binary> {
        let key = (candidate.package.id.repr.clone(), candidate.target.clone());
        let ArchivedBinary { path, linked, toolchain, programs, script } = self.binaries.get(&key)?.clone();
        let script = script.into_iter().collect();
        let parts = BinaryParts { linked, toolchain, programs, script, ..BinaryParts::default() };
        Binary::new(candidate, path, parts)
    }
}

impl BinarySource for ArchivedBinaries {
    fn project(&self) -> &Project {
        &self.project
    }

    fn settings(&self, flags: &Flags) -> Result<Config, Error> {
        let settings = settings_of(self.project.root(), &self.flags(flags))?;
        settings.apply_to_process();
        Ok(settings)
    }

    fn flags(&self, flags: &Flags) -> Flags {
        Flags { storage_root: self.storage.clone(), ..flags.clone() }
    }

    fn repeated_flags(&self) -> String {
        self.named_by.clone()
    }

    fn candidates(&self, selection: &Selection, flags: &Flags) -> Result<Vec<Candidate>, Error> {
        let build = self.build.clone();
        self.project.candidates(selection, &build, flags)
    }

    fn binaries(&self, candidates: &[Candidate]) -> Result<BuildOutput, Error> {
        let (found, missing): (Vec<_>, Vec<_>) = candidates
            .iter()
            .map(|candidate| (candidate, self.binary(candidate)))
            .partition(|(_, binary)| binary.is_some());
        let missing =
            missing.iter().map(|(candidate, _)| format!("`{candidate}` is not in the archive")).collect();
        let found = found.into_iter().filter_map(|(candidate, binary)| Some((candidate, binary?)));
        BuildOutput::new(found, missing, &variables_configured_in(self.project.root())?)
    }

    /// The hash that the archive has. Without one, the sources in the folder may be others than those of the binaries.
    fn sources(&self, binary: &Binary, _: &Flags) -> Result<SourceHash, Error> {
        Ok(self.sources.get(&binary.package.id.repr).cloned().unwrap_or_default())
    }

    fn environment_folder(&self) -> &Path {
        self.storage.as_deref().unwrap_or_else(|| self.project.root())
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        self.git.iter().map(|git| (GIT_STATE.to_owned(), git.into())).collect()
    }
}

/// What the archive says about the sources of a binary; earlier versions say nothing about files.
fn source_hash(packed: &PackedBinary) -> SourceHash {
    let (code, files) = packed.sources.split_once('+').unzip();
    let inputs = |files: &str| Inputs { files: files.to_owned(), variables: packed.read_variables.clone() };
    SourceHash { code: code.unwrap_or(&packed.sources).to_owned(), inputs: files.map(inputs) }
}

/// The flags that name an archive, for a shell.
fn flags_of(file: &Path, options: &ArchiveOptions) -> String {
    let flag = |(name, path): (&str, Option<&Path>)| {
        Some(format!(" --{name} {}", shell::quoted(&path?.to_string_lossy())))
    };
    let paths = [
        ("archive", Some(file)),
        ("extract-to", options.extract_to.as_deref()),
        ("workspace-remap", options.workspace_remap.as_deref()),
    ];
    paths.into_iter().filter_map(flag).collect()
}

fn check_platform(file: &Path, triple: &str) -> Result<(), ArchiveError> {
    match platform::mismatch(triple) {
        Some(here) => {
            Err(ArchiveError::OtherPlatform { path: file.to_owned(), packed: triple.to_owned(), here })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_resumed_run_name_the_archive() {
        let options = ArchiveOptions { extract_to: Some("it's here".into()), ..ArchiveOptions::default() };
        assert_eq!(
            flags_of(Path::new("../a.tar.zst"), &options),
            " --archive ../a.tar.zst --extract-to 'it'\\''s here'"
        );
    }
}
