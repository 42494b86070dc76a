//! `cargo cobalt export` and the reporter `junit`: formats and files.

use std::fs;

use serde_json::Value;

use crate::command::{COBALT, program};
use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;
use crate::store::Store;

fn export(store: &Store, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.args(["cobalt", "export"]).args(arguments), code)
}

#[test]
fn a_run_is_written_in_every_format() {
    let store = Store::with_a_drop();
    assert_printed!(export(&store, &["latest", "--format", "csv"], 0));
    assert_printed!(export(&store, &["aaaa", "--format", "junit"], 0));
    assert_printed!(export(&store, &["aaaa", "--format", "markdown"], 0));
    assert_printed!(export(&store, &["aaaa", "--format", "html"], 0));
    let json = export(&store, &["aaaa", "--format", "json"], 0).stdout;
    let file = store.folder().join(".cobalt/results/2026-02-01T14-30-00_desk_aaaaaaaaaaaa.json");
    assert_eq!(json.trim_end(), fs::read_to_string(file).unwrap(), "the stored file, unchanged");
}

#[test]
fn the_ending_of_the_output_tells_the_format() {
    let store = Store::with_a_drop();
    for (file, beginning) in [
        ("out/a.csv", "run_id"),
        ("out/a.xml", "<?xml"),
        ("out/a.JSON", "{"),
        ("out/a.html", "<!DOCTYPE html>"),
        ("out/a.md", "#"),
    ] {
        let said = export(&store, &["latest", "--output", file], 0);
        assert_eq!((said.stdout, said.stderr), (String::new(), String::new()), "{file}");
        let text = fs::read_to_string(store.folder().join(file)).unwrap();
        assert!(text.starts_with(beginning), "{file}: {text}");
    }
    export(&store, &["latest", "-o", "a.csv", "--format", "json"], 0);
    assert!(fs::read_to_string(store.folder().join("a.csv")).unwrap().starts_with('{'));
    assert_printed!(export(&store, &["latest", "-o", "a.txt"], 2));
    assert_printed!(export(&store, &["latest"], 2));
    assert!(!store.folder().join("a.txt").exists());
    assert_printed!(export(&store, &["latest", "-o", "out"], 2));
    assert_printed!(export(&store, &["latest", "-o", "out", "--format", "csv"], 3));
}

#[test]
fn several_runs_are_written_into_one_file() {
    let store = Store::with_a_drop();
    let runs = ["desk@latest", "intent@latest", "--format"];
    let json: Value =
        serde_json::from_str(&export(&store, &[&runs[..], &["json"]].concat(), 0).stdout).unwrap();
    assert_eq!([&json[0]["id"], &json[1]["id"]], ["bbbbbbbbbbbb", "cccccccccccc"]);
    let csv = export(&store, &[&runs[..], &["csv"]].concat(), 0).stdout;
    assert_eq!((csv.lines().count(), csv.matches("run_id").count()), (81, 1));
    let junit = export(&store, &[&runs[..], &["junit"]].concat(), 0);
    assert_printed!(junit);
}

#[test]
fn what_is_no_run_is_refused() {
    let store = Store::with_a_drop();
    assert_printed!(export(&store, &["zzzz", "--format", "csv"], 4));
    export(&store, &["--format", "csv"], 2);
    assert_printed!(export(&store, &["latest", "--format", "pdf"], 2));
    let mut set = program(COBALT, store.folder());
    ProgramOutput::by(set.args(["cobalt", "baseline", "set", "aaaa"]), 0);
    assert_printed!(export(&store, &[".cobalt/baselines/desk.json", "--format", "csv"], 3));
}

#[test]
fn the_reporter_writes_test_cases_with_the_names_of_cargo_test() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    project.cobalt(&["run", "--ci", "--reporter", "junit"], 1);
    let usual = project.read(".cobalt/reports/junit.xml");
    assert!(
        usual.contains("<failure type=\"low-score\" message=\"right 0, below the pass mark of 0.5\">"),
        "{usual}"
    );
    assert!(usual.contains("<error type=\"agent-error\" message=\"the agent broke\">"), "{usual}");
    let case = |line: &str| Some(line.split_once("<testcase ")?.1.split('"').nth(3)?.to_owned());
    let mut cases: Vec<_> = usual.lines().filter_map(case).collect();
    cases.sort();
    let listed = project.cobalt(&["run", "--", "--list"], 0).stdout;
    let mut names: Vec<_> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    names.sort_unstable();
    assert_eq!(cases, names.iter().map(|name| name.replace('>', "&gt;")).collect::<Vec<_>>());

    assert_printed!(
        project
            .cobalt(&["run", "--filter", "strict", "--reporter", "junit=out/a.xml", "--reporter", "cli"], 0)
    );
    let strict = project.read("out/a.xml");
    assert!(strict.contains("file=\"tests/evals.rs\"") && !strict.contains("gated"), "{strict}");

    project.write("data/items.jsonl", "{\n");
    project.cobalt(&["run", "--reporter", "junit=out/a.xml"], 3);
    let broken = project.read("out/a.xml");
    assert!(broken.contains("<error type=\"broken\"") && broken.contains("items.jsonl"), "{broken}");
}

#[test]
fn columns_are_written_by_a_command_that_can_and_the_other_says_how_to_get_it() {
    let store = Store::with_a_drop();
    let runs = ["latest", "latest~1", "--output"];
    for (file, start) in [("runs.parquet", &b"PAR1"[..]), ("runs.feather", b"ARROW1")] {
        let code = if cfg!(feature = "parquet") { 0 } else { 2 };
        let said = export(&store, &[&runs[..], &[file]].concat(), code);
        let written = fs::read(store.folder().join(file));
        match written {
            Ok(bytes) => assert!(bytes.starts_with(start) && cfg!(feature = "parquet")),
            Err(_) => drop(said.stderr_has("--features parquet`, or use a release archive")),
        }
    }
}
