//! What may be typed of the commands that pass runs on: `cargo cobalt export` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{RunName, Settings};

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Runs by id, `latest~1`, `help-desk@latest`, git revision or result file; all in one file
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<RunName>,

    /// The format, which otherwise the ending of the output tells
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// The file to write, in place of one that is there; the folders above it are made
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// How a run can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A row for each run of each item
    Csv,
    /// A page of its own, for a browser
    Html,
    /// The result file as it is; of several runs a list
    Json,
    /// Test cases as CI servers show them, in XML
    Junit,
    /// Markdown, as for a comment on a pull request
    #[value(alias = "md")]
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Result files, or folders: of a folder the files `*.json` in it and in its folder of results (of a project's root only those
    /// with names of result files) [default: the project's root, without the folder of results of its own]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
