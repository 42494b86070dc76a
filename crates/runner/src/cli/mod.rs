//! Command-line definition: arguments and help texts, without behaviour.

mod archive;
mod dataset;
#[cfg(test)]
mod documented_commands;
mod merge;
mod past_runs;
mod recordings;
mod remote;
mod run;
mod score;
mod serve;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use archive::{Archive, ArchiveOptions};
pub use dataset::{AddItems, CheckDatasets, Dataset, DatasetCommand, DedupeDataset, ShowDataset};
pub use merge::Merge;
pub use past_runs::{
    Baseline, BaselineCommand, Clean, Compare, Export, Format, History, Import, SetBaseline, Show,
    ShowBaselines,
};
pub use recordings::{ListRecordings, PruneRecordings, Recordings, RecordingsCommand, ShowRecording};
pub use remote::{Pull, Push, RemoteOptions};
pub use run::{
    BuildOptions, Color, DataOptions, List, MessageFormat, OutcomeOptions, Run, RunOptions, Selection, Watch,
};
pub use score::Score;
pub use serve::{Completions, Man, Mcp, Serve, Update};
pub use values::{ExperimentName, RunName, RunSelector, Since, is_run_id};

/// The entry point that cargo calls: `cargo-cobalt cobalt …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = clap::builder::Styles::plain())]
pub enum Cargo {
    /// Run experiments: `cargo test` for AI agents
    #[command(version)]
    Cobalt(Cobalt),
}

#[derive(Debug, Args)]
pub struct Cobalt {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,

    /// Log decisions on stderr: what was matched, retried, skipped or selected, and why (-vv for every step)
    ///
    /// Also applies to the test binaries. COBALT_LOG takes precedence. It selects modules and levels: `info`, `cobalt=debug`,
    /// `cobalt::recording=trace,warn`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build and run the experiments of a workspace
    ///
    /// Experiments live in test targets with `harness = false` that call `cobalt::main()`.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 invalid arguments; 3 the project could not be
    /// built or configured, experiments could not run, or results could not be saved; 4 nothing matched; 5 the budget
    /// (--max-cost) is used up; 130 interrupted by Ctrl-C.
    Run(Run),
    /// Score the stored outputs of runs again, without running the agent
    ///
    /// For changed and new evaluators. The result is a new run that names its origin; only judges cost money. Select a run as for
    /// `compare`. Items are matched with the dataset by key: corrected expectations count.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 invalid arguments; 3 the project could not be
    /// built or configured, outputs could not be scored, or results could not be saved; 4 no such run or experiment; 5 the budget
    /// (--max-cost) is used up; 130 interrupted by Ctrl-C.
    Score(Score),
    /// Re-run affected experiments whenever sources or data change
    ///
    /// Watches the files of the packages and of their path dependencies, and those in the workspace root, except hidden files,
    /// build output and Cobalt's own files. The first run does what `run --changed` does. If the project cannot be built or
    /// read, the error is shown and watching continues. All runs share one budget (--max-cost). Press Ctrl-C to stop.
    ///
    /// Exit codes: 2 invalid arguments; 3 no project found, or its files cannot be watched; 4 nothing matched at startup; 130
    /// stopped by Ctrl-C.
    Watch(Watch),
    /// Merge shards into complete runs and evaluate their thresholds
    ///
    /// Each machine runs its share with `cargo cobalt run --shard 1/3`, `2/3` and `3/3`. If a shard was run several times, the
    /// newest run counts. Shards with different data, settings, commits or sources are refused, and so are shards that do not
    /// cover all items.
    ///
    /// Settings, prices and baselines are those of the project in the current folder, or with --archive those of the archive.
    ///
    /// With --remote, the shards are those that `cargo cobalt run --push --shard …` pushed to the remote store.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 invalid arguments; 3 the shards do not fit
    /// together, shards are not finished or the store could not be reached (with --remote), or a file could not be read or written; 4 no
    /// shard found, or no run for --baseline; 130 interrupted by Ctrl-C (with --remote).
    Merge(Merge),
    /// Pack test binaries, data, recordings and settings into one file
    ///
    /// `cargo cobalt run --archive FILE` runs it on machines without Cargo, a compiler and the repository. Packs the test binaries of the
    /// selected packages, the files of these packages and their path dependencies that git does not ignore, the baselines, and
    /// `cobalt.toml`. Files that may contain secrets, such as `.env`, are left out. The same input gives the same bytes.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 the project could not be built, or a file could not be read or written; 4 nothing matched;
    /// 130 interrupted by Ctrl-C.
    Archive(Archive),
    /// List experiments with their tags and item counts
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 the project could not be built or configured; 4 nothing matched.
    List(List),
    /// Show past runs and the trend of each evaluator's mean score
    ///
    /// Exit codes: 0, even if no run matches; 2 invalid arguments; 3 the runs could not be read.
    History(History),
    /// Show a run's items, or one item in full
    ///
    /// Select the run as for `compare`, or a run in progress by its ID prefix. Select the item by its key, a prefix of the key, its
    /// index or its test-case name. With `experiment::key` you can omit the run.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a file could not be read; 4 no such run or item.
    Show(Show),
    /// Compare runs: which is better, and which items changed
    ///
    /// Select a run by its ID prefix, by the name that you gave it, by `latest` (`latest~1` is the run before it), by `NAME@latest` for
    /// the latest run of an experiment, by `branch:NAME`, by `target` for the target branch of the pull request, by a result file, or by
    /// the git revision it ran on. `history` lists runs.
    ///
    /// Three or more runs are ranked: which differences are beyond noise, and which run is the cheapest that is not worse.
    ///
    /// Exit codes: 0; 1 a run is worse than the first (with --fail-on-regression); 2 invalid arguments; 3 a file could not be read; 4 no such
    /// run, or no items in common.
    Compare(Compare),
    /// Export runs in another format
    ///
    /// Runs are selected as for `compare`. Without --output, writes to stdout.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a file could not be read or written; 4 no such run.
    Export(Export),
    /// Import result files from other machines or projects
    ///
    /// Files are copied byte for byte. Existing results are not changed.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a file was refused (the others are imported); 4 no result file in the folders.
    Import(Import),
    /// Push finished runs to the team's remote store
    ///
    /// The store is `remote` in `[storage]` of cobalt.toml, COBALT_REMOTE or --remote: a bucket (`s3://`, `gs://`, `az://`) or a folder.
    /// Credentials come from the platform's variables. Without RUN, pushes all complete runs that the store does not contain. Repeating
    /// it does no harm.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a run could not be pushed (it stays on this machine); 4 no such run.
    Push(Push),
    /// Pull runs from the team's remote store
    ///
    /// Copies result files into this project's results, where `history`, `compare` and all other commands find them. Without RUN, pulls
    /// all complete runs that match the filters.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a run could not be pulled; 4 no such run.
    Pull(Pull),
    /// Set and show the baselines that later runs are compared with
    Baseline(Baseline),
    /// Show, check and edit datasets
    Dataset(Dataset),
    /// List, show and delete recordings of model traffic
    ///
    /// Lists the recordings of the selected experiments, or of the items with these keys: a file per item, below `cassettes`. A recording
    /// is unused if no item of the experiment's current dataset uses it. The size includes long texts and images, which are in the folder
    /// `blobs`.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 the project could not be built or configured, or a recording could not be read; 4 nothing
    /// matched.
    Recordings(Recordings),
    /// View runs in the browser, including runs in progress
    ///
    /// The dashboard and its API bind to localhost. Use --host to allow remote clients; they need the token that is printed or
    /// that COBALT_TOKEN contains. If COBALT_TOKEN is set, local clients need it, too. While the server runs, `cargo cobalt run`
    /// prints the URL of each run. Press Ctrl-C to stop.
    ///
    /// Exit codes: 0 the dashboard is already running; 2 invalid arguments; 3 the address is not available, or the
    /// runs could not be read; 130 stopped by Ctrl-C.
    Serve(Serve),
    /// Serve coding assistants over the Model Context Protocol (MCP)
    ///
    /// An assistant starts it as configured in `.mcp.json` and communicates over stdin and stdout. The server runs experiments,
    /// reads and compares runs, and writes experiments for an agent. It exits when stdin is closed.
    ///
    /// Exit codes: 0 stdin was closed; 2 invalid arguments; 3 a folder is not in a Cargo project; 130 stopped by Ctrl-C.
    Mcp(Mcp),
    /// Delete old runs, cached model responses and cached datasets (lists them first)
    ///
    /// Baselines, runs in progress and files that Cobalt did not write are kept. Without `--yes` it asks for confirmation; if
    /// stdin is not a terminal, nothing is deleted.
    ///
    /// Exit codes: 0, even if nothing was deleted; 2 invalid arguments; 3 a file could not be deleted or a folder could not be read.
    Clean(Clean),
    /// Create a project with an experiment, or add one to an existing package
    ///
    /// Existing files are never overwritten.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a file could not be read or written.
    Init(Init),
    /// Update the assistants' instruction files
    ///
    /// These are `.cobalt/SKILLS.md`, a reference to it in CLAUDE.md, AGENTS.md, .github/copilot-instructions.md and .cursorrules
    /// if they exist, and the server `cobalt` in `.mcp.json`. In Markdown files, only the text between `<!-- cobalt:begin -->`
    /// and `<!-- cobalt:end -->` is replaced. `init` does the same.
    ///
    /// Exit codes: 0; 1 a file is out of date (with --check); 2 invalid arguments; 3 a file could not be read or written.
    Update(Update),
    /// Show the effective settings and where each comes from
    Config(Config),
    /// Print a completion script for your shell
    ///
    /// bash: write it to ~/.local/share/bash-completion/completions/cargo-cobalt. Requires completions for `cargo` itself
    /// (`rustup completions bash cargo`) and bash-completion 2.12 or later.
    ///
    /// zsh: write it to `_cargo-cobalt` in a folder of $fpath. Requires completions for `cargo` itself (`rustup completions zsh cargo`).
    ///
    /// fish: write it to ~/.config/fish/conf.d/cargo-cobalt.fish.
    ///
    /// powershell, elvish: run it from your profile or rc.elv.
    Completions(Completions),
    /// Print the man page, or write one per command
    Man(Man),
}

/// Location of the settings.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Read settings from this file instead of the nearest cobalt.toml
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Project folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,

    /// Build the sample agent on this crate, with recordings of what its model answers
    #[arg(long, value_name = "CRATE")]
    pub agent: Option<AgentCrate>,
}

/// A crate on which a sample agent is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentCrate {
    Rig,
    AsyncOpenai,
}

#[derive(Debug, Args)]
pub struct Config {
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,

    /// Print the JSON schema of cobalt.toml instead
    #[arg(long)]
    pub schema: bool,

    #[command(flatten)]
    pub settings: Settings,
}

/// Parses a positive integer.
fn parse_count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number of at least 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_starts_at_one() {
        assert_eq!(parse_count("1").map(NonZeroUsize::get), Ok(1));
        for text in ["0", "-1", "1.5", "many"] {
            assert_eq!(parse_count(text), Err("expected a whole number of at least 1"), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cargo::command().debug_assert();
    }
}
