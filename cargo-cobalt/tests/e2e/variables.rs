//! The environment variables of an experiment's binary.

use crate::project::{ProgramOutput, Project};

#[test]
fn variables_come_from_the_environment_before_env_files_and_cargo_sets_its_own() {
    let project = Project::steered();
    project.write(".env", "FROM_FILE=Paris\nFROM_BOTH=wrong\n");
    project.answers(&[("paris", "$FROM_FILE"), ("rome", "$FROM_BOTH"), ("trial", "$CARGO_PKG_NAME")]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    command.env("FROM_BOTH", "Rome").env("CARGO_PKG_NAME", "cargo-cobalt");
    let said = ProgramOutput::by(&mut command, 0);
    said.stdout_has("strict: FAILED, 2 of 3 items passed").stderr_has("output: \"trial\"");
}

#[test]
fn an_env_file_overrides_no_variable_of_cargo() {
    let project = Project::steered();
    project.write(".env", "CARGO_PKG_NAME=other\nCARGO_MANIFEST_DIR=/other\nLD_LIBRARY_PATH=/other\n");
    project.answers(&[
        ("paris", "$CARGO_PKG_NAME"),
        ("rome", "$CARGO_MANIFEST_DIR"),
        ("library", "$LD_LIBRARY_PATH"),
    ]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    command.env_remove("LD_LIBRARY_PATH");
    let said = ProgramOutput::by(&mut command, 0).stderr_has("output: \"trial\"");
    assert!(!said.stderr.contains("/other"), "{said:?}");
}

#[test]
fn variables_of_the_configuration_of_cargo_are_set() {
    let project = Project::steered();
    project.write(
        ".cargo/config.toml",
        "[env]\nPLAIN = \"a\"\nSET = \"b\"\nCARGO_PKG_NAME = \"c\"\nFORCED = { value = \"d\", force = true }\n",
    );
    project.write(".env", "PLAIN=other\n");
    project.answers(&[
        ("paris", "$PLAIN"),
        ("rome", "$SET"),
        ("oslo", "$FORCED"),
        ("trial", "$CARGO_PKG_NAME"),
    ]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    let said = ProgramOutput::by(command.env("SET", "from outside").env("FORCED", "from outside"), 0);
    said.stderr_has("output: \"a\"")
        .stderr_has("output: \"from outside\"")
        .stderr_has("output: \"d\"")
        .stderr_has("output: \"trial\"");
}

#[test]
fn build_scripts_do_not_run_again_where_cargo_run_has_started_the_command() {
    let project = Project::steered();
    project.rename("built_once");
    let script = r#"
        use std::io::Write;

        fn main() {
            println!("cargo::rerun-if-env-changed=CARGO_PKG_NAME");
            println!("cargo::rerun-if-env-changed=CARGO_MANIFEST_DIR");
            let mut runs = std::fs::OpenOptions::new().create(true).append(true).open("runs.txt").unwrap();
            writeln!(runs, "again").unwrap();
        }
    "#;
    project.write("build.rs", script);
    project.cobalt(&["run", "--filter", "strict"], 0);
    let mut command = project.command(&["run", "--filter", "strict"]);
    ProgramOutput::by(
        command.env("CARGO_PKG_NAME", "cargo-cobalt").env("CARGO_MANIFEST_DIR", "/elsewhere"),
        0,
    );
    assert_eq!(project.read("runs.txt").lines().count(), 1);
}
