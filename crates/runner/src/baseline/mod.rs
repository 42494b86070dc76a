//! `cargo cobalt baseline`: sets and shows the baselines that runs are compared with.

mod set;
mod show;
mod source;

use std::process::ExitCode;

use cobalt::command::config::Flags;

use crate::cli::BaselineCommand;
use crate::error::Error;
pub use set::{AllowedRuns, RefusedBaseline, SavedBaselines, save_baselines};
pub use source::{BaselineSource, RunHeader, baseline_runs, json_files};

pub fn baseline(command: &BaselineCommand, flags: &Flags) -> Result<ExitCode, Error> {
    match command {
        BaselineCommand::Set(arguments) => set::set(arguments, flags),
        BaselineCommand::Show(arguments) => show::show(arguments, flags),
    }
}
