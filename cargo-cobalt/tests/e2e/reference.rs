//! `cargo cobalt completions` and `man`.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;

fn cobalt(arguments: &[&str], code: i32) -> ProgramOutput {
    let folder = tempfile::tempdir().unwrap();
    ProgramOutput::by(program(COBALT, folder.path()).arg("cobalt").args(arguments), code)
}

/// The script for a shell, in a file, if the shell is installed.
fn script(shell: &str) -> Option<TempDir> {
    if Command::new(shell).arg("--version").output().is_err() {
        eprintln!("skipped: {shell} is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script"), cobalt(&["completions", shell], 0).stdout).unwrap();
    Some(folder)
}

#[test]
fn bash_completes_what_cargo_hands_on() {
    let Some(folder) = script("bash") else { return };
    // Cargo's own script replaces `cobalt` by `cargo-cobalt` and completes that command.
    let completed = |words: &str| {
        let program = format!(
            "source ./script; by=($(complete -p cargo-cobalt | grep --only-matching -e '-F [^ ]*')); \
             COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             ${{by[1]}} cargo-cobalt \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             echo \"${{COMPREPLY[*]}}\""
        );
        ProgramOutput::by(Command::new("bash").args(["-c", &program]).current_dir(folder.path()), 0).stdout
    };
    assert_eq!(completed("cargo-cobalt comp").trim(), "compare completions");
    assert_eq!(completed("cargo-cobalt run --rer").trim(), "--rerun-failed");
    assert_eq!(completed("cargo-cobalt baseline s").trim(), "set show");
}

#[test]
fn fish_completes_cargo_cobalt() {
    let Some(folder) = script("fish") else { return };
    let completed = |line: &str| {
        let program = format!("source ./script; complete --do-complete '{line}'");
        let mut command = Command::new("fish");
        command.args(["--no-config", "-c", &program]).current_dir(folder.path()).env("HOME", folder.path());
        ProgramOutput::by(&mut command, 0).stdout
    };
    assert!(completed("cargo cobalt comp").starts_with("compare\t"), "{}", completed("cargo cobalt comp"));
    assert!(completed("cargo cobalt run --rer").starts_with("--rerun-failed\t"));
    assert!(completed("cargo cob").contains("cobalt"));
    assert!(!completed("cargo build --rer").contains("--rerun-failed"));
}

#[test]
fn other_shells_have_scripts_for_what_they_complete() {
    for (shell, part) in [
        ("zsh", "#compdef cargo-cobalt"),
        ("powershell", "-CommandName 'cargo'"),
        ("elvish", "arg-completer[cargo]"),
    ] {
        let script = cobalt(&["completions", shell], 0).stdout_has(part).stdout;
        assert!(script.contains("--rerun-failed"), "{shell}");
    }
    cobalt(&["completions", "csh"], 2).stderr_has("[possible values: bash, elvish, fish, powershell, zsh]");
}

#[test]
fn man_prints_a_page_and_writes_one_for_each_command() {
    cobalt(&["man"], 0).stdout_has(".TH cargo-cobalt 1").stdout_has("cargo\\-cobalt\\-run(1)");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    cobalt(&["man", pages.to_str().unwrap()], 0);
    for page in ["cargo-cobalt.1", "cargo-cobalt-run.1", "cargo-cobalt-baseline-set.1"] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    cobalt(&["man", file.to_str().unwrap()], 3).stderr_has("failed to write man pages");
}

#[test]
fn misspelt_commands_and_flags_are_told_what_was_meant() {
    cobalt(&["runn"], 2).stderr_has("a similar subcommand exists: 'run'");
    cobalt(&["run", "--rerun-faild"], 2).stderr_has("a similar argument exists: '--rerun-failed'");
    cobalt(&["update", "--chekc"], 2).stderr_has("a similar argument exists: '--check'");
    cobalt(&["run", "--reporter", "junti"], 2).stderr_has("junit");
}
