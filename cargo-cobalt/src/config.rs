//! `cargo cobalt config`: shows the settings in force.

use std::process::ExitCode;

use crate::cli::Config;
use crate::error::Error;

pub(crate) fn config(_: &Config) -> Result<ExitCode, Error> {
    unreachable!("filled in below")
}
