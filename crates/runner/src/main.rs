//! The command without extensions, for a clone: builds in half the time of the complete one, and builds that one where it is needed.

use std::process::ExitCode;

fn main() -> ExitCode {
    cobalt_runner::start(None)
}
