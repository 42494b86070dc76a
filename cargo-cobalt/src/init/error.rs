//! Why nothing was set up.

use std::io;
use std::path::{Path, PathBuf};

use cobalt::position::line_and_column;
use cobalt::suggest;
use toml_edit::TomlError;

use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
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
    pub(super) fn syntax(path: &Path, text: &str, error: &TomlError) -> Self {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        Self::Syntax {
            path: path.to_owned(),
            line,
            column,
            reason: error.message().trim_end().replace('\n', ", "),
        }
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action, path: path.to_owned(), source }
    }
}

fn listed(members: &[String]) -> String {
    match members {
        [] => "a folder for its first member, as in `cargo cobalt init agent`".to_owned(),
        [one] => format!("the folder of its member: `cargo cobalt init {one}`"),
        [first, others @ ..] => {
            let others = suggest::list(others.iter().map(String::as_str));
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
