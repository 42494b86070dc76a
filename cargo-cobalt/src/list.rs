//! `cargo cobalt list`: names the experiments.

use std::process::ExitCode;

use crate::cli::List;
use crate::error::Error;

pub(crate) fn list(_: &List) -> Result<ExitCode, Error> {
    unreachable!("filled in below")
}
