//! `cargo cobalt init`: a first experiment for a new project, or for a package that is there.

mod code;
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
use std::path::Path;
use std::process::ExitCode;

pub(crate) use self::error::InitError;
pub(crate) use self::package::{library_of, with_target};
pub(crate) use self::plan::{create, is_there};
use crate::assistants::{Changes, left_out};
use crate::cli::Init;
use crate::error::Error;

/// Works out everything, then writes it, so that an error leaves the folder as it was.
pub(crate) fn init(arguments: &Init) -> Result<ExitCode, Error> {
    let folder = folder::resolve(&arguments.dir)?;
    let mut plan = match folder.join("Cargo.toml").exists() {
        true => package::plan(&folder)?,
        false => new_project::plan(&folder)?,
    };
    let assistants = Changes::plan(&plan.root)?;
    plan.carry_out()?;
    assistants.carry_out()?;
    plan.notes.extend(left_out(&plan.root));
    plan.notes.extend(how_to_install(&plan.package));
    // Where nobody reads the summary, the work is done all the same.
    let _ = std::io::stdout().write_all(summary::text(&plan, &assistants, &arguments.dir).as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// What a user needs to know who has tried `cargo cobalt` in a clone, where an alias stands for it.
fn how_to_install(package: &Path) -> Option<String> {
    let source = library::run_from()?;
    let clone = source.parent()?.canonicalize().ok()?;
    let install = format!("`cargo install --path {}`", source.display());
    (!package.starts_with(clone))
        .then(|| format!("{install} makes `cargo cobalt` known outside of its clone"))
}
