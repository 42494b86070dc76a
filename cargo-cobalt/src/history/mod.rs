//! `cargo cobalt history`: shows past runs, out of an index of the result files.

use std::process::ExitCode;

use crate::cli::History;
use crate::error::Error;

pub(crate) fn history(_: &History) -> Result<ExitCode, Error> {
    unreachable!("filled in below")
}
