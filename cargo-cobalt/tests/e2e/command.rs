//! Programs as a user would start them, whoever runs the tests.

use std::path::Path;
use std::process::Command;

/// The command under test.
pub(crate) const COBALT: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// Variables of whoever runs this test, by which the programs would behave otherwise.
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

/// A program to be started in a folder. What it builds goes to a folder that all tests share, and comes from no network.
pub(crate) fn program(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if FOREIGN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let profile = Path::new(COBALT).parent().unwrap();
    command.current_dir(folder).env("CARGO_TARGET_DIR", profile.parent().unwrap().join("projects"));
    command.env("CARGO_NET_OFFLINE", "true").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command
}
