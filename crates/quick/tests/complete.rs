//! The program without extensions starts cargo for the commands that it does not have.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the program in an empty folder, with a cargo that prints its arguments.
fn run(arguments: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&cargo, Permissions::from_mode(0o700)).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_cobalt-quick"));
    program.current_dir(&folder).arg("cobalt").args(arguments).env("CARGO", cargo).output().unwrap()
}

#[test]
fn other_commands_run_the_complete_one() {
    for arguments in [["serve", "--no-open"], ["completions", "fish"]] {
        let output = run(&arguments);
        let printed = String::from_utf8(output.stdout).unwrap();
        let (cargo, command) = printed.trim().split_once(" -- ").unwrap();
        assert!(cargo.starts_with("run --package cargo-cobalt --manifest-path "), "{cargo}");
        assert_eq!(command, format!("cobalt {}", arguments.join(" ")));
        assert_eq!(output.status.code(), Some(7));
        assert!(String::from_utf8(output.stderr).unwrap().contains("the complete command"));
    }
}

#[test]
fn its_own_commands_need_no_other() {
    let output = run(&["history"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("No runs in `.cobalt/results` yet"));
}
