//! The folder of the package under test.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static COMPILED: OnceLock<&'static str> = OnceLock::new();

/// The folder of the package whose experiments run: the one with its `Cargo.toml`.
///
/// It is the run-time environment variable `CARGO_MANIFEST_DIR`, which `cargo test`, `cargo run` and
/// `cargo nextest` set. Where that is unset or empty, as in a binary started by hand, it is the folder the
/// experiments were compiled in, and without one the current folder.
///
/// ```
/// assert!(cobalt::paths::package_root().join("Cargo.toml").exists());
/// ```
pub fn package_root() -> PathBuf {
    choose_root(env::var_os("CARGO_MANIFEST_DIR"), COMPILED.get().copied())
}

/// A path as seen from the package's folder; an absolute path stays as it is.
///
/// ```
/// use cobalt::paths::{package_root, resolve};
///
/// assert_eq!(resolve("datasets/qa.jsonl"), package_root().join("datasets/qa.jsonl"));
/// ```
pub fn resolve(path: impl AsRef<Path>) -> PathBuf {
    package_root().join(path)
}

/// Keeps the package folder that the compiler saw; the first one wins, a binary has one package.
pub(crate) fn set_compiled_package_root(root: &'static str) {
    let _ = COMPILED.set(root);
}

/// The run-time folder comes first because two checkouts can share a target folder, and so a binary.
fn choose_root(run_time: Option<OsString>, compiled: Option<&str>) -> PathBuf {
    if let Some(root) = run_time.filter(|root| !root.is_empty()) {
        return root.into();
    }
    match compiled.filter(|root| !root.is_empty()) {
        Some(root) => root.into(),
        None => env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_time_folder_comes_before_the_compiled_one() {
        assert_eq!(choose_root(Some("/run".into()), Some("/compiled")), Path::new("/run"));
    }

    #[test]
    fn an_empty_run_time_folder_counts_as_unset() {
        assert_eq!(choose_root(Some("".into()), Some("/compiled")), Path::new("/compiled"));
        assert_eq!(choose_root(None, Some("/compiled")), Path::new("/compiled"));
    }

    #[test]
    fn the_current_folder_is_the_last_resort() {
        assert_eq!(choose_root(None, None), env::current_dir().unwrap());
        assert_eq!(choose_root(None, Some("")), env::current_dir().unwrap());
    }

    #[test]
    fn an_absolute_path_is_not_moved() {
        let absolute = env::temp_dir().join("data.json");
        assert_eq!(resolve(&absolute), absolute);
    }
}
