//! The command line: what may be typed, and nothing of what it means.

mod dataset;
#[cfg(test)]
mod documented;
mod past;
mod run;
mod serve;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use dataset::{AddItems, CheckDatasets, Dataset, DatasetCommand, DedupeDataset, ShowDataset};
pub use past::{
    Baseline, BaselineCommand, Clean, Compare, Export, Format, History, Import, SetBaseline, Show,
    ShowBaselines,
};
pub use run::{Build, Color, Data, List, Merge, MessageFormat, Outcome, Run, RunOptions, Selection, Watch};
pub use serve::{Completions, Man, Mcp, Serve, Update};
pub use values::{ExperimentName, Meaning, RunName, Since};

/// What cargo calls: `cargo-cobalt cobalt …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = clap::builder::Styles::plain())]
pub enum Cargo {
    /// Runs experiments: `cargo test` for AI agents
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
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Builds and runs the experiments of a workspace
    ///
    /// Experiments are the test targets with `harness = false` that call `cobalt::main()`.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 wrong arguments; 3 the project could
    /// not be built or configured, or the experiments not be run or kept; 4 nothing matched; 130 stopped by Ctrl-C.
    Run(Run),
    /// Runs what a change of sources or data touches, after each change
    ///
    /// The files are those of the packages and of all that they depend on by their paths, and those at the root of the
    /// workspace; not hidden ones, nor what is built or kept by Cobalt. It begins with what `run --changed` runs. Where the
    /// project cannot be built or read, that is said, and the next change is waited for. Ctrl-C ends it.
    ///
    /// Exit codes: 2 wrong arguments; 3 there is no project, or its files cannot be watched; 4 nothing matched in the
    /// beginning; 130 stopped by Ctrl-C.
    Watch(Watch),
    /// Joins the runs of shards into runs of all items, and judges these
    ///
    /// Each machine runs its share with `cargo cobalt run --shard 1/3`, `2/3` and `3/3`. Of several runs of a shard the newest
    /// counts. Shards of other data, settings, commits or sources are refused, and so are shards that leave items out.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 wrong arguments; 3 the shards do not fit
    /// together, or a file could not be read or written; 4 there is no run of a shard, or none for
    /// --baseline.
    Merge(Merge),
    /// Names the experiments, their tags and how many items they have
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 the project could not be built or configured; 4 nothing matched.
    List(List),
    /// Shows past runs, and how the averages of each evaluator went
    ///
    /// Exit codes: 0, also where no run matches; 2 wrong arguments; 3 the runs could not be read.
    History(History),
    /// Shows the items of a past run with their scores and outputs, or one item in full
    ///
    /// Runs are named as `compare` names them; a run that has not ended, by the beginning of its id. An item is named by its key
    /// or the beginning of it, by its index, or by its name in test cases, also as `experiment::key`, which needs no run.
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 a file could not be read; 4 no such run or item.
    Show(Show),
    /// Tells whether a run is better or worse than another, and by which items
    ///
    /// A run is named by the beginning of its id; by `latest`, or `latest~1` for the one before; by `NAME@latest`, for
    /// those of an experiment; by a result file; or by a git revision that it was made on. `history` lists them.
    ///
    /// Exit codes: 0; 1 worse (with --fail-on-regression); 2 wrong arguments; 3 a file could not be read; 4 no such run, or
    /// no item in common.
    Compare(Compare),
    /// Writes runs in another format
    ///
    /// Runs are named as `compare` names them. Without --output, the text goes to stdout.
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 a file could not be read or written; 4 no such run.
    Export(Export),
    /// Takes result files from elsewhere into the results of this project
    ///
    /// Files are kept byte by byte, those of the original tool too. What is there already stays as it is.
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 a file was refused, and the others are there; 4 no file in the folders.
    Import(Import),
    /// Sets and shows what later runs are held against
    Baseline(Baseline),
    /// Shows, checks and mends data sets
    Dataset(Dataset),
    /// Shows the runs in the browser, those that are going on too
    ///
    /// The page and its API are served to this machine alone. With --host, other machines can be let in: whoever asks then needs
    /// the token that is printed, or that the variable COBALT_TOKEN has. Where that is set, this machine needs it, too. While it
    /// runs, `cargo cobalt run` names the address of each run. Ctrl-C ends it.
    ///
    /// Exit codes: 0 the dashboard of this project runs already; 2 wrong arguments; 3 the address cannot be listened on, or
    /// the runs not be read; 130 stopped by Ctrl-C.
    Serve(Serve),
    /// Serves coding assistants over the Model Context Protocol
    ///
    /// An assistant starts it, as `.mcp.json` tells, and speaks with it over stdin and stdout. It runs experiments, reads and
    /// compares runs, and writes experiments for an agent. It ends when stdin does.
    ///
    /// Exit codes: 0 stdin has ended; 2 wrong arguments; 3 a folder is in no cargo project; 130 stopped by Ctrl-C.
    Mcp(Mcp),
    /// Removes old runs, answers of models and copies of data sets, after a listing of what would go
    ///
    /// Baselines stay, and so do runs that are going on, and all files that are not ours. Without `--yes` it asks first and,
    /// where no terminal answers, removes nothing.
    ///
    /// Exit codes: 0, also where nothing was removed; 2 wrong arguments; 3 a file could not be removed, or not be looked for.
    Clean(Clean),
    /// Makes a new project with an experiment, or adds one to the package in the folder
    ///
    /// No file that is there is overwritten.
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 a file could not be read or written.
    Init(Init),
    /// Brings the files up to date in which coding assistants read of Cobalt
    ///
    /// These are `.cobalt/SKILLS.md`; a reference to it in CLAUDE.md, AGENTS.md, .github/copilot-instructions.md and .cursorrules where they
    /// are there; and the server `cobalt` in `.mcp.json`. In Markdown, only what stands between the marks
    /// `<!-- cobalt:begin -->` and `<!-- cobalt:end -->` is replaced. `init` does the same.
    ///
    /// Exit codes: 0; 1 something is out of date (with --check); 2 wrong arguments; 3 a file could not be read or written.
    Update(Update),
    /// Shows the settings in force, and where each comes from
    Config(Config),
    /// Prints a script by which a shell completes `cargo cobalt`
    ///
    /// bash: write it to ~/.local/share/bash-completion/completions/cargo-cobalt; `cargo` itself must be completed
    /// (`rustup completions bash cargo`), and the package bash-completion be 2.12 or later.
    ///
    /// zsh: write it to `_cargo-cobalt` in a folder of $fpath; `cargo` itself must be completed (`rustup completions zsh cargo`).
    ///
    /// fish: write it to ~/.config/fish/conf.d/cargo-cobalt.fish.
    ///
    /// powershell, elvish: run it from the profile or from rc.elv.
    Completions(Completions),
    /// Prints a page for `man`, or writes one for each command
    Man(Man),
}

/// Where the settings are.
#[derive(Debug, Args)]
pub struct Settings {
    /// Reads the settings from this file instead of the nearest cobalt.toml
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Init {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct Config {
    /// Prints a JSON object
    #[arg(long)]
    pub json: bool,

    /// Prints the JSON schema of cobalt.toml instead
    #[arg(long)]
    pub schema: bool,

    #[command(flatten)]
    pub settings: Settings,
}

/// Reads a number that is not 0.
fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_starts_at_one() {
        assert_eq!(count("1").map(NonZeroUsize::get), Ok(1));
        for text in ["0", "-1", "1.5", "many"] {
            assert_eq!(count(text), Err("expected a whole number from 1"), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cargo::command().debug_assert();
    }
}
