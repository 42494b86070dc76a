//! Where a new project finds the library, and why `init` can fail.

use std::path::{Path, PathBuf};
use std::{env, io};

use cobalt_core::wording::{self, line_and_column};
use toml_edit::{DocumentMut, InlineTable, Item, TomlError};

use crate::error::CommandError;

/// What stands behind `cobalt` in a manifest.
#[derive(Clone, Debug)]
pub enum Dependency {
    /// As the workspace says.
    Workspace,
    Path(PathBuf),
    Git {
        url: String,
        commit: String,
    },
    /// As the package has it already, where it is optional.
    Like(InlineTable),
}

impl Dependency {
    /// The library that this command was built with. `manifest` is where one could name it by hand.
    ///
    /// The crate `cobalt` of the package registry is another one, so that a version is no way to name it.
    pub fn locate(manifest: Option<&Path>) -> Result<Self, InitError> {
        let source_folder = source_folder();
        let folder = source_folder.with_file_name("cobalt");
        // The source of what was installed from a repository lies among cargo's own files, which it clears away.
        let beside = folder.join("Cargo.toml").exists().then_some(Self::Path(folder));
        installed_from()
            .or(beside)
            .ok_or_else(|| InitError::NoLibrary { source_folder, manifest: manifest.map(Path::to_owned) })
    }

    /// One that is there, and no longer optional.
    pub fn like(optional: &Item) -> Self {
        let fields = optional.as_table_like().into_iter().flat_map(|table| table.iter());
        let mut table = InlineTable::new();
        for (key, value) in fields.filter(|(key, _)| *key != "optional") {
            let mut value = value.as_value().cloned().unwrap_or_else(|| "".into());
            value.decor_mut().clear();
            table.insert(key, value);
        }
        if table.len() == 1 && table.contains_key("workspace") { Self::Workspace } else { Self::Like(table) }
    }

    /// What to do before the manifest is shared, if that names a place that others do not have.
    pub fn note(&self) -> Option<String> {
        let Self::Path(path) = self else { return None };
        Some(format!(
            "the dependency `cobalt` is a path of this machine, `{}`. To share the package, name the repository, as in \
             `cobalt = {{ git = \"…\" }}`, or a path relative to the manifest",
            path.display()
        ))
    }

    pub fn to_table(&self) -> InlineTable {
        let mut table = InlineTable::new();
        match self {
            Self::Workspace => {
                table.insert("workspace", true.into());
                table.set_dotted(true);
            }
            Self::Path(path) => {
                table.insert("path", path.display().to_string().into());
            }
            Self::Like(fields) => table.clone_from(fields),
            Self::Git { url, commit } => {
                table.insert("git", url.into());
                table.insert("rev", commit.into());
            }
        }
        table
    }
}

/// The folder of this package. What `cargo run` says comes before what the compiler saw, as two checkouts can share a
/// target folder, and so a binary.
fn source_folder() -> PathBuf {
    run_from().unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
}

/// The folder of this package where `cargo run` has started this program, as the alias of a clone does.
pub fn run_from() -> Option<PathBuf> {
    let is_run_by_cargo = env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME"));
    env::var_os("CARGO_MANIFEST_DIR").filter(|_| is_run_by_cargo).map(PathBuf::from)
}

/// The repository that `cargo install` notes for this program, beside the folder that it puts programs into.
fn installed_from() -> Option<Dependency> {
    let program = env::current_exe().ok()?;
    let list = program.parent()?.parent()?.join(".crates.toml");
    repository(&std::fs::read_to_string(list).ok()?)
}

/// Finds this package in cargo's list: `"cargo-cobalt 0.1.0 (git+https://host/cobalt?branch=main#commit)" = […]`.
fn repository(list: &str) -> Option<Dependency> {
    let list: DocumentMut = list.parse().ok()?;
    let installed = list.get("v1")?.as_table()?;
    let name = concat!(env!("CARGO_PKG_NAME"), " ");
    let package = installed.iter().map(|(package, _)| package).find(|package| package.starts_with(name))?;
    let (address, commit) = package.split_once("(git+")?.1.strip_suffix(')')?.split_once('#')?;
    let url = address.split_once('?').map_or(address, |(url, _)| url);
    Some(Dependency::Git { url: without_password(url), commit: commit.to_owned() })
}

/// A manifest is shared, and a password is not.
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
    #[error("failed to {action} `{}`: {source}; see that you may, or name another folder", .path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    #[error("`{}` is no folder: name the one with the Cargo.toml, or one that is to be made", .0.display())]
    NoFolder(PathBuf),

    #[error("failed to read `{}`: line {line}, column {column}: {reason}", .path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, reason: String },

    #[error(
        "`{}` is a workspace and no package: name {}", .root.display(), listed(.members)
    )]
    Virtual { root: PathBuf, members: Vec<String> },

    #[error("`{}` is no package that cargo knows", .0.display())]
    NoPackage(PathBuf),

    #[error(
        "the package in `{}` is called `cobalt`, as the library is, and cannot depend on it: rename the package",
        .0.display()
    )]
    Namesake(PathBuf),

    #[error(
        "the package in `{}` depends on the library under the name `{name}`, and the files that `init` writes call it \
         `cobalt`: write them yourself, with `crate = {name}` in each attribute, or rename the dependency to `cobalt`",
        .folder.display()
    )]
    Renamed { folder: PathBuf, name: String },

    #[error(
        "the package in `{}` is of edition 2015, in which experiments cannot be written: set `edition = \"2018\"` \
         or a later one in its Cargo.toml", .0.display()
    )]
    Edition(PathBuf),

    #[error(
        "the test target `{target}` has the usual front end of tests in `{}`: set `harness = false` there, or name another file",
        .manifest.display()
    )]
    Harness { manifest: PathBuf, target: String },

    #[error(
        "the workspace in `{}` has a package `{name}` already: give the folder another name", .root.display()
    )]
    NameTaken { root: PathBuf, name: String },

    #[error(
        "the library cannot be found: this command was built from `{}`, which is gone. Get a clone of Cobalt and \
         install the command from it with `cargo install --path cargo-cobalt`{}", .source_folder.display(),
        by_hand(.manifest.as_deref())
    )]
    NoLibrary { source_folder: PathBuf, manifest: Option<PathBuf> },

    #[error(
        "failed to edit `{}` and keep the rest of it byte by byte: dotted keys of one table stand apart, or lines \
         end in different ways. Write this into it, then run the command again:\n\n{additions}", .path.display()
    )]
    Format { path: PathBuf, additions: String },
}

impl CommandError for InitError {}

impl InitError {
    /// A manifest that is no TOML; `text` is what was parsed.
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

fn listed(members: &[String]) -> String {
    match members {
        [] => "a folder for its first member, as in `cargo cobalt init agent`".to_owned(),
        [one] => format!("the folder of its member: `cargo cobalt init {one}`"),
        [first, others @ ..] => {
            let others = wording::list(others.iter().map(String::as_str));
            format!("the folder of a member: `cargo cobalt init {first}`, or in its place {others}")
        }
    }
}

fn by_hand(manifest: Option<&Path>) -> String {
    match manifest {
        Some(manifest) => format!(
            ", or write `cobalt = {{ path = \"<the clone>/cobalt\" }}` under `[dev-dependencies]` in `{}`, and run \
             this again",
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
        let found = repository(list).unwrap();
        assert_eq!(found.to_table().to_string(), "{ git = \"https://host/team/cobalt\", rev = \"0123abc\" }");
    }

    #[test]
    fn a_command_installed_from_a_folder_names_no_repository() {
        assert!(repository("[v1]\n\"cargo-cobalt 0.1.0 (path+file:///w/cargo-cobalt)\" = []\n").is_none());
        assert!(repository("[v1]\n\"other 0.1.0 (git+https://host/other#0123abc)\" = []\n").is_none());
        assert!(repository("no list").is_none());
    }

    #[test]
    fn a_password_stays_out_of_the_manifest() {
        assert_eq!(without_password("https://user:token@host/cobalt"), "https://host/cobalt");
        assert_eq!(without_password("https://host/@team/cobalt"), "https://host/@team/cobalt");
        assert_eq!(without_password("ssh://git@host/cobalt"), "ssh://git@host/cobalt");
    }
}
