//! Command-line definition of `cargo cobalt recordings`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand};

use super::{BuildOptions, DataOptions, Selection, Settings};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    // clap-markdown would omit `cargo cobalt` in the second line.
    override_usage = "cargo cobalt recordings [OPTIONS] [TARGET|ITEM]...\n       cargo cobalt recordings <COMMAND>"
)]
pub struct Recordings {
    #[command(subcommand)]
    pub command: Option<RecordingsCommand>,

    #[command(flatten)]
    pub list: ListRecordings,
}

#[derive(Debug, Subcommand)]
pub enum RecordingsCommand {
    /// Show the recording of an item: its requests and answers, and the judges' questions and answers
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 the project could not be built or configured, or the recording could not be read; 4 no such
    /// experiment, item or file.
    Show(ShowRecording),
    /// Delete unused recordings (lists them first)
    ///
    /// A recording is unused if no item of the experiment's current dataset uses it; files in `blobs` are unused if no recording refers to
    /// them. Temporary files that a process left when it was killed are deleted, too. Experiments whose dataset cannot be read are skipped,
    /// and so are folders that belong to no listed experiment. Without `--yes` it asks for confirmation; if stdin is not a terminal,
    /// nothing is deleted. Do not run it while experiments are recorded.
    ///
    /// Exit codes: 0, even if nothing was deleted; 2 invalid arguments; 3 the project could not be built or configured, or a file could
    /// not be read or deleted; 4 nothing matched.
    Prune(PruneRecordings),
}

impl Recordings {
    /// The options from which the settings follow.
    pub fn options(&self) -> (&DataOptions, &BuildOptions, &Settings) {
        match &self.command {
            None => (&self.list.data, &self.list.build, &self.list.settings),
            Some(RecordingsCommand::Show(show)) => (&show.data, &show.build, &show.settings),
            Some(RecordingsCommand::Prune(prune)) => (&prune.data, &prune.build, &prune.settings),
        }
    }
}

#[derive(Debug, Args)]
pub struct ListRecordings {
    #[command(flatten)]
    pub selection: Selection,

    /// Print a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}

#[derive(Debug, Args)]
pub struct ShowRecording {
    /// Experiment by exact name, item by key or key prefix, or the file of a recording, for which nothing is built
    #[arg(value_name = "EXPERIMENT|ITEM|FILE")]
    pub recording: String,

    /// Item by key, key prefix or file name; may be omitted if the experiment has only one recording
    #[arg(value_name = "ITEM")]
    pub item: Option<String>,

    /// Only this trial, from 1
    #[arg(long, value_name = "N", value_parser = super::parse_count, conflicts_with = "json")]
    pub trial: Option<NonZeroUsize>,

    /// Print the file
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}

#[derive(Debug, Args)]
pub struct PruneRecordings {
    #[command(flatten)]
    pub selection: Selection,

    /// Delete without asking for confirmation
    #[arg(short, long, visible_alias = "force")]
    pub yes: bool,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}
