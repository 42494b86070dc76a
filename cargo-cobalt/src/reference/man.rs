//! `cargo cobalt man`: pages for `man`, one for the command and one for each below it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap_mangen::{Man, generate_to};

use super::{command, markdown};
use crate::cli;
use crate::error::{CommandError, Error};
use crate::terminal::print;

pub(crate) fn man(arguments: &cli::Man) -> Result<ExitCode, Error> {
    match &arguments.dir {
        Some(folder) => write(folder)?,
        None if arguments.markdown => print(&markdown::text()).map_err(Error::Print)?,
        None => print(&page()?).map_err(Error::Print)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of the command itself.
fn page() -> Result<String, Error> {
    let mut page = Vec::new();
    Man::new(command().disable_help_subcommand(true)).render(&mut page).map_err(Error::Print)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[derive(Debug, thiserror::Error)]
#[error("failed to write pages for `man` to `{}`: {source}; name a folder that you may write to", .path.display())]
struct ManPagesError {
    path: PathBuf,
    source: io::Error,
}

impl CommandError for ManPagesError {}

fn write(folder: &Path) -> Result<(), ManPagesError> {
    let failed = |source| ManPagesError { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    generate_to(command(), folder).map_err(failed)
}
