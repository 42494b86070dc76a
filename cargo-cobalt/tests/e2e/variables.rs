//! The environment variables of an experiment's binary.

use crate::project::{Project, Said};

#[test]
fn variables_come_from_the_environment_before_env_files_and_cargo_sets_its_own() {
    let project = Project::steered();
    project.write(".env", "FROM_FILE=Paris\nFROM_BOTH=wrong\n");
    project.answers(&[("paris", "$FROM_FILE"), ("rome", "$FROM_BOTH"), ("trial", "$CARGO_PKG_NAME")]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    command.env("FROM_BOTH", "Rome").env("CARGO_PKG_NAME", "cargo-cobalt");
    let said = Said::by(&mut command, 0);
    said.says("strict: FAILED, 2 of 3 items passed").tells("output: \"trial\"");
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
    let said = Said::by(&mut command, 0).tells("output: \"trial\"");
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
    let said = Said::by(command.env("SET", "from outside").env("FORCED", "from outside"), 0);
    said.tells("output: \"a\"")
        .tells("output: \"from outside\"")
        .tells("output: \"d\"")
        .tells("output: \"trial\"");
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
    Said::by(command.env("CARGO_PKG_NAME", "cargo-cobalt").env("CARGO_MANIFEST_DIR", "/elsewhere"), 0);
    assert_eq!(project.read("runs.txt").lines().count(), 1);
}
