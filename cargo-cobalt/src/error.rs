//! What can go wrong outside of this program, each with its exit code.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::BoxError;
use cobalt::redact::redacted;
use cobalt::reporters::printable;

use crate::assistants::AssistantsError;
use crate::datasets::WriteError;
use crate::init::InitError;
use crate::runs::UnknownRun;
use crate::terminal::for_stderr;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("failed to read the project: {}", metadata_reason(.0))]
    Metadata(#[from] cargo_metadata::Error),

    #[error("`{}` is in no cargo project: change to one, or make one with `cargo cobalt init`", .0.display())]
    NoProject(PathBuf),

    #[error("failed to read `{}`: {source}", .path.display())]
    Manifest { path: PathBuf, source: BoxError },

    #[error("failed to read `{}`: {}", .path.display(), env_file_reason(*.line, .source))]
    EnvFile { path: PathBuf, line: usize, source: dotenvy::Error },

    #[error(transparent)]
    Config(#[from] cobalt::config::ConfigError),

    #[error(transparent)]
    Library(#[from] cobalt::Error),

    #[error("failed to start `{program}`: {source}; see that it is there and may be started")]
    Start { program: String, source: io::Error },

    #[error("failed to wait for {program}: {source}")]
    Wait { program: String, source: io::Error },

    #[error("failed to read the binary `{}`: {source}", .path.display())]
    Binary { path: PathBuf, source: io::Error },

    #[error("failed to catch Ctrl-C: {0}")]
    Signals(ctrlc::Error),

    #[error("failed to read what cargo says: {0}")]
    Messages(io::Error),

    #[error("failed to make the pipe for events: {0}; make the folder of temporary files writable")]
    Pipe(io::Error),

    #[error("failed to read the sources in `{}`: {source}; make them readable", .path.display())]
    Sources { path: PathBuf, source: io::Error },

    #[error("the experiments could not be built: mend what cargo says above")]
    Build,

    #[error("failed to find the current folder: {0}; change to a folder that exists")]
    CurrentFolder(io::Error),

    #[error(
        "failed to write the report `{}`: {source}; make its folder writable, or name another file: `--output PATH` of \
         `export`, and of a reporter as in `--reporter junit=PATH`",
        .path.display()
    )]
    ReportFile { path: PathBuf, source: io::Error },

    #[error("failed to list the results in `{}`: {source}; make the folder readable, or name another one in COBALT_DIR", .path.display())]
    Results { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is no index of ours, and is left as it is; name another file in COBALT_HISTORY_DB, or remove this one",
        .path.display()
    )]
    ForeignIndex { path: PathBuf },

    #[error("failed to lay the baselines of a commit out: {0}; make the folder of temporary files writable")]
    LayOut(io::Error),

    #[error("failed to index the results in memory: {0}")]
    Index(#[from] rusqlite::Error),

    #[error("failed to write pages for `man` to `{}`: {source}; name a folder that you may write to", .path.display())]
    ManPages { path: PathBuf, source: io::Error },

    #[error(transparent)]
    Assistants(#[from] AssistantsError),

    #[error(transparent)]
    DataFile(#[from] WriteError),

    #[error(transparent)]
    Init(#[from] InitError),

    #[error(transparent)]
    UnknownRun(#[from] UnknownRun),

    #[error("failed to read `{}`: {reason}", .path.display())]
    RunFile { path: PathBuf, reason: String },

    #[error("{0}")]
    NothingMatched(String),

    #[error("{0}")]
    Arguments(String),

    #[error("{}", .0.join("\nerror: "))]
    Broken(Vec<String>),

    #[error("stopped")]
    Interrupted,

    #[error("failed to look into `{}`: {source}; make it readable", .path.display())]
    Folder { path: PathBuf, source: io::Error },

    #[error("failed to watch for changes: {0}{hint}", hint = watch_hint(.0))]
    Watch(#[from] notify::Error),

    #[error(
        "failed to listen on {address}: {source}; name another port with `--port` or `dashboard.port`, or 0 for any that is \
         free"
    )]
    Listen { address: SocketAddr, source: io::Error },

    #[error(
        "failed to listen on {0}, as another program does; name another port with `--port` or `dashboard.port`, or 0 for \
         any that is free"
    )]
    PortTaken(SocketAddr),

    #[error(
        "COBALT_TOKEN is no token: it has at least {0} characters, each a letter, a digit or another visible one of ASCII"
    )]
    Token(usize),

    #[error("failed to make a token: {0}; set one in COBALT_TOKEN")]
    NoToken(getrandom::Error),

    #[error("failed to serve: {0}")]
    Server(io::Error),

    #[error("failed to ask: {0}; with `--yes` nothing is asked")]
    Ask(io::Error),

    #[error("failed to write to stdout: {0}")]
    Print(io::Error),
}

/// What cargo says, without its own word for an error.
fn metadata_reason(error: &cargo_metadata::Error) -> String {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let stderr = stderr.trim();
            stderr.strip_prefix("error: ").unwrap_or(stderr).to_owned()
        }
        other => other.to_string(),
    }
}

/// Without the line itself, which may hold a secret.
fn env_file_reason(line: usize, error: &dotenvy::Error) -> String {
    match error {
        dotenvy::Error::LineParse(..) => {
            format!("line {line} is no `NAME=value`, or its quotes are not closed")
        }
        other => other.to_string(),
    }
}

/// What to do about a limit of the system.
fn watch_hint(error: &notify::Error) -> &'static str {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "; raise the limit, on Linux `fs.inotify.max_user_watches` of sysctl"
        }
        _ => "",
    }
}

impl Error {
    /// Says it on stderr. Who has stopped reading wants to hear no more.
    pub(crate) fn tell(&self) {
        match self {
            // Whoever pressed Ctrl-C made no mistake: it is how `watch` is ended.
            Self::Interrupted => eprintln!("{}", for_stderr(&self.to_string())),
            _ if self.is_broken_pipe() => {}
            _ => eprintln!("{}", for_stderr(&format!("error: {}", printable(&redacted(&self.to_string()))))),
        }
    }

    /// Whether whoever read our output has stopped, as `head` does.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Print(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NothingMatched(_) | Self::UnknownRun(_) => ExitCode::from(4),
            Self::Arguments(_) => ExitCode::from(2),
            Self::Interrupted => ExitCode::from(130),
            _ if self.is_broken_pipe() => ExitCode::SUCCESS,
            _ => ExitCode::from(3),
        }
    }
}
