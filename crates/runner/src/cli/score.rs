//! Command-line definition of `cargo cobalt score`.

use std::num::NonZeroUsize;

use clap::Args;
use cobalt::command::config::MaxCost;

use super::{
    BuildOptions, DataOptions, OutcomeOptions, RunName, RunOptions, Selection, Settings, parse_count,
};

#[derive(Debug, Args)]
pub struct Score {
    /// Runs to score, as for `compare`, also partial ones; one of each experiment
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<RunName>,

    /// Evaluators to run; the others' scores are copied; can be repeated [default: all]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub evaluator: Vec<String>,

    /// Exit with 1 if a test case fails; also evaluate the thresholds of `[ci]`
    #[arg(long)]
    pub ci: bool,

    /// Push the run to the team's remote store
    ///
    /// A failure is a warning with the command that repeats it; the exit code is that of the run.
    #[arg(long)]
    pub push: bool,

    /// Maximum items in parallel
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub concurrency: Option<NonZeroUsize>,

    /// Budget of judges in USD; when it is spent, the run stops and can be resumed
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<MaxCost>,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub outcome: OutcomeOptions,

    /// Open the run in the dashboard, as with `run`
    #[arg(long)]
    pub ui: bool,

    /// Show each item's trace
    #[arg(long)]
    pub trace: bool,

    /// Hide per-item lines
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}

impl Score {
    /// The options of a run of these experiments.
    pub fn run_options(&self, experiments: Vec<String>) -> RunOptions {
        RunOptions {
            selection: Selection { experiment: experiments, ..Selection::default() },
            concurrency: self.concurrency,
            runs: None,
            max_cost: self.max_cost,
            keep_workspaces: None,
            record: None,
            record_stale: None,
            data: self.data.clone(),
            outcome: self.outcome.clone(),
            ui: self.ui,
            trace: self.trace,
            quiet: self.quiet,
            settings: self.settings.clone(),
            build: self.build.clone(),
            harness: Vec::new(),
        }
    }
}
