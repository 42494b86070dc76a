//! `cargo cobalt init`: a first experiment for a new project, or for a package that is there.

mod error;
mod example;
mod files;
mod folder;
mod library;
mod manifest;
mod name;
mod new_project;
mod package;
mod plan;
mod summary;
mod target;
mod workspace;

use std::io::Write;
use std::process::ExitCode;

pub(crate) use self::error::InitError;
use crate::cli::Init;
use crate::error::Error;

/// Works out everything, then writes it, so that an error leaves the folder as it was.
pub(crate) fn init(arguments: &Init) -> Result<ExitCode, Error> {
    let folder = folder::resolve(&arguments.dir)?;
    let plan = match folder.join("Cargo.toml").exists() {
        true => package::plan(&folder)?,
        false => new_project::plan(&folder)?,
    };
    plan.carry_out()?;
    // Where nobody reads the summary, the work is done all the same.
    let _ = std::io::stdout().write_all(summary::text(&plan, &arguments.dir).as_bytes());
    Ok(ExitCode::SUCCESS)
}
