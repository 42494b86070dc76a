//! `cargo cobalt import`: imported, skipped and refused files.

use std::fs;
use std::path::PathBuf;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::store::{Kept, Store};

fn import(store: &Store, paths: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.args(["cobalt", "import"]).args(paths), code)
}

/// The names of the result files, sorted.
fn results(store: &Store) -> Vec<String> {
    let files = fs::read_dir(store.folder().join(".cobalt/results")).into_iter().flatten().flatten();
    let mut names: Vec<_> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A file of the original tool, outside of the project.
fn of_the_original(store: &Store, file: &str, text: &str) -> String {
    let path = store.folder().join("elsewhere").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

const ORIGINAL: &str = r#"{
  "id": "5ea00522f3eb", "name": "Help desk: é/名", "timestamp": "2026-02-05T10:00:34.836Z", "tags": ["t1"],
  "config": { "runs": 1, "concurrency": 2, "timeout": 1000, "evaluators": ["exact"] }, "unheard": "of",
  "summary": { "totalItems": 1, "totalDurationMs": 3, "avgLatencyMs": 1, "scores": {} },
  "items": [{ "index": 0, "input": { "input": "a" }, "output": { "output": "A" }, "latencyMs": 1, "evaluations": {} }]
}
"#;

#[test]
fn files_are_found_from_the_root_of_a_project_and_from_its_folder() {
    for paths in [&[][..], &["."], &[".cobalt"]] {
        let store = Store::new();
        let folder = store.folder().join(".cobalt/data/results");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("2026-02-05T10-00-34_help-desk_5ea00522f3eb.json"), ORIGINAL).unwrap();
        fs::write(store.folder().join("package.json"), "{}").unwrap();
        store.keep(&Kept::default());
        assert_printed!(import(&store, paths, 0));
    }
}

#[test]
fn files_of_the_original_are_kept_byte_by_byte_with_or_without_a_mark() {
    for mark in ["", "\u{feff}"] {
        let store = Store::new();
        let text = format!("{mark}{ORIGINAL}");
        let path = of_the_original(&store, "a.json", &text);
        assert_printed!(import(&store, &[&path], 0));
        assert_eq!(results(&store), ["2026-02-05T10-00-34_Help-desk-é-名_5ea00522f3eb.json"]);
        let kept = store.folder().join(".cobalt/results").join(&results(&store)[0]);
        assert_eq!(fs::read_to_string(kept).unwrap(), text);
        let mut history = program(COBALT, store.folder());
        let said = ProgramOutput::by(history.args(["cobalt", "history"]), 0);
        assert_eq!(said.stderr, "");
        assert_printed!(said);
        let mut export = program(COBALT, store.folder());
        assert_printed!(ProgramOutput::by(
            export.args(["cobalt", "export", "latest", "--format", "json"]),
            0
        ));
    }
}

#[test]
fn what_is_there_already_stays_and_another_run_of_its_id_is_refused() {
    let store = Store::new();
    let path = of_the_original(&store, "a.json", ORIGINAL);
    assert_printed!(import(&store, &[&path, &path], 0));
    let same = of_the_original(&store, "b.json", &ORIGINAL.replace("\n  ", "\n"));
    assert_printed!(import(&store, &[&same], 0));
    let other = of_the_original(&store, "c.json", &ORIGINAL.replace("\"A\"", "\"B\""));
    assert_printed!(import(&store, &[&other], 3));
    let kept = store.folder().join(".cobalt/results").join(&results(&store)[0]);
    assert_eq!(fs::read_to_string(kept).unwrap(), ORIGINAL);
    fs::remove_dir_all(store.folder().join(".cobalt")).unwrap();
    assert_printed!(import(&store, &[&path, &other], 3));
    assert_eq!(results(&store).len(), 1);
}

#[test]
fn a_folder_gives_its_files_and_those_of_its_results() {
    let (there, here) = (Store::with_a_drop(), Store::new());
    there.keep(&Kept { id: "dddddddddddd", day: 9, partial: true, ..Kept::default() });
    let folder = there.folder().join(".cobalt").to_string_lossy().into_owned();
    fs::write(there.folder().join(".cobalt/results/.draft.tmp"), "{").unwrap();
    fs::write(there.folder().join(".cobalt/results/notes.txt"), "no result").unwrap();
    assert_printed!(import(&here, &[&folder], 0));
    assert_eq!(
        results(&here),
        results(&there)
            .into_iter()
            .filter(|name| name.ends_with(".json"))
            .filter(|name| !name.starts_with('.'))
            .collect::<Vec<_>>()
    );
    assert_printed!(import(&here, &[&folder], 0));
    assert_printed!(here.compare(&["aaaa", "bbbb"], 0));
    fs::create_dir(here.folder().join("empty")).unwrap();
    assert_printed!(import(&here, &["empty"], 4));
}

#[test]
fn what_is_no_result_file_is_named_as_what_it_is_and_the_others_are_taken_in() {
    let store = Store::with_a_drop();
    let mut set = program(COBALT, store.folder());
    ProgramOutput::by(set.args(["cobalt", "baseline", "set", "aaaa"]), 0);
    let journal = r#"{"journal":1,"id":"eeeeeeeeeeee","name":"desk","timestamp":"2026-02-05T10:00:34.836Z","tags":[],"config":{"runs":1,"concurrency":1,"timeout":1,"evaluators":[]},"dataset":{"source":"inline","items":1,"hash":"a"},"definition":"b"}"#;
    let paths = [
        of_the_original(&store, "journal.jsonl", &format!("{journal}\n")),
        of_the_original(&store, "broken.json", "{\"id\": 1}"),
        of_the_original(&store, "cut.json", &ORIGINAL[..300]),
        of_the_original(&store, "climbing.json", &ORIGINAL.replace("5ea00522f3eb", "../../../x")),
        // In a file name, it would be parsed as part of another experiment's name.
        of_the_original(&store, "parted.json", &ORIGINAL.replace("5ea00522f3eb", "5ea0_0522")),
        of_the_original(&store, "good.json", ORIGINAL),
    ];
    let paths: Vec<_> =
        paths.iter().map(|path| &**path).chain([".cobalt/baselines/desk.json", "nowhere"]).collect();
    let said = import(&store, &paths, 3);
    assert_printed!(said);
    assert_eq!(said.stderr.matches("error: ").count(), 7, "{said:?}");
    assert_printed!(said);
    assert_eq!(results(&store).len(), 4);
    let outside: Vec<PathBuf> =
        fs::read_dir(store.folder().parent().unwrap()).unwrap().flatten().map(|it| it.path()).collect();
    assert!(!outside.iter().any(|path| path.to_string_lossy().contains("_x.json")));
}

#[test]
fn the_files_that_the_original_wrote_can_be_taken_in() {
    let shared = std::env::var_os("COBALT_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = shared.unwrap_or_else(beside).join("peer/results");
    if !folder.is_dir() {
        eprintln!("skipped: there is no `{}`", folder.display());
        return;
    }
    let store = Store::new();
    assert_printed!(import(&store, &[&folder.to_string_lossy()], 0));
    assert!(!results(&store).is_empty());
}

#[test]
fn a_file_with_values_that_no_run_gives_is_refused_with_the_item() {
    let (there, here) = (Store::with_a_drop(), Store::new());
    let folder = there.folder().join(".cobalt/results");
    let file = folder.join(&results(&there)[0]);
    let whole = fs::read_to_string(&file).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let evaluator = report["config"]["evaluators"][0].as_str().unwrap().to_owned();
    report["items"][1]["evaluations"][&evaluator]["score"] = 9.0.into();
    fs::write(&file, report.to_string()).unwrap();
    let said = import(&here, &[&file.to_string_lossy()], 3);
    assert_printed!(said);
    let path = of_the_original(
        &here,
        "score.json",
        &ORIGINAL.replace("\"evaluations\": {}", "\"evaluations\": { \"exact\": { \"score\": -1 } }"),
    );
    assert_printed!(import(&here, &[&path], 3));
    assert_eq!(results(&here), [""; 0]);
    fs::write(&file, whole).unwrap();
    assert_printed!(import(&here, &[&file.to_string_lossy()], 0));
}
