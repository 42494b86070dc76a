//! The variables that cargo sets for a program while it runs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Package;

/// Those that come from the package.
pub(super) fn of_package(package: &Package) -> Vec<(String, String)> {
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

/// The names of those that this process has of its own package, as where `cargo run` started it. They say nothing of what is
/// built below, and build scripts that ask for them would run again.
pub(crate) fn of_this_process() -> impl Iterator<Item = OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    names.filter(move |name| name.to_str().is_some_and(is_of_package))
}

/// The search path for shared libraries: the folders of build scripts that lie in what cargo has built, then cargo's own,
/// then those of the toolchain, then those of this process.
pub(super) fn library_path(
    binary: &Path,
    linked: &[PathBuf],
    toolchain: &[PathBuf],
) -> Option<(String, String)> {
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
    let built = binary.parent()?;
    let root = built.parent()?;
    let linked = linked.iter().map(|folder| without_kind(folder)).filter(|folder| folder.starts_with(root));
    let folders = linked.chain([root, built]).chain(toolchain.iter().map(|folder| &**folder));
    let before: Vec<_> = std::env::split_paths(before).collect();
    let folders = folders.chain(before.iter().map(|folder| &**folder));
    // The loader would take an empty element for the current folder.
    let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    std::env::join_paths(folders).ok()?.into_string().ok()
}

/// A folder as a build script names it, without the kind of libraries that are searched for in it.
fn without_kind(folder: &Path) -> &Path {
    match folder.to_str().and_then(|folder| folder.split_once('=')) {
        Some(("native" | "dependency" | "crate" | "framework" | "all", folder)) => Path::new(folder),
        _ => folder,
    }
}

/// The folders of the standard library, found beside cargo: to ask the compiler would cost a process.
///
/// Those of other platforms do no harm, as each library's name holds a hash.
pub(super) fn toolchain_libraries(cargo: &Path) -> Vec<PathBuf> {
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
}
