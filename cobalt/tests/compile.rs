//! Compile errors of the attributes.
//!
//! The snapshots next to the programs in `compile/` contain the output of the current stable compiler. After a change, review them with
//! `cargo insta review`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The directory of the library.
const LIBRARY: &str = env!("CARGO_MANIFEST_DIR");

/// A file whose name starts with `many_` holds several mistakes, each marked `// mistake`; any other file holds one.
#[test]
fn mistakes_are_explained_in_their_place_with_one_error_each() {
    let programs = programs();
    assert!(programs.len() >= 60, "only {} programs were found", programs.len());
    let mut messages = messages(&programs);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("compile");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // The number of types that implement a trait depends on the features of other crates.
    settings.add_filter(r"and \d+ others", "and [n] others");
    settings.add_filter(r"written to '.*'", "written to '[file]'");
    let mut unlike = Vec::new();
    for (name, program) in &programs {
        let found = messages.remove(name).unwrap_or_default();
        let mistakes = fs::read_to_string(program).unwrap().matches("// mistake").count().max(1);
        let of_level = |level: &str| found.iter().filter(|message| message.level == level).count();
        let shown = found.iter().fold(String::new(), |mut shown, message| {
            let _ = writeln!(shown, "{}", in_any_place(&message.rendered));
            shown
        });
        // Continues after a failure, to show all differences in one run.
        let compared = AssertUnwindSafe(|| {
            assert_eq!(
                (of_level("error"), of_level("warning")),
                (mistakes, 0),
                "errors and warnings of {name}\n{shown}"
            );
            settings.bind(|| insta::assert_snapshot!(name.as_str(), shown));
        });
        if catch_unwind(compared).is_err() {
            unlike.push(name);
        }
    }
    assert!(unlike.is_empty(), "the compiler output of these has changed, see above: {unlike:?}");
}

/// The programs with mistakes, by name.
fn programs() -> BTreeMap<String, PathBuf> {
    let files =
        fs::read_dir(Path::new(LIBRARY).join("tests/compile")).unwrap().map(|file| file.unwrap().path());
    let programs = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    programs.map(|file| (file.file_stem().unwrap().to_str().unwrap().to_owned(), file)).collect()
}

/// The compiler's output for one mistake.
struct Message {
    level: String,
    rendered: String,
}

/// The compiler's output for each program. They are binaries of one package, which uses the library with the same features as the
/// workspace, so Cargo has little else to check.
fn messages(programs: &BTreeMap<String, PathBuf>) -> BTreeMap<String, Vec<Message>> {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile");
    let workspace = Path::new(LIBRARY).parent().unwrap();
    let mut manifest = format!(
        "[package]\nname = \"mistakes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         cobalt = {{ package = \"cobalt-evals\", path = {LIBRARY:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\
         workspace-hack = {{ path = {:?} }}\n",
        workspace.join("workspace-hack")
    );
    for (name, program) in programs {
        let _ = write!(manifest, "\n[[bin]]\nname = \"{name}\"\npath = {program:?}\n");
    }
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();

    let mut command = Command::new(env!("CARGO"));
    command.current_dir(&package).args(["check", "--offline", "--keep-going", "--message-format", "json"]);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap());
    // The same debug setting as the workspace.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("RUSTFLAGS");
    // Build scripts that read variables of this test's package would run again, and once more in the next build of the workspace.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|of| name.to_string_lossy().starts_with(of)) {
            command.env_remove(name);
        }
    }
    let output = command.output().unwrap();
    let mut messages: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (Some(name), Some(rendered)) =
            (line["target"]["name"].as_str(), line["message"]["rendered"].as_str())
        else {
            continue;
        };
        if programs.contains_key(name) && !rendered.starts_with("error: aborting") {
            let level = line["message"]["level"].as_str().unwrap().to_owned();
            // The final summary of all errors has no level.
            if level != "failure-note" {
                messages
                    .entry(name.to_owned())
                    .or_default()
                    .push(Message { level, rendered: rendered.to_owned() });
            }
        }
    }
    assert!(!messages.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    messages
}

/// A message without the directories of the workspace and the library, and without the library's line numbers, which change often.
fn in_any_place(message: &str) -> String {
    let workspace = Path::new(LIBRARY).parent().unwrap().display();
    let message = message.replace(&format!("{LIBRARY}/"), "").replace(&format!("{workspace}/"), "");
    let mut is_program = true;
    let mut shown = String::new();
    for line in message.lines() {
        let place = line.trim_start();
        if let Some(place) = place.strip_prefix("--> ").or_else(|| place.strip_prefix("::: ")) {
            is_program = place.starts_with("tests/");
        }
        let numbered = line.split_once(" | ").filter(|(number, _)| number.trim().parse::<u32>().is_ok());
        let line = match (is_program, line.rsplitn(3, ':').last(), numbered) {
            (false, Some(file), _) if place.starts_with("--> ") || place.starts_with("::: ") => {
                file.to_owned()
            }
            (false, _, Some((number, code))) => format!("{} | {code}", " ".repeat(number.len())),
            _ => line.to_owned(),
        };
        let _ = writeln!(shown, "{}", line.trim_end());
    }
    shown
}
