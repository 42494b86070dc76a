//! Locates the library for a new project; errors of `init`.

use std::path::{Path, PathBuf};
use std::{env, io};

use cobalt_core::wording::{self, line_and_column};
use toml_edit::{DocumentMut, InlineTable, Item, TomlError};

use crate::error::CommandError;
use crate::project::LIBRARY;

/// The value of `cobalt` in a manifest's dependencies.
#[derive(Clone, Debug)]
pub enum Dependency {
    /// Inherited from the workspace.
    Workspace,
    Path(PathBuf),
    Git {
        url: String,
        commit: String,
    },
    /// From the package registry, as this command is.
    Version(String),
    /// Like the package's existing optional dependency.
    Existing(InlineTable),
}

impl Dependency {
    /// The library that this command was built with. `manifest` is the file to edit by hand if it is not found.
    pub fn locate(manifest: Option<&Path>) -> Result<Self, InitError> {
        let source_folder = source_folder();
        let folder = source_folder.with_file_name("cobalt");
        // The source of a command installed from a repository is in cargo's cache, which cargo can delete.
        let beside = folder.join("Cargo.toml").exists().then_some(Self::Path(folder));
        installed_from()
            .or(beside)
            .ok_or_else(|| InitError::NoLibrary { source_folder, manifest: manifest.map(Path::to_owned) })
    }

    /// An existing dependency, but not optional.
    pub fn from_optional(optional: &Item) -> Self {
        let fields = optional.as_table_like().into_iter().flat_map(|table| table.iter());
        let mut table = InlineTable::new();
        for (key, value) in fields.filter(|(key, _)| *key != "optional") {
            let mut value = value.as_value().cloned().unwrap_or_else(|| "".into());
            value.decor_mut().clear();
            table.insert(key, value);
        }
        if table.len() == 1 && table.contains_key("workspace") {
            Self::Workspace
        } else {
            Self::Existing(table)
        }
    }

    /// What to change before sharing the manifest, if it contains a local path.
    pub fn sharing_note(&self) -> Option<String> {
        let Self::Path(path) = self else { return None };
        Some(format!(
            "the dependency `cobalt` is a path on this machine, `{}`. To share the package, use the repository, e.g. \
             `cobalt = {{ package = \"{LIBRARY}\", git = \"…\" }}`, or a path relative to the manifest",
            path.display()
        ))
    }

    pub fn to_table(&self) -> InlineTable {
        let mut table = InlineTable::new();
        if !matches!(self, Self::Workspace | Self::Existing(_)) {
            table.insert("package", LIBRARY.into());
        }
        match self {
            Self::Workspace => {
                table.insert("workspace", true.into());
                table.set_dotted(true);
            }
            Self::Path(path) => {
                table.insert("path", path.display().to_string().into());
            }
            Self::Existing(fields) => table.clone_from(fields),
            Self::Git { url, commit } => {
                table.insert("git", url.into());
                table.insert("rev", commit.into());
            }
            Self::Version(version) => {
                table.insert("version", version.into());
            }
        }
        table
    }
}

/// The folder of this package. The path from `cargo run` takes precedence over the compiled-in one, as two checkouts can share a
/// target folder and thus a binary.
fn source_folder() -> PathBuf {
    run_from().unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
}

/// The folder of this package if `cargo run` started this program, as the alias in a clone does.
pub fn run_from() -> Option<PathBuf> {
    let is_run_by_cargo = env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME"));
    env::var_os("CARGO_MANIFEST_DIR").filter(|_| is_run_by_cargo).map(PathBuf::from)
}

/// The repository or the version that `cargo install` recorded for this program, next to its `bin` folder.
fn installed_from() -> Option<Dependency> {
    let program = env::current_exe().ok()?;
    let list = program.parent()?.parent()?.join(".crates.toml");
    recorded(&std::fs::read_to_string(list).ok()?)
}

/// Finds this package in cargo's list: `"cargo-cobalt 0.1.0 (git+https://host/cobalt?branch=main#commit)" = […]`.
fn recorded(list: &str) -> Option<Dependency> {
    let list: DocumentMut = list.parse().ok()?;
    let installed = list.get("v1")?.as_table()?;
    let name = concat!(env!("CARGO_PKG_NAME"), " ");
    let package = installed.iter().map(|(package, _)| package).find(|package| package.starts_with(name))?;
    if let Some((version, _)) = package[name.len()..].split_once(" (registry+") {
        return Some(Dependency::Version(version.to_owned()));
    }
    let (address, commit) = package.split_once("(git+")?.1.strip_suffix(')')?.split_once('#')?;
    let url = address.split_once('?').map_or(address, |(url, _)| url);
    Some(Dependency::Git { url: without_password(url), commit: commit.to_owned() })
}

/// Manifests are shared, passwords are not.
fn without_password(url: &str) -> String {
    match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?))) {
        Some((scheme, (user, host))) if !user.contains('/') && scheme.starts_with("http") => {
            format!("{scheme}://{host}")
        }
        _ => url.to_owned(),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("failed to {action} `{}`: {source}; check the permissions, or choose another folder", .path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    #[error("`{}` is not a folder; pass the folder of a Cargo.toml, or a new folder", .0.display())]
    NoFolder(PathBuf),

    #[error("failed to read `{}`: line {line}, column {column}: {reason}", .path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, reason: String },

    #[error(
        "`{}` is a workspace, not a package; pass {}", .root.display(), member_suggestions(.members)
    )]
    Virtual { root: PathBuf, members: Vec<String> },

    #[error("`{}` is not a package known to cargo", .0.display())]
    NoPackage(PathBuf),

    #[error(
        "the package in `{}` is named `cobalt` like the library, so it cannot depend on it; rename the package",
        .0.display()
    )]
    Namesake(PathBuf),

    #[error(
        "the package in `{}` depends on the library as `{name}`, but the files that `init` writes call it `cobalt`; \
         rename the dependency to `cobalt`, or write the files yourself with `crate = {name}` in each attribute",
        .folder.display()
    )]
    Renamed { folder: PathBuf, name: String },

    #[error(
        "the package in `{}` uses edition 2015, which experiments do not support; set `edition = \"2018\"` or later \
         in its Cargo.toml", .0.display()
    )]
    Edition(PathBuf),

    #[error(
        "the test target `{target}` in `{}` uses the default test harness; set `harness = false` there, or choose another file",
        .manifest.display()
    )]
    Harness { manifest: PathBuf, target: String },

    #[error(
        "the workspace in `{}` already has a package `{name}`; use another folder name", .root.display()
    )]
    NameTaken { root: PathBuf, name: String },

    #[error(
        "library not found: this command was built from `{}`, which no longer exists. Clone Cobalt and install the \
         command from the clone with `cargo install --path cargo-cobalt`{}", .source_folder.display(),
        manual_instructions(.manifest.as_deref())
    )]
    NoLibrary { source_folder: PathBuf, manifest: Option<PathBuf> },

    #[error(
        "failed to edit `{}` without changing the rest of it: dotted keys of a table are not adjacent, or line endings \
         are mixed. Add this to the file, then run the command again:\n\n{additions}", .path.display()
    )]
    Format { path: PathBuf, additions: String },
}

impl CommandError for InitError {}

impl InitError {
    /// A manifest that is not valid TOML; `text` is what was parsed.
    pub fn syntax(path: &Path, text: &str, error: &TomlError) -> Self {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        Self::Syntax {
            path: path.to_owned(),
            line,
            column,
            reason: error.message().trim_end().replace('\n', ", "),
        }
    }

    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action, path: path.to_owned(), source }
    }
}

fn member_suggestions(members: &[String]) -> String {
    match members {
        [] => "a folder for its first member, e.g. `cargo cobalt init agent`".to_owned(),
        [one] => format!("the folder of its member: `cargo cobalt init {one}`"),
        [first, others @ ..] => {
            let others = wording::join_quoted(others.iter().map(String::as_str));
            format!("the folder of a member: `cargo cobalt init {first}`; other members: {others}")
        }
    }
}

fn manual_instructions(manifest: Option<&Path>) -> String {
    match manifest {
        Some(manifest) => format!(
            ", or add `cobalt = {{ package = \"{LIBRARY}\", path = \"<the clone>/cobalt\" }}` to `[dev-dependencies]` in \
             `{}`, and run this command again",
            manifest.display()
        ),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_lies_beside_the_source_of_this_command() {
        let Ok(Dependency::Path(folder)) = Dependency::locate(None) else { panic!("not found") };
        assert!(folder.is_absolute() && folder.join("src/lib.rs").exists());
    }

    #[test]
    fn a_command_installed_from_a_repository_names_it_and_its_commit() {
        let list = "[v1]\n\"cargo-nextest 0.9.143 (registry+https://host/index)\" = [\"cargo-nextest\"]\n\
                    \"cargo-cobalt 0.1.0 (git+https://host/team/cobalt?branch=main#0123abc)\" = [\"cargo-cobalt\"]\n";
        let found = recorded(list).unwrap();
        assert_eq!(
            found.to_table().to_string(),
            "{ package = \"cobalt-evals\", git = \"https://host/team/cobalt\", rev = \"0123abc\" }"
        );
    }

    #[test]
    fn a_command_from_the_registry_names_its_version() {
        let found =
            recorded("[v1]\n\"cargo-cobalt 0.1.0 (registry+https://host/index)\" = [\"cargo-cobalt\"]\n");
        assert_eq!(
            found.unwrap().to_table().to_string(),
            "{ package = \"cobalt-evals\", version = \"0.1.0\" }"
        );
    }

    #[test]
    fn a_command_installed_from_a_folder_names_no_repository() {
        assert!(recorded("[v1]\n\"cargo-cobalt 0.1.0 (path+file:///w/cargo-cobalt)\" = []\n").is_none());
        assert!(recorded("[v1]\n\"other 0.1.0 (git+https://host/other#0123abc)\" = []\n").is_none());
        assert!(recorded("no list").is_none());
    }

    #[test]
    fn a_password_stays_out_of_the_manifest() {
        assert_eq!(without_password("https://user:token@host/cobalt"), "https://host/cobalt");
        assert_eq!(without_password("https://host/@team/cobalt"), "https://host/@team/cobalt");
        assert_eq!(without_password("ssh://git@host/cobalt"), "ssh://git@host/cobalt");
    }
}
