//! The variables of `[env]`: a process that lacks some starts itself anew with them.
//!
//! To set a variable in a process that runs is unsafe in Rust. Where one replaces itself by itself, nothing that has
//! run yet is lost, and whoever started it sees one process.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

/// Goes on where every variable is set; a variable that is set stays as it is.
pub(super) fn complete(variables: &BTreeMap<String, String>) -> Result<(), String> {
    let missing: Vec<_> = variables.iter().filter(|(name, _)| env::var_os(name).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let program = env::current_exe().map_err(|error| format!("failed to find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1)).envs(missing);
    Err(format!("failed to start anew with the variables of `[env]`: {}", replace(command)))
}

/// Becomes the program. Comes back only with an error.
#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;

    if let Some(name) = env::args_os().next() {
        command.arg0(name);
    }
    command.exec()
}

/// Waits for the program, and ends with its exit code.
#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => super::exit_guard::leave(status.code().unwrap_or(super::exit_code::UNFIT)),
        Err(error) => error,
    }
}
