//! Hashes the sources of a package and its path dependencies to detect changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};
use cobalt_core::hash::sha256_hex;

use super::declared::LIBRARY;
use super::discover::{Project, ProjectError};
use crate::error::Error;

/// Marks a folder as a cache that can be regenerated. Cargo writes it into its target folder.
pub const CACHE_TAG: &str = "CACHEDIR.TAG";
pub const MANIFEST: &str = "Cargo.toml";
pub const LOCK: &str = "Cargo.lock";

impl Project {
    /// The Rust files of a package and of its path dependencies, without the library.
    pub fn rust_files(&self, folders: &[PathBuf]) -> Result<BTreeSet<PathBuf>, Error> {
        let mut files = BTreeSet::new();
        for folder in folders {
            let scope = SourceScope::Rust { package: folder, target: self.target_folder() };
            collect_sources(folder, &scope, &mut BTreeSet::new(), &mut files)?;
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        Ok(files)
    }

    /// The folders of a package and of its path dependencies, without the library.
    pub fn agent_folders(&self, package: &Package) -> Result<Vec<PathBuf>, Error> {
        let is_agent = |dependency: &Dependency| dependency.name != LIBRARY;
        Ok(local_packages(self.metadata(), package, is_agent)?
            .into_iter()
            .map(|local| local.folder)
            .collect())
    }

    /// A hash of what a package is built from: the sources of the package and of all path dependencies (everything in `src`,
    /// `*.rs` elsewhere, without hidden files and data), their manifests, the workspace manifest and `Cargo.lock`.
    pub fn source_hash(&self, package: &Package) -> Result<String, Error> {
        hash(self.metadata(), package)
    }

    /// The folders of a package and of all path dependencies.
    pub fn local_folders(&self, package: &Package) -> Result<Vec<PathBuf>, Error> {
        Ok(local_packages(self.metadata(), package, |_| true)?
            .into_iter()
            .map(|local| local.folder)
            .collect())
    }
}

fn hash(workspace: &Metadata, package: &Package) -> Result<String, Error> {
    let mut parts = Vec::new();
    for file in [MANIFEST, LOCK] {
        add_file(&mut parts, file, workspace.workspace_root.join(file).as_std_path())?;
    }
    for LocalPackage { name, folder, target } in local_packages(workspace, package, |_| true)? {
        parts.push(name);
        let mut files = BTreeSet::from([folder.join(MANIFEST)]);
        let scope = SourceScope::Rust { package: &folder, target: &target };
        collect_sources(&folder, &scope, &mut BTreeSet::new(), &mut files)?;
        for file in files {
            let name = file.strip_prefix(&folder).unwrap_or(&file);
            add_file(&mut parts, &name.to_string_lossy(), &file)?;
        }
    }
    Ok(sha256_hex(&parts))
}

/// The package and its path dependencies, of those that `follows` returns true for, sorted.
fn local_packages(
    workspace: &Metadata,
    package: &Package,
    follows: impl Fn(&Dependency) -> bool,
) -> Result<BTreeSet<LocalPackage>, Error> {
    let mut read = vec![workspace.clone()];
    let mut found = BTreeSet::new();
    let mut waiting: Vec<PathBuf> = package.manifest_path.parent().into_iter().map(Into::into).collect();
    while let Some(folder) = waiting.pop() {
        let (package, target) = local_package(&folder, &mut read)?;
        let is_first = found.is_empty();
        if found.insert(LocalPackage { name: package.name.to_string(), folder, target }) {
            // Dev-dependencies of dependencies are not built.
            let is_built = |kind| is_first || kind != DependencyKind::Development;
            let built = package
                .dependencies
                .iter()
                .filter(|dependency| is_built(dependency.kind) && follows(dependency));
            waiting.extend(built.filter_map(|dependency| dependency.path.clone().map(Into::into)));
        }
    }
    Ok(found)
}

/// A local package and its target folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LocalPackage {
    name: String,
    folder: PathBuf,
    target: PathBuf,
}

/// The package in a folder, from the metadata in `read`, or from the folder's own metadata, which is added there.
fn local_package(folder: &Path, read: &mut Vec<Metadata>) -> Result<(Package, PathBuf), Error> {
    let is_it = |package: &&Package| package.manifest_path.parent().is_some_and(|parent| parent == folder);
    let find = |metadata: &Metadata| {
        let package = metadata.packages.iter().find(is_it)?.clone();
        Some((package, metadata.target_directory.clone().into()))
    };
    if let Some(found) = read.iter().find_map(find) {
        return Ok(found);
    }
    let metadata = MetadataCommand::new().no_deps().manifest_path(folder.join(MANIFEST)).exec()?;
    let found = find(&metadata);
    read.push(metadata);
    let missing =
        || ProjectError::Sources { path: folder.to_owned(), source: io::ErrorKind::NotFound.into() };
    Ok(found.ok_or_else(missing)?)
}

/// Which files of a folder are sources.
enum SourceScope<'a> {
    /// Rust files, and everything in `src`.
    Rust {
        package: &'a Path,
        target: &'a Path,
    },
    All,
}

impl SourceScope<'_> {
    /// The scope for a subfolder; `None` if it contains no sources.
    fn subfolder_scope(&self, folder: &Path) -> Option<&Self> {
        match self {
            Self::All => Some(self),
            Self::Rust { package, .. } if folder == package.join("src") => Some(&Self::All),
            Self::Rust { target, .. } => {
                let is_other = |file| folder.join(file).exists();
                let is_left_out = folder == *target || is_other(CACHE_TAG) || is_other(MANIFEST);
                (!is_left_out).then_some(self)
            }
        }
    }

    fn has(&self, file: &Path) -> bool {
        matches!(self, Self::All) || file.extension().is_some_and(|extension| extension == "rs")
    }
}

/// Adds the sources of a folder and its subfolders. `seen` holds canonical paths, against link cycles.
fn collect_sources(
    folder: &Path,
    scope: &SourceScope<'_>,
    seen: &mut BTreeSet<PathBuf>,
    files: &mut BTreeSet<PathBuf>,
) -> Result<(), Error> {
    let failed = |source| ProjectError::Sources { path: folder.to_owned(), source };
    if !seen.insert(folder.canonicalize().map_err(failed)?) {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // Editors' temporary files are hidden.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                if let Some(scope) = scope.subfolder_scope(&path) {
                    collect_sources(&path, scope, seen, files)?;
                }
            }
            Ok(_) if scope.has(&path) => drop(files.insert(path)),
            Ok(_) => {}
            // A broken symlink.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(ProjectError::Sources { path, source }.into()),
        }
    }
    Ok(())
}

/// Adds a file's name and hash. A missing file, such as the lock file, is ignored.
fn add_file(parts: &mut Vec<String>, name: &str, path: &Path) -> Result<(), Error> {
    match fs::read(path) {
        Ok(bytes) => parts.extend([name.to_owned(), sha256_hex(&[bytes])]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(ProjectError::Sources { path: path.to_owned(), source }.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// The package `app`, which depends by paths on `near` of its workspace and, through that, on `far` of another one.
    fn project() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let package =
            |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}");
        let near =
            "[dependencies]\nnear = { path = \"near\" }\n[workspace]\nmembers = [\"near\", \"other\"]\n";
        let files = [
            ("app/Cargo.toml", package("app", near)),
            ("app/near/Cargo.toml", package("near", "[dependencies]\nfar = { path = \"../../far\" }\n")),
            ("app/other/Cargo.toml", package("other", "")),
            ("far/Cargo.toml", package("far", "[dev-dependencies]\nunbuilt = { path = \"../unbuilt\" }\n")),
        ];
        for (file, text) in files {
            write(&folder, file, &text);
        }
        for name in ["app", "app/near", "app/other", "far"] {
            write(&folder, &format!("{name}/src/lib.rs"), "");
        }
        folder
    }

    fn write(folder: &TempDir, file: &str, text: &str) {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hash_of_app(folder: &TempDir) -> String {
        let app = folder.path().join("app");
        let mut command = MetadataCommand::new();
        // The environment may set a different one.
        command.env("CARGO_TARGET_DIR", app.join("target"));
        let metadata = command.no_deps().manifest_path(app.join("Cargo.toml")).exec().unwrap();
        let app = metadata.packages.iter().find(|package| *package.name == "app").unwrap();
        hash(&metadata, app).unwrap()
    }

    #[test]
    fn sources_are_those_of_the_package_of_its_path_dependencies_and_what_is_locked() {
        let folder = project();
        let mut before = hash_of_app(&folder);
        for file in [
            "app/src/lib.rs",
            "app/src/prompts/system.md",
            "app/src/target/mod.rs",
            "app/tests/evals.rs",
            "app/build.rs",
            "app/Cargo.lock",
            "app/near/src/lib.rs",
            "far/src/deep/er.txt",
        ] {
            write(&folder, file, "// changed");
            let after = hash_of_app(&folder);
            assert_ne!(before, after, "{file} is a source");
            before = after;
        }
        let manifest = fs::read_to_string(folder.path().join("far/Cargo.toml")).unwrap();
        write(&folder, "far/Cargo.toml", &format!("{manifest}# changed"));
        assert_ne!(before, hash_of_app(&folder), "a manifest is a source");
    }

    #[test]
    fn data_what_is_built_what_is_hidden_and_other_packages_are_no_sources() {
        let folder = project();
        let before = hash_of_app(&folder);
        write(&folder, "app/cache/CACHEDIR.TAG", "");
        for file in [
            "app/data/items.jsonl",
            "app/notes.md",
            "app/target/debug/build/out.rs",
            "app/cache/made.rs",
            "app/.cobalt/results/run.rs",
            "app/src/.lib.rs.swp",
            "app/other/src/lib.rs",
        ] {
            write(&folder, file, "// changed");
            assert_eq!(before, hash_of_app(&folder), "{file} is no source");
        }
    }

    #[test]
    fn the_same_sources_at_another_place_have_the_same_hash() {
        assert_eq!(hash_of_app(&project()), hash_of_app(&project()));
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_not_in_circles() {
        let folder = project();
        write(&folder, "prompts/system.md", "Be brief.");
        std::os::unix::fs::symlink("../../prompts", folder.path().join("app/src/prompts")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("app/src/circle")).unwrap();
        let before = hash_of_app(&folder);
        write(&folder, "prompts/system.md", "Be long.");
        assert_ne!(before, hash_of_app(&folder));
    }
}
