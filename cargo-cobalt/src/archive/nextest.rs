//! The archive of `cargo nextest archive`: `target/nextest/binaries-metadata.json` lists its binaries, and
//! `target/nextest/cargo-metadata.json` is the output of `cargo metadata`.
//!
//! It has no data and no settings: they are in a checkout of the workspace.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::ArchiveError;
use super::manifest::{TARGET, inner_path, rebase};
use super::source::ArchivedBinary;

const BINARIES: &str = "target/nextest/binaries-metadata.json";
const METADATA: &str = "target/nextest/cargo-metadata.json";
/// The folders of the standard library's shared libraries.
const LIBRARIES: &str = "target/nextest/libdirs";
/// The kind of a test target.
const TEST: &str = "test";
/// The kind of a program.
const PROGRAM: &str = "bin-exe";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct BinariesMetadata {
    rust_build_meta: BuildMetadata,
    rust_binaries: BTreeMap<String, RustBinary>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct BuildMetadata {
    target_directory: PathBuf,
    #[serde(default)]
    non_test_binaries: BTreeMap<String, Vec<Program>>,
    #[serde(default)]
    linked_paths: Vec<String>,
    #[serde(default)]
    build_script_info: BTreeMap<String, BuildScript>,
    #[serde(default)]
    target_platforms: Vec<Platform>,
}

#[derive(Debug, Deserialize)]
struct Platform {
    triple: String,
}

#[derive(Debug, Deserialize)]
struct BuildScript {
    #[serde(default)]
    envs: BTreeMap<String, String>,
}

/// A program of a package, relative to the target folder.
#[derive(Debug, Deserialize)]
struct Program {
    name: String,
    kind: String,
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RustBinary {
    binary_name: String,
    package_id: String,
    kind: String,
    binary_path: PathBuf,
}

/// The project and the test binaries in an unpacked archive.
pub struct NextestArchive {
    pub metadata: Metadata,
    /// The target triple of the binaries, if it is given.
    pub platform: Option<String>,
    /// By the ID of the package and the target.
    pub binaries: HashMap<(String, String), ArchivedBinary>,
}

impl NextestArchive {
    /// Reads the metadata of an archive that was unpacked to `folder`, for a checkout of its workspace.
    pub fn read(folder: &Path, workspace: &Path) -> Result<Self, ArchiveError> {
        let mut metadata: Metadata = read_json(folder, METADATA)?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        check_workspace(&metadata, &root, workspace)?;
        rebase(&mut metadata, &root, workspace);
        let BinariesMetadata { rust_build_meta: build, rust_binaries: binaries } =
            read_json(folder, BINARIES)?;
        let target = folder.join(TARGET);
        let inner = |path: &str| {
            let invalid = || ArchiveError::Metadata {
                file: BINARIES,
                reason: format!("`{path}` leads out of the target folder"),
            };
            Ok(target.join(inner_path(path).ok_or_else(invalid)?))
        };
        let linked =
            build.linked_paths.iter().map(|path| inner(path)).collect::<Result<Vec<_>, ArchiveError>>()?;
        let toolchain: Vec<_> = subfolders(&folder.join(LIBRARIES)).collect();
        let mut found = HashMap::new();
        for binary in binaries.into_values().filter(|binary| binary.kind == TEST) {
            let relative =
                binary.binary_path.strip_prefix(&build.target_directory).unwrap_or(&binary.binary_path);
            let path = inner(&relative.to_string_lossy())?;
            let programs = build.non_test_binaries.get(&binary.package_id).into_iter().flatten();
            let programs = programs.filter(|program| program.kind == PROGRAM);
            let programs = programs.map(|program| Ok((program.name.clone(), inner(&program.path)?)));
            let script = build.build_script_info.get(&binary.package_id);
            let archived = ArchivedBinary {
                path,
                linked: linked.clone(),
                toolchain: toolchain.clone(),
                programs: programs.collect::<Result<_, ArchiveError>>()?,
                script: script.map(|script| script.envs.clone()).unwrap_or_default(),
            };
            found.insert((binary.package_id, binary.binary_name), archived);
        }
        let platform = build.target_platforms.into_iter().next().map(|platform| platform.triple);
        Ok(Self { metadata, platform, binaries: found })
    }
}

/// Checks that a folder has the manifests of the archived workspace.
fn check_workspace(metadata: &Metadata, root: &Path, workspace: &Path) -> Result<(), ArchiveError> {
    let members = metadata.workspace_packages();
    let mut manifests =
        members.iter().filter_map(|package| package.manifest_path.as_std_path().strip_prefix(root).ok());
    match manifests.find(|manifest| !workspace.join(manifest).is_file()) {
        Some(missing) => Err(ArchiveError::OtherWorkspace {
            folder: workspace.to_owned(),
            missing: missing.display().to_string(),
        }),
        None => Ok(()),
    }
}

fn read_json<T: DeserializeOwned>(folder: &Path, file: &'static str) -> Result<T, ArchiveError> {
    let failed = |reason: String| ArchiveError::Metadata { file, reason };
    let bytes = fs::read(folder.join(file)).map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))
}

/// The folders in a folder, and itself.
fn subfolders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let walked = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    walked.filter(|entry| entry.file_type().is_dir()).map(walkdir::DirEntry::into_path)
}
