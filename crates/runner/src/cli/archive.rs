//! Command-line definition of `cargo cobalt archive`, and of running an archive.

use std::path::PathBuf;

use clap::Args;

use super::{BuildOptions, Settings};

#[derive(Debug, Args)]
pub struct Archive {
    /// Archive file; overwritten if it exists
    #[arg(short, long, value_name = "FILE", default_value = "cobalt-archive.tar.zst")]
    pub output: PathBuf,

    /// Also pack these files, even if git ignores them: a path or a pattern (`*`, `?`, `[…]`, `**`) from the workspace root; can be
    /// repeated
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}

/// Options of runs whose binaries were built elsewhere.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Archive options")]
pub struct ArchiveOptions {
    /// Run test binaries from an archive created by `cargo cobalt archive` or `cargo nextest archive`, without Cargo or a compiler
    ///
    /// Results are stored in `.cobalt` of the current folder, and baselines are those of the archive. On a machine without Cargo, call
    /// `cargo-cobalt cobalt run`.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "features", "all_features", "no_default_features", "release", "profile", "target", "target_dir", "manifest_path",
        "message_format", "jobs", "locked", "frozen",
    ])]
    pub archive: Option<PathBuf>,

    /// Unpack the archive into this folder and keep it, instead of a temporary folder; later runs of the same archive use it again
    #[arg(long, value_name = "DIR", requires = "archive")]
    pub extract_to: Option<PathBuf>,

    /// Checkout of the workspace; required for nextest archives
    #[arg(long, value_name = "DIR", requires = "archive")]
    pub workspace_remap: Option<PathBuf>,
}
