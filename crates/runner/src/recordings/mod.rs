//! `cargo cobalt recordings`: lists, shows and deletes recordings of model traffic.

mod age;
mod experiments;
mod listing;
mod prune;
mod show;

use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_core::recordings::RecordingError;

use crate::cli::{Color, Recordings, RecordingsCommand};
use crate::error::{CommandError, Error};

impl CommandError for RecordingError {}

pub fn recordings(arguments: &Recordings, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    match &arguments.command {
        None => listing::list(&arguments.list, flags, color),
        Some(RecordingsCommand::Show(arguments)) => show::show(arguments, flags, color),
        Some(RecordingsCommand::Prune(arguments)) => prune::prune(arguments, flags, color),
    }
}
