//! Why an archive cannot be written or run.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("failed to write the archive `{}`: {source}; make its folder writable, or choose another file with `--output`", .path.display())]
    Write { path: PathBuf, source: io::Error },

    #[error("failed to pack `{}`: {source}; make it readable, or add it to .gitignore", .path.display())]
    Pack { path: PathBuf, source: io::Error },

    #[error("failed to pack `{}`: it changed while it was read; archive again", .0.display())]
    Changed(PathBuf),

    #[error(
        "too many files to pack: their list has {bytes} bytes, and {limit} is the limit; add generated files to .gitignore"
    )]
    TooManyFiles { bytes: u64, limit: u64 },

    #[error("failed to find the files to pack: {0}")]
    Walk(ignore::Error),

    #[error("`--include {pattern}`: {reason}")]
    Include { pattern: String, reason: String },

    #[error("`{}` is outside of the target folder `{}`, so it cannot be packed; build without `--artifact-dir`", .path.display(), .target.display())]
    OutsideTarget { path: PathBuf, target: PathBuf },

    #[error("failed to read the shared libraries that `{}` needs: {source}", .path.display())]
    Libraries { path: PathBuf, source: goblin::error::Error },

    #[error("failed to ask cargo for the platform: {0}")]
    Platform(String),

    #[error("failed to read the archive `{}`: {source}", .path.display())]
    Open { path: PathBuf, source: io::Error },

    #[error("the archive `{}` is damaged or incomplete: {reason}; copy it again, or create it again with `cargo cobalt archive`", .path.display())]
    Damaged { path: PathBuf, reason: String },

    #[error("`{}` is not an archive of `cargo cobalt archive` or `cargo nextest archive`", .0.display())]
    NotAnArchive(PathBuf),

    #[error(
        "the archive `{}` has format {format}, and this version of Cobalt reads format {known}; update cargo-cobalt to {version} or \
         later",
        .path.display()
    )]
    Newer { path: PathBuf, format: u64, known: u64, version: String },

    #[error("refused to unpack `{}`: entry `{entry}` {reason}", .path.display())]
    Unsafe { path: PathBuf, entry: String, reason: &'static str },

    #[error("refused to unpack `{}`: it exceeds the size limit of {limit} bytes", .path.display())]
    TooLarge { path: PathBuf, limit: u64 },

    #[error(
        "the archive `{}` was built for {packed}, and this machine is {here}; create the archive there, or with \
         `cargo cobalt archive --target TRIPLE`",
        .path.display()
    )]
    OtherPlatform { path: PathBuf, packed: String, here: String },

    #[error("failed to unpack into `{}`: {source}; choose a writable folder with `--extract-to`", .path.display())]
    Extract { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is not empty and is not an unpacked copy of this archive; choose another folder with `--extract-to`, or remove it",
        .0.display()
    )]
    Occupied(PathBuf),

    #[error(
        "`{}` or its marker belongs to another user or is writable by others, so its programs may have been changed; choose another \
         folder with `--extract-to`, or remove it",
        .0.display()
    )]
    Foreign(PathBuf),

    #[error("`{file}` of the archive is invalid: {reason}")]
    Metadata { file: &'static str, reason: String },

    #[error(
        "an archive of `cargo nextest archive` has no data and no settings: add `--workspace-remap DIR`, a checkout of the workspace"
    )]
    NoWorkspace,

    #[error("`--workspace-remap {}` is not a checkout of the archived workspace: it has no `{missing}`", .folder.display())]
    OtherWorkspace { folder: PathBuf, missing: String },

    #[error("`--workspace-remap` is for archives of `cargo nextest archive`; `{}` has its own workspace", .0.display())]
    HasWorkspace(PathBuf),

    #[error(
        "recording needs a folder that is kept, as recordings are written beside the data: add `--extract-to DIR`, or use `--record \
         replay`"
    )]
    RecordsNowhere,
}

impl ArchiveError {
    pub fn damaged(path: &Path, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl CommandError for ArchiveError {
    fn kind(&self) -> crate::error::ErrorKind {
        use crate::error::ErrorKind::{Arguments, Setup};
        match self {
            Self::Include { .. } | Self::NoWorkspace | Self::HasWorkspace(_) | Self::RecordsNowhere => {
                Arguments
            }
            _ => Setup,
        }
    }
}
