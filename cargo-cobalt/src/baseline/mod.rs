//! `cargo cobalt baseline`: sets and shows the baselines that runs are held against.

mod committed;
mod given;
mod head;
mod ignored;
mod kept;
mod set;
mod show;
mod state;
mod table;

use std::process::ExitCode;

use cobalt::config::Flags;

pub(crate) use given::Given;
pub(crate) use kept::json_files;

use crate::cli::BaselineCommand;
use crate::error::Error;

pub(crate) fn baseline(command: &BaselineCommand, flags: &Flags) -> Result<ExitCode, Error> {
    match command {
        BaselineCommand::Set(arguments) => set::set(arguments, flags),
        BaselineCommand::Show(arguments) => show::show(arguments, flags),
    }
}
