//! `cargo cobalt baseline`: sets and shows the baselines that runs are compared with.

mod set;
mod show;
mod source;

use std::process::ExitCode;

use cobalt::command::config::Flags;

use crate::cli::BaselineCommand;
use crate::error::Error;
pub use source::{BaselineSource, json_files};

pub fn baseline(command: &BaselineCommand, flags: &Flags) -> Result<ExitCode, Error> {
    match command {
        BaselineCommand::Set(arguments) => set::set(arguments, flags),
        BaselineCommand::Show(arguments) => show::show(arguments, flags),
    }
}
