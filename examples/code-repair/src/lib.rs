//! A small coding agent without a model: it changes one operator at a time until the tests pass.
//!
//! It finds the faults that a mistyped operator makes. Like any agent that is guided by tests alone, it sometimes finds a change that
//! passes the tests that it sees and no others.

mod edits;

use std::io;
use std::path::Path;
use std::process::Command;

pub use edits::{Edit, edits};

/// The file that the agent may change.
const FILE: &str = "src/lib.rs";

/// The result of an attempt to repair a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The change after which the tests pass; `None` if none was found.
    pub edit: Option<Edit>,
    /// How often the tests were run.
    pub test_runs: usize,
}

/// Repairs the crate in a folder: applies one edit after another until `passes` returns `true`. If none helps, the file is left as it was.
///
/// # Errors
///
/// The file cannot be read or written, or the tests cannot be run.
pub fn repair(folder: &Path, mut passes: impl FnMut() -> io::Result<bool>) -> io::Result<Repair> {
    let file = folder.join(FILE);
    let original = std::fs::read_to_string(&file)?;
    let mut test_runs = 1;
    if passes()? {
        return Ok(Repair { edit: None, test_runs });
    }
    for edit in edits(&original) {
        std::fs::write(&file, edit.apply(&original))?;
        test_runs += 1;
        if passes()? {
            return Ok(Repair { edit: Some(edit), test_runs });
        }
    }
    std::fs::write(&file, original)?;
    Ok(Repair { edit: None, test_runs })
}

/// Turns `cargo` into the command that runs the tests that the agent sees.
pub fn visible_tests(cargo: &mut Command) -> &mut Command {
    cargo.args(["test", "--quiet", "--offline", "--test", "visible"]);
    // Not the target folder of the process that runs the agent.
    cargo.env("CARGO_TARGET_DIR", "target").env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0")
}
