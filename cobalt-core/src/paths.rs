//! The folders of the package under test and of its workspace, the bases of relative paths.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use serde::Deserialize;

static COMPILED: OnceLock<&'static str> = OnceLock::new();

/// The folder of the package whose experiments run: the one with `Cargo.toml`.
///
/// It is the run-time environment variable `CARGO_MANIFEST_DIR`, which `cargo test`, `cargo run` and `cargo nextest` set.
/// If that is unset or empty, for example in a binary started directly, it is the folder at compile time, or else the current
/// folder.
///
/// ```
/// assert!(cobalt_core::paths::package_root().join("Cargo.toml").exists());
/// ```
pub fn package_root() -> PathBuf {
    choose_root(env::var_os("CARGO_MANIFEST_DIR"), COMPILED.get().copied())
}

/// Resolves a path relative to the package's folder; absolute paths are unchanged.
///
/// ```
/// use cobalt_core::paths::{package_root, resolve};
///
/// assert_eq!(resolve("datasets/qa.jsonl"), package_root().join("datasets/qa.jsonl"));
/// ```
pub fn resolve(path: impl AsRef<Path>) -> PathBuf {
    package_root().join(path)
}

/// Sets the package folder at compile time. The first call wins, as a binary has one package.
pub fn set_compiled_package_root(root: &'static str) {
    let _ = COMPILED.set(root);
}

/// The run-time folder takes precedence because two checkouts can share a target folder, and thus a binary.
fn choose_root(run_time: Option<OsString>, compiled: Option<&str>) -> PathBuf {
    if let Some(root) = run_time.filter(|root| !root.is_empty()) {
        return root.into();
    }
    match compiled.filter(|root| !root.is_empty()) {
        Some(root) => root.into(),
        None => env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    }
}

/// The root of the workspace of a folder, or the folder itself without a workspace.
///
/// The rules are cargo's. The manifests in the folder and its parents are checked, nearest first: one with a `[workspace]` table is
/// the root unless it excludes the folder, and one with the key `package.workspace` names the root. A folder that the workspace
/// does not list still belongs to it; cargo reports that. Invalid manifests are ignored.
///
/// ```
/// use std::path::Path;
///
/// let package = Path::new(env!("CARGO_MANIFEST_DIR"));
/// assert_eq!(cobalt_core::paths::workspace_root(package), package.parent().unwrap());
/// ```
#[must_use]
pub fn workspace_root(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find_map(|ancestor| Manifest::read(ancestor)?.root(ancestor, folder));
    root.unwrap_or_else(|| folder.to_owned())
}

/// The workspace settings of a manifest.
#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    workspace: Option<Workspace>,
}

#[derive(Deserialize)]
struct Package {
    /// The folder of the workspace root, relative to the package.
    workspace: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Workspace {
    #[serde(default)]
    members: Vec<PathBuf>,
    #[serde(default)]
    exclude: Vec<PathBuf>,
}

impl Manifest {
    fn read(folder: &Path) -> Option<Self> {
        toml::from_str(&fs::read_to_string(folder.join("Cargo.toml")).ok()?).ok()
    }

    /// The workspace root of `folder` according to this manifest in the folder `here`, if any.
    fn root(&self, here: &Path, folder: &Path) -> Option<PathBuf> {
        if let Some(workspace) = &self.workspace {
            return (here == folder || !workspace.excludes(here, folder)).then(|| here.to_owned());
        }
        let named = self.package.as_ref()?.workspace.as_ref()?;
        Some(normalize(&here.join(named)))
    }
}

impl Workspace {
    /// Whether a folder is below an excluded one and not below a member. Glob patterns are not supported here.
    fn excludes(&self, root: &Path, folder: &Path) -> bool {
        let is_below_any = |paths: &[PathBuf]| paths.iter().any(|path| folder.starts_with(root.join(path)));
        is_below_any(&self.exclude) && !is_below_any(&self.members)
    }
}

/// The path without `.` and `..`. Like cargo, it does not follow symlinks.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // Keeps leading `..`.
            Component::ParentDir if normalized.file_name().is_some() => drop(normalized.pop()),
            component => normalized.push(component),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

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

    /// Manifests by their folders.
    struct Tree(TempDir);

    impl Tree {
        fn new(manifests: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (folder, text) in manifests {
                fs::create_dir_all(tree.0.path().join(folder)).unwrap();
                fs::write(tree.0.path().join(folder).join("Cargo.toml"), text).unwrap();
            }
            tree
        }

        /// The root for a folder, relative to the tree.
        fn root_of(&self, folder: &str) -> String {
            let root = workspace_root(&self.0.path().join(folder));
            root.strip_prefix(self.0.path()).unwrap().to_str().unwrap().replace('\\', "/")
        }
    }

    const PACKAGE: &str = "[package]\nname = \"p\"\n";

    #[test]
    fn a_package_without_a_workspace_stands_for_itself() {
        let tree = Tree::new(&[("", PACKAGE), ("p", PACKAGE)]);
        assert_eq!(tree.root_of("p"), "p");
        assert_eq!(tree.root_of("not there"), "not there");
    }

    #[test]
    fn the_nearest_manifest_with_a_workspace_table_is_the_root() {
        let workspaces = [
            "[workspace]\n",
            "[workspace.dependencies]\n",
            "[ workspace ]\n",
            "workspace.members = [\"p\"]\n",
            "workspace = { members = [\"a/p\"] }\n",
            "\u{feff}[workspace]\r\nmembers = [\"*\"]\r\n",
        ];
        for workspace in workspaces {
            let tree =
                Tree::new(&[("", "[workspace]\n"), ("w", workspace), ("w/a", PACKAGE), ("w/a/p", PACKAGE)]);
            assert_eq!(tree.root_of("w/a/p"), "w", "{workspace}");
            assert_eq!(tree.root_of("w/a/not there"), "w", "{workspace}");
            assert_eq!(tree.root_of("w"), "w", "{workspace}");
        }
    }

    #[test]
    fn a_line_that_looks_like_a_workspace_table_is_none() {
        let description = "[package]\nname = \"p\"\ndescription = \"\"\"\n[workspace]\n\"\"\"\n";
        let tree = Tree::new(&[("", description), ("p", PACKAGE)]);
        assert_eq!(tree.root_of("p"), "p");
    }

    #[test]
    fn a_workspace_is_no_root_for_what_it_excludes() {
        let exclude = "[workspace]\nmembers = [\"crates/*\", \"old/kept\"]\n\
                       exclude = [\"lab\", \"./crates/out/\", \"old\", \"glob*\"]\n";
        let tree = Tree::new(&[("", exclude)]);
        for own in ["lab", "lab/deep", "crates/out", "old/p"] {
            assert_eq!(tree.root_of(own), own);
        }
        for folder in ["laboratory", "crates/in", "old/kept", "old/kept/deep", "globe", "unlisted"] {
            assert_eq!(tree.root_of(folder), "", "{folder}");
        }
    }

    #[test]
    fn above_a_workspace_that_excludes_a_package_there_may_be_its_own() {
        let exclude = "[workspace]\nexclude = [\"p\"]\n";
        let tree = Tree::new(&[("", "[workspace]\n"), ("w", exclude), ("w/p", PACKAGE)]);
        assert_eq!(tree.root_of("w/p"), "");
        let tree = Tree::new(&[("", "[workspace]\nexclude = [\"w\"]\n"), ("w", exclude), ("w/p", PACKAGE)]);
        assert_eq!(tree.root_of("w/p"), "w/p");
    }

    #[test]
    fn a_workspace_that_excludes_its_own_folder_has_a_root_all_the_same() {
        let tree = Tree::new(&[("w", "[workspace]\nexclude = [\"\"]\n"), ("w/p", PACKAGE)]);
        assert_eq!(tree.root_of("w"), "w");
        assert_eq!(tree.root_of("w/p"), "w/p");
    }

    #[test]
    fn a_package_may_name_its_root() {
        let named = "[package]\nname = \"p\"\nworkspace = \"../.././there/\"\n";
        let tree = Tree::new(&[
            ("", "[workspace]\n"),
            ("there", "[workspace]\nmembers = [\"../a/p\"]\nexclude = [\"../a/p\"]\n"),
            ("a/p", named),
            ("a/p/nested", PACKAGE),
        ]);
        assert_eq!(tree.root_of("a/p"), "there");
        assert_eq!(tree.root_of("a/p/nested"), "there", "as in cargo");
        assert_eq!(tree.root_of("a"), "");
    }

    #[test]
    fn a_manifest_that_cargo_could_not_read_counts_for_nothing() {
        for broken in ["[workspace]\nmembers = [\n", "[workspace]\nexclude = \"p\"\n", "workspace = true\n"] {
            let tree = Tree::new(&[("", "[workspace]\n"), ("w", broken), ("w/p", PACKAGE)]);
            assert_eq!(tree.root_of("w/p"), "", "{broken}");
        }
    }

    #[test]
    fn a_path_that_begins_above_stays_there() {
        assert_eq!(normalize(Path::new("./a/../../b/./c")), Path::new("../b/c"));
    }
}
