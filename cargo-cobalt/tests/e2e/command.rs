//! Programs started as by a user, independent of the test environment.

use std::path::Path;
use std::process::Command;

/// The command under test.
pub(crate) const COBALT: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// Variables of the caller's environment that would change the behaviour of the programs.
const FOREIGN: [&str; 10] = [
    "NEXTEST",
    "COBALT",
    "RUST_TEST",
    "CARGO_PKG",
    "CARGO_MANIFEST",
    "GITHUB",
    "CI",
    "NO_COLOR",
    "CLICOLOR",
    "XDG",
];

/// A program to start in a folder, with a shared target folder and without network access.
pub(crate) fn program(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if FOREIGN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let profile = Path::new(COBALT).parent().unwrap();
    command.current_dir(folder).env("CARGO_TARGET_DIR", profile.parent().unwrap().join("projects"));
    // Archives of programs without symbols are packed in half the time.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_DEV_STRIP", "symbols");
    command.env("CARGO_NET_OFFLINE", "true");
    command
}
