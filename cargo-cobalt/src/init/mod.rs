//! `cargo cobalt init`: a first experiment for a new project, or for a package that is there.

use std::process::ExitCode;

use crate::cli::Init;
use crate::error::Error;

pub(crate) fn init(_: &Init) -> Result<ExitCode, Error> {
    unreachable!("filled in below")
}
