//! Cargo's flags: each is passed to cargo, as recorded by a fake cargo.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::project::{ProgramOutput, Project};

/// A fake cargo that records the arguments of `test` and fails; other commands are forwarded.
const STAND_IN: &str = "#!/bin/sh\nif [ \"$1\" = test ]; then printf '%s\\n' \"$@\" > \"$ASKED\"; exit 101; fi\nexec \"$REAL\" \"$@\"\n";

/// The arguments of `cargo test`, one per line.
fn asked(project: &Project, flags: &[&str]) -> String {
    let stand_in = project.path("cargo-stand-in");
    project.write("cargo-stand-in", STAND_IN);
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = project.command(&["run"]);
    command.args(flags).env("CARGO", &stand_in).env("ASKED", project.path("asked"));
    command.env("REAL", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    ProgramOutput::by(&mut command, 3).stderr_has("failed to build the experiments");
    project.read("asked")
}

#[test]
fn each_flag_of_cargo_is_handed_on() {
    let project = Project::steered();
    let manifest = project.read("Cargo.toml");
    project.write("Cargo.toml", &format!("{manifest}\n[features]\nextra = []\n"));
    let manifest = project.path("Cargo.toml").display().to_string();
    assert_eq!(
        asked(&project, &[]).lines().collect::<Vec<_>>()[..3],
        ["test", "--no-run", "--message-format=json-render-diagnostics"]
    );
    for (flags, expected) in [
        (&["--release"][..], "--release"),
        (&["-r"], "--release"),
        (&["--profile", "bench"], "--profile=bench"),
        (&["--target", "a-platform"], "--target=a-platform"),
        (&["--target-dir", "elsewhere"], "--target-dir=elsewhere"),
        (&["--manifest-path", &manifest], &format!("--manifest-path={manifest}")),
        (&["--jobs", "2"], "--jobs=2"),
        (&["-j", "2"], "--jobs=2"),
        (&["--features", "extra"], "--features=extra"),
        (&["-F", "extra"], "--features=extra"),
        (&["--all-features"], "--all-features"),
        (&["--no-default-features"], "--no-default-features"),
        (&["--locked"], "--locked"),
        (&["--offline"], "--offline"),
        (&["--frozen"], "--frozen"),
    ] {
        let asked = asked(&project, flags);
        assert!(asked.lines().any(|argument| argument == expected), "{flags:?}: {asked}");
    }
}

#[test]
fn the_project_of_another_folder_is_run_by_its_manifest() {
    let (here, there) = (Project::empty(), Project::steered());
    let manifest = there.path("Cargo.toml").display().to_string();
    here.cobalt(&["run", "--manifest-path", &manifest], 0);
    assert_eq!((here.results().len(), there.results().is_empty()), (0, false));
}
