//! `cargo cobalt dataset`: shows, checks and edits datasets.

mod add;
mod additions;
mod check;
mod dedupe;
mod duplicates;
mod edit;
mod near_duplicates;
mod resolved_set;
mod show;
mod traces;

use std::process::ExitCode;

use cobalt::command::config::Flags;

use crate::cli::DatasetCommand;
use crate::error::Error;

pub fn dataset(command: &DatasetCommand, flags: &Flags) -> Result<ExitCode, Error> {
    match command {
        DatasetCommand::Show(arguments) => show::show(arguments, flags),
        DatasetCommand::Check(arguments) => check::check(arguments, flags),
        DatasetCommand::Add(arguments) => add::add(arguments, flags),
        DatasetCommand::Dedupe(arguments) => dedupe::dedupe(arguments, flags),
    }
}
