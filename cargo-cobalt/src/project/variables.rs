//! The variables that cargo sets for a test binary while it runs.

use std::path::Path;

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

/// The search path for shared libraries, in which those that cargo has built come first.
pub(super) fn library_path(binary: &Path) -> Option<(String, String)> {
    let name = if cfg!(target_os = "macos") {
        "DYLD_FALLBACK_LIBRARY_PATH"
    } else if cfg!(windows) {
        "PATH"
    } else {
        "LD_LIBRARY_PATH"
    };
    let built = binary.parent()?;
    let before = std::env::var_os(name).unwrap_or_default();
    let folders = [Some(built), built.parent()].into_iter().flatten().map(Path::to_owned);
    let joined = std::env::join_paths(folders.chain(std::env::split_paths(&before))).ok()?;
    Some((name.to_owned(), joined.into_string().ok()?))
}
