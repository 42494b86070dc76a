//! The environment variables that cargo sets for programs it runs: its own, and `[env]` of its configuration files.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::Package;
use toml_edit::{DocumentMut, Item, TomlError};

use super::discover::ProjectError;
use crate::error::Error;

/// The variables of a package.
pub fn package_variables(package: &Package) -> Vec<(String, String)> {
    let version = &package.version;
    let path = |path: &Option<cargo_metadata::camino::Utf8PathBuf>| path.as_ref().map(ToString::to_string);
    let or_empty = |text: Option<String>| text.unwrap_or_default();
    let root = package.manifest_path.parent().map_or_else(String::new, ToString::to_string);
    let variables = [
        ("MANIFEST_DIR", root),
        ("MANIFEST_PATH", package.manifest_path.to_string()),
        ("PKG_NAME", package.name.to_string()),
        ("PKG_VERSION", version.to_string()),
        ("PKG_VERSION_MAJOR", version.major.to_string()),
        ("PKG_VERSION_MINOR", version.minor.to_string()),
        ("PKG_VERSION_PATCH", version.patch.to_string()),
        ("PKG_VERSION_PRE", version.pre.to_string()),
        ("PKG_AUTHORS", package.authors.join(":")),
        ("PKG_DESCRIPTION", or_empty(package.description.clone())),
        ("PKG_HOMEPAGE", or_empty(package.homepage.clone())),
        ("PKG_REPOSITORY", or_empty(package.repository.clone())),
        ("PKG_LICENSE", or_empty(package.license.clone())),
        ("PKG_LICENSE_FILE", or_empty(path(&package.license_file))),
        ("PKG_README", or_empty(path(&package.readme))),
        ("PKG_RUST_VERSION", or_empty(package.rust_version.as_ref().map(ToString::to_string))),
    ];
    variables.into_iter().map(|(name, value)| (format!("CARGO_{name}"), value)).collect()
}

/// The names of such variables in this process, set if `cargo run` started it. They describe the wrong package, and would make
/// build scripts that read them run again.
pub fn inherited_names() -> impl Iterator<Item = OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    names.filter(move |name| name.to_str().is_some_and(is_of_package))
}

/// The search path for shared libraries: folders of build scripts inside the target folder, cargo's own folders, those of the
/// toolchain, and those of this process.
pub fn library_path(binary: &Path, linked: &[PathBuf], toolchain: &[PathBuf]) -> Option<(String, String)> {
    let name = if cfg!(target_os = "macos") {
        "DYLD_FALLBACK_LIBRARY_PATH"
    } else if cfg!(windows) {
        "PATH"
    } else {
        "LD_LIBRARY_PATH"
    };
    let before = std::env::var_os(name).unwrap_or_default();
    Some((name.to_owned(), search_path(binary, linked, toolchain, &before)?))
}

fn search_path(binary: &Path, linked: &[PathBuf], toolchain: &[PathBuf], before: &OsStr) -> Option<String> {
    let folders = library_folders(binary, linked, toolchain).into_iter().chain(std::env::split_paths(before));
    // An empty element would mean the current folder.
    let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    std::env::join_paths(folders).ok()?.into_string().ok()
}

/// The same without those of this process.
pub fn library_folders(binary: &Path, linked: &[PathBuf], toolchain: &[PathBuf]) -> Vec<PathBuf> {
    let built = binary.parent().unwrap_or(binary);
    let root = built.parent().unwrap_or(built);
    let linked = linked.iter().map(|folder| strip_kind(folder)).filter(|folder| folder.starts_with(root));
    let folders = linked.chain([root, built]).chain(toolchain.iter().map(|folder| &**folder));
    folders.map(Path::to_owned).collect()
}

/// A build script's search path without the `kind=` prefix.
fn strip_kind(folder: &Path) -> &Path {
    match folder.to_str().and_then(|folder| folder.split_once('=')) {
        Some(("native" | "dependency" | "crate" | "framework" | "all", folder)) => Path::new(folder),
        _ => folder,
    }
}

/// The folders of the standard library, located relative to cargo, which saves starting the compiler.
///
/// Folders of other platforms do no harm, as library names contain hashes.
pub fn toolchain_libraries(cargo: &Path) -> Vec<PathBuf> {
    let Some(toolchain) = cargo.parent().and_then(Path::parent) else { return Vec::new() };
    let platforms = fs::read_dir(toolchain.join("lib/rustlib")).into_iter().flatten().flatten();
    let of_this_processor =
        |platform: &fs::DirEntry| platform.file_name().to_string_lossy().starts_with(std::env::consts::ARCH);
    let mut folders: Vec<_> =
        platforms.filter(of_this_processor).map(|platform| platform.path().join("lib")).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders
}

/// The folder of configuration files.
const FOLDER: &str = ".cargo";
/// Names of configuration files; if both exist, cargo reads the older one.
const NAMES: [&str; 2] = ["config", "config.toml"];

/// The configured variables, except those already set in this process and not forced.
pub fn configured_variables() -> Result<Vec<(String, String)>, Error> {
    let here = env::current_dir().map_err(Error::CurrentFolder)?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(FOLDER)));
    Ok(unless_set(read(around(&here, home.as_deref()))?))
}

/// The variables configured in this folder alone, with the same exceptions.
pub fn variables_configured_in(folder: &Path) -> Result<Vec<(String, String)>, Error> {
    Ok(unless_set(read(std::iter::once(folder.join(FOLDER)))?))
}

/// Without the variables that are already set in this process and not forced.
fn unless_set(configured: Vec<Variable>) -> Vec<(String, String)> {
    let counts = |configured_variable: &Variable| {
        configured_variable.force || env::var_os(&configured_variable.name).is_none()
    };
    configured.into_iter().filter(counts).map(|Variable { name, value, .. }| (name, value)).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    value: String,
    /// Whether it overrides a variable that is already set.
    force: bool,
}

/// The folders with the configuration of a folder, of its parents, and last of cargo's home.
fn around<'a>(folder: &'a Path, home: Option<&Path>) -> impl Iterator<Item = PathBuf> + use<'a> {
    folder.ancestors().map(|folder| folder.join(FOLDER)).chain(home.map(Path::to_owned))
}

/// The variables in the configuration of these folders; the first one wins.
fn read(folders: impl Iterator<Item = PathBuf>) -> Result<Vec<Variable>, Error> {
    let mut configured: Vec<Variable> = Vec::new();
    for folder in folders {
        let Some(path) = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
            continue;
        };
        let failed = |source: cobalt_core::error_chain::BoxError| ProjectError::Manifest {
            path: path.clone(),
            source,
        };
        let text = fs::read_to_string(&path).map_err(|error| failed(error.into()))?;
        let config: DocumentMut = text.parse().map_err(|error: TomlError| failed(error.into()))?;
        // Paths are relative to the parent of `.cargo`.
        let base = folder.parent().unwrap_or(&folder);
        for (name, value) in
            config.get("env").and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter())
        {
            let is_new = configured.iter().all(|configured_variable| configured_variable.name != *name);
            configured.extend(configured_variable(name, value, base).filter(|_| is_new));
        }
    }
    Ok(configured)
}

/// One variable; cargo has already rejected other forms.
fn configured_variable(name: &str, value: &Item, base: &Path) -> Option<Variable> {
    let is = |field: &str| value.get(field).and_then(Item::as_bool).unwrap_or(false);
    let text = value.as_str().or_else(|| value.get("value")?.as_str())?;
    let path = base.join(text);
    let value = if is("relative") { path.to_str()? } else { text }.to_owned();
    Some(Variable { name: name.to_owned(), value, force: is("force") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn shared_libraries_are_searched_for_where_cargo_would_and_never_in_the_current_folder() {
        let search = |linked: &[&str], before: &str| {
            let linked: Vec<_> = linked.iter().map(PathBuf::from).collect();
            let binary = Path::new("/w/target/debug/deps/evals-1");
            search_path(binary, &linked, &["/rust/lib".into()], before.as_ref()).unwrap()
        };
        assert_eq!(search(&[], ""), "/w/target/debug:/w/target/debug/deps:/rust/lib");
        assert_eq!(search(&[], "/a::/b"), "/w/target/debug:/w/target/debug/deps:/rust/lib:/a:/b");
        assert_eq!(
            search(&["native=/w/target/debug/build/z/out", "/w/target/debug/y", "/usr/lib"], ""),
            "/w/target/debug/build/z/out:/w/target/debug/y:/w/target/debug:/w/target/debug/deps:/rust/lib"
        );
    }

    #[test]
    fn the_standard_library_is_found_beside_cargo() {
        let folder = tempfile::tempdir().unwrap();
        let library = |platform: &str| folder.path().join("lib/rustlib").join(platform).join("lib");
        let ours = library(&format!("{}-unknown-os", std::env::consts::ARCH));
        for folder in [&ours, &library("other-unknown-os")] {
            fs::create_dir_all(folder).unwrap();
        }
        assert_eq!(toolchain_libraries(&folder.path().join("bin/cargo")), [ours]);
        assert!(toolchain_libraries(Path::new("cargo")).is_empty());
    }

    fn write(folder: &Path, file: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }

    fn plain(name: &str, value: &str) -> Variable {
        Variable { name: name.to_owned(), value: value.to_owned(), force: false }
    }

    #[test]
    fn near_files_count_before_far_ones_and_the_home_of_cargo_is_the_last() {
        let outer = tempfile::tempdir().unwrap();
        let (inner, home) = (outer.path().join("inner"), outer.path().join("home/cargo"));
        write(&inner.join(".cargo"), "config.toml", "[env]\nA = \"near\"\n[build]\njobs = 1\n");
        write(&outer.path().join(".cargo"), "config", "[env]\nA = \"far\"\nB = \"far\"\n");
        write(&home, "config.toml", "[env]\nB = \"home\"\nC = { value = \"c\", relative = true }\n");
        let read = read(around(&inner, Some(&home))).unwrap();
        let c = outer.path().join("home/c");
        assert_eq!(read, [plain("A", "near"), plain("B", "far"), plain("C", c.to_str().unwrap())]);
    }

    #[test]
    fn a_variable_may_be_forced_and_relative_to_the_folder_around() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "[env]\nDATA = { value = \"data\", relative = true }\nMODE = { value = \"m\", force = true }\n";
        write(&folder.path().join(".cargo"), "config.toml", text);
        let data = folder.path().join("data");
        assert_eq!(
            read(around(&folder.path().join("tests"), None)).unwrap(),
            [plain("DATA", data.to_str().unwrap()), Variable { force: true, ..plain("MODE", "m") }]
        );
    }

    #[test]
    fn a_file_that_is_no_toml_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join(".cargo"), "config.toml", "[env\n");
        let message = read(around(folder.path(), None)).unwrap_err().to_string();
        assert!(message.contains("config.toml") && message.contains("line 1"), "{message}");
    }
}
