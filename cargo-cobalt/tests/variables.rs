//! The variables that an experiment's binary runs with.

mod command;
mod project;

use project::Project;

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
    let said = project::Said::by(&mut command, 0).tells("output: \"trial\"");
    assert!(!said.stderr.contains("/other"), "{said:?}");
}
