//! The command line.

use clap::{Args, Parser, Subcommand};

/// What cargo calls: `cargo-cobalt cobalt …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = clap::builder::Styles::plain())]
pub(crate) enum Cargo {
    /// Runs experiments: `cargo test` for AI agents
    #[command(version)]
    Cobalt(Cobalt),
}

#[derive(Debug, Args)]
pub(crate) struct Cobalt {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Builds and runs the experiments of a workspace
    ///
    /// Experiments are the test targets with `harness = false` of the packages that depend on cobalt.
    ///
    /// Exit codes: 0; 1 an experiment failed (with --ci); 2 wrong arguments; 3 the project could not be built, or the
    /// experiments not be run or kept; 4 there is no test target to run; 130 stopped by Ctrl-C.
    Run(Run),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Exits with 1 if an item, an evaluator or a threshold failed
    #[arg(long)]
    pub(crate) ci: bool,

    /// Runs the experiments of this package only; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub(crate) package: Vec<String>,

    /// Runs this test target only; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,

    /// Builds with optimisations
    #[arg(short, long)]
    pub(crate) release: bool,

    /// Arguments for the test binaries, as `cargo test` passes them: filters, `--exact`, …
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) harness: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cargo::command().debug_assert();
    }
}
