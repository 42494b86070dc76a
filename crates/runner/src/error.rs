//! Errors of commands and their exit codes. A module defines its own error enum for errors that only it raises, and implements
//! [`CommandError`] for it; shared errors are defined here.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::command::config::ConfigError;
use cobalt_core::error_chain::BoxError;
use cobalt_core::redact::redacted;
use cobalt_core::reporters::escape_control;

use crate::terminal::wrap_for_stderr;

/// The kind of an error; determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Invalid arguments.
    Arguments,
    /// No match for a name or a filter.
    NothingMatched,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// Something outside of this program failed: a file, a setting, a build.
    Setup,
}

/// An error of one module. `?` converts it into [`Error`].
pub trait CommandError: StdError + Send + Sync + 'static {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Setup
    }
}

impl CommandError for cobalt::Error {}
impl CommandError for cobalt::DatasetError {}
impl CommandError for cobalt_core::report::ReportJsonError {}
impl CommandError for cobalt_core::store::StoreError {}
impl CommandError for ConfigError {}

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{error}")]
    Module { kind: ErrorKind, error: BoxError },

    #[error("{0}")]
    Arguments(String),

    #[error("{0}")]
    NothingMatched(String),

    #[error("{}", .0.join("\nerror: "))]
    Multiple(Vec<String>),

    #[error("this needs the complete command `cargo-cobalt`")]
    Incomplete,

    #[error("stopped")]
    Interrupted,

    #[error("failed to create the temporary file for the budget: {0}")]
    Ledger(io::Error),

    #[error("failed to write to stdout: {0}")]
    Print(io::Error),

    #[error("failed to serialize to JSON: {0}")]
    Json(serde_json::Error),

    #[error("failed to find the current folder: {0}; cd into an existing folder")]
    CurrentFolder(io::Error),

    #[error("`{}` is not in a Cargo project; cd into one, or create one with `cargo cobalt init`", .0.display())]
    NoProject(PathBuf),

    #[error("failed to read the project: {}", metadata_reason(.0))]
    Metadata(#[from] cargo_metadata::Error),

    #[error("failed to start `{program}`: {source}; check that it exists and is executable")]
    Start { program: String, source: io::Error },

    #[error("failed to wait for {program}: {source}")]
    Wait { program: String, source: io::Error },

    #[error("failed to read `{}`: {reason}", .path.display())]
    RunFile { path: PathBuf, reason: String },

    #[error(
        "failed to write the report `{}`: {source}; make its folder writable, or choose another file: `--output PATH` \
         of `export`, `--reporter junit=PATH` of `run`",
        .path.display()
    )]
    ReportFile { path: PathBuf, source: io::Error },

    #[error("failed to read the folder `{}`: {source}; make it readable", .path.display())]
    Folder { path: PathBuf, source: io::Error },

    #[error("failed to serve: {0}")]
    Server(io::Error),
}

/// What to do if a file in the temporary folder cannot be written or read.
pub fn temp_folder_remedy(error: &io::Error) -> String {
    let folder = std::env::temp_dir();
    let shown = folder.display();
    let variable = if cfg!(windows) { "TMP" } else { "TMPDIR" };
    match error.kind() {
        io::ErrorKind::NotFound if folder.is_dir() => {
            format!("something else removed it from `{shown}`; run the command again")
        }
        io::ErrorKind::NotFound => {
            format!(
                "the temporary folder `{shown}` does not exist; create it, or set {variable} to another folder"
            )
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("make the temporary folder `{shown}` writable, or set {variable} to another folder")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("free up space in the temporary folder `{shown}`, or set {variable} to another folder")
        }
        _ => format!("the temporary folder is `{shown}`; {variable} sets another one"),
    }
}

/// Cargo's message without the `error: ` prefix.
fn metadata_reason(error: &cargo_metadata::Error) -> String {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let stderr = stderr.trim();
            stderr.strip_prefix("error: ").unwrap_or(stderr).to_owned()
        }
        other => other.to_string(),
    }
}

impl<E: CommandError> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Module { kind: error.kind(), error: error.into() }
    }
}

impl Error {
    /// The error of a module, if it has this type.
    pub fn downcast<E: CommandError>(&self) -> Option<&E> {
        match self {
            Self::Module { error, .. } => error.downcast_ref(),
            _ => None,
        }
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Module { kind, .. } => *kind,
            Self::Arguments(_) => ErrorKind::Arguments,
            Self::NothingMatched(_) => ErrorKind::NothingMatched,
            Self::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Setup,
        }
    }

    /// Prints the error on stderr, except for a broken pipe.
    pub fn eprint(&self) {
        match self {
            // Ctrl-C is not an error; it is how `watch` is stopped.
            Self::Interrupted => eprintln!("{}", wrap_for_stderr(&self.to_string())),
            _ if self.is_broken_pipe() => {}
            _ => eprintln!(
                "{}",
                wrap_for_stderr(&format!("error: {}", escape_control(&redacted(&self.to_string()))))
            ),
        }
    }

    /// Whether the reader of our output has closed it, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Print(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub fn exit_code(&self) -> ExitCode {
        match self.kind() {
            _ if self.is_broken_pipe() => ExitCode::SUCCESS,
            ErrorKind::Arguments => ExitCode::from(2),
            ErrorKind::Setup => ExitCode::from(3),
            ErrorKind::NothingMatched => ExitCode::from(4),
            ErrorKind::Interrupted => ExitCode::from(130),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no bird named `{0}`")]
    struct NoBird(&'static str);

    impl CommandError for NoBird {
        fn kind(&self) -> ErrorKind {
            ErrorKind::NothingMatched
        }
    }

    #[test]
    fn the_error_of_a_room_keeps_its_message_its_kind_and_its_type() {
        let error = Error::from(NoBird("dodo"));
        assert_eq!(error.to_string(), "no bird named `dodo`");
        assert_eq!(error.exit_code(), ExitCode::from(4));
        assert!(error.downcast::<NoBird>().is_some() && error.downcast::<ConfigError>().is_none());
    }

    #[test]
    fn temp_folder_remedies_fit_the_cause() {
        use std::io::ErrorKind::{NotFound, Other, PermissionDenied, StorageFull};

        let remedies = [
            (NotFound, "something else removed it from `"),
            (PermissionDenied, "make the temporary folder `"),
            (StorageFull, "free up space in the temporary folder `"),
            (Other, "the temporary folder is `"),
        ];
        for (kind, expected) in remedies {
            let remedy = temp_folder_remedy(&kind.into());
            assert!(remedy.starts_with(expected), "{remedy}");
        }
    }
}
