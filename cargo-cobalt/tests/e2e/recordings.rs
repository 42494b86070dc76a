//! `cargo cobalt recordings` and `run --record` in a package with recordings.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cobalt_core::prices::Tokens;
use cobalt_core::recordings::{
    Body, Cassette, Interaction, JudgeAnswer, RecordedRequest, RecordedResponse, RecordingFolder, Trial,
    UNATTRIBUTED, cassette_name,
};
use cobalt_core::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::project::Project;
use crate::snapshot::assert_printed;
use crate::stored_runs::DAY;

/// A package whose experiment `strict` has recordings: of both items, and of one that is no longer in the dataset.
fn with_recordings() -> Project {
    // Built without the feature `record`: listing needs no gateway.
    let project = Project::steered();
    let folder = RecordingFolder::new(project.path("cassettes/strict"));
    let mut paris = cassette("paris", 3);
    let call = json!({ "choices": [{ "message": { "tool_calls": [{ "function": { "name": "look_up", "arguments": "{\"of\":\"France\"}" } }] } }] });
    let found = json!([
        { "role": "user", "content": "What is the capital of France?" },
        { "role": "tool", "content": long_text("Paris is the capital of France. ") },
    ]);
    paris.trials[0].interactions = vec![
        interaction(
            &folder,
            &json!([{ "role": "user", "content": "What is the capital of France?" }]),
            &call,
        ),
        interaction(&folder, &found, &said("Paris,\nof course.")),
    ];
    paris.trials.push(Trial {
        interactions: vec![interaction(&folder, &found, &said("Paris"))],
        ..paris.trials[0].clone()
    });
    paris.trials[1].judges.push(JudgeAnswer {
        key: "0123456789abcdef".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-5-mini".to_owned(),
        question: Some(Body::Json(
            json!({ "system": "You judge.", "prompt": "Is this polite?\n\nParis, of course." }),
        )),
        answer: json!("{\"score\": 1, \"reason\": \"It is.\"}"),
        tokens: Tokens::new(1_040, 9),
        recorded_at: None,
    });
    folder.write("paris", &paris).unwrap();
    for (item, age) in [("rome", 0), ("oslo", 40)] {
        let mut cassette = cassette(item, age);
        let sent = json!([{ "role": "user", "content": long_text(item) }]);
        cassette.trials[0].interactions = vec![interaction(&folder, &sent, &said(item))];
        folder.write(item, &cassette).unwrap();
    }
    folder.write_blob(b"of no recording").unwrap();
    project
}

fn cassette(item: &str, age_in_days: u32) -> Cassette {
    let recorded_at = SystemTime::now() - DAY * age_in_days - Duration::from_secs(7_300);
    let trial = Trial {
        recorded_at: Some(Timestamp::from(recorded_at)),
        latency_ms: Some(612.0),
        ..Trial::default()
    };
    Cassette { trials: vec![trial], ..Cassette::new("strict", item) }
}

fn interaction(folder: &RecordingFolder, messages: &Value, answer: &Value) -> Interaction {
    let body = |value: &Value| {
        Body::of(value.to_string().as_bytes(), &mut |data: &[u8]| folder.write_blob(data)).unwrap()
    };
    Interaction {
        experiment: None,
        recorded_at: None,
        request: RecordedRequest {
            method: "POST".to_owned(),
            path: "openai/chat/completions".to_owned(),
            url: None,
            body: body(&json!({ "model": "gpt-4o-mini", "messages": messages })),
        },
        response: RecordedResponse { status: 200, body: body(answer), ..RecordedResponse::default() },
        latency_ms: 250.0,
        model: Some("gpt-4o-mini".to_owned()),
        tokens: Some(Tokens::new(1_020, 3)),
    }
}

fn said(text: &str) -> Value {
    json!({ "choices": [{ "message": { "content": text } }] })
}

/// A text so long that it is stored on its own.
fn long_text(text: &str) -> String {
    text.repeat(5_000 / text.len() + 1)
}

/// The sorted paths of all files in the folder of recordings.
fn files(project: &Project) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![project.path("cassettes")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    let shown = |path: PathBuf| path.strip_prefix(project.path("cassettes")).unwrap().display().to_string();
    let mut found: Vec<_> = found.into_iter().map(shown).collect();
    found.sort();
    found
}

#[test]
fn recordings_are_listed_with_those_that_no_item_uses() {
    let project = with_recordings();
    let root = RecordingFolder::new(project.path("cassettes"));
    let mut other = Cassette::new("", "");
    let asked =
        Interaction { experiment: Some("strict".to_owned()), ..interaction(&root, &json!([]), &said("me")) };
    other.trials.push(Trial { interactions: vec![asked], ..Trial::default() });
    root.write(UNATTRIBUTED, &other).unwrap();
    RecordingFolder::new(project.path("cassettes/gone")).write("x", &Cassette::new("gone", "x")).unwrap();
    assert_printed!(project.cobalt(&["recordings"], 0));
    let listed: Value = serde_json::from_str(&project.cobalt(&["recordings", "--json"], 0).stdout).unwrap();
    let uses: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["item"].as_str(), one["use"].as_str().unwrap()))
        .collect();
    assert_eq!(
        uses,
        [(Some("oslo"), "unused"), (Some("paris"), "used"), (Some("rome"), "used"), (None, "used")]
    );
    assert_eq!(listed[1]["tokens"], json!({ "input": 3_060, "output": 9 }));
    assert!(listed[1]["bytes"].as_u64().unwrap() > 5_000, "{listed}");
    // All experiments share this file.
    project
        .cobalt(&["recordings", "--experiment", "gated", "--json"], 0)
        .stdout_has("cassettes/unattributed.json");
    project.cobalt(&["recordings", "--filter", "nosuch"], 4).stderr_has("no experiment matches `nosuch`");
}

#[test]
fn without_recordings_it_says_how_to_record() {
    let project = Project::steered();
    assert_printed!(project.cobalt(&["recordings"], 0));
    assert_eq!(project.cobalt(&["recordings", "--json"], 0).stdout, "[]\n");
    project.cobalt(&["recordings", "prune", "--yes"], 0).stderr_has("Nothing to delete.");
    project.cobalt(&["recordings", "show", "strict"], 4).stderr_has("experiment `strict` has no recordings");
}

#[test]
fn a_recording_is_shown_by_its_item_or_its_file() {
    let project = with_recordings();
    let shown = project.cobalt(&["recordings", "show", "strict", "paris"], 0);
    assert_printed!(shown);
    for arguments in [&["strict", "pa"][..], &["cassettes/strict/paris.json"]] {
        let said = project.cobalt(&[&["recordings", "show"], arguments].concat(), 0);
        assert_eq!(said.stdout, shown.stdout);
    }
    let second = project.cobalt(&["recordings", "show", "strict", "paris", "--trial", "2"], 0).stdout;
    assert!(!second.contains("trial 1 of 2") && second.contains("trial 2 of 2"), "{second}");
    let file = project.cobalt(&["recordings", "show", "strict", "paris", "--json"], 0);
    assert_eq!(file.stdout, project.read("cassettes/strict/paris.json"));
    project
        .cobalt(&["recordings", "show", "strict"], 2)
        .stderr_has("choose an item: `oslo`, `paris`, `rome`");
    project
        .cobalt(&["recordings", "show", "strict", "madrid"], 4)
        .stderr_has("no recording of an item `madrid`");
    project.cobalt(&["recordings", "show", "strit"], 4).stderr_has("did you mean `strict`?");
    project.cobalt(&["recordings", "show", "nosuch.json"], 4).stderr_has("no recording at `nosuch.json`");
    project
        .cobalt(&["recordings", "show", "strict", "paris", "--trial", "3"], 4)
        .stderr_has("has only 2 trials");
    project.write("cassettes/strict/rome.json", "{");
    project
        .cobalt(&["recordings", "show", "strict", "rome"], 3)
        .stderr_has("rome.json` is not a valid recording");
    let said = project.cobalt(&["recordings"], 3).stderr_has("rome.json` is not a valid recording");
    assert!(
        said.stdout.contains("paris") && said.stdout.contains("oslo"),
        "the others are listed: {}",
        said.stdout
    );
}

#[test]
fn recordings_are_found_by_item() {
    let project = with_recordings();
    let listed = project.cobalt(&["recordings", "paris", "--json"], 0).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["item"]), (1, &json!("paris")));
    let shown = project.cobalt(&["recordings", "show", "strict", "paris"], 0).stdout;
    assert_eq!(project.cobalt(&["recordings", "show", "paris"], 0).stdout, shown);
    for arguments in [&["recordings", "madrid"][..], &["recordings", "show", "madrid"]] {
        project.cobalt(arguments, 4).stderr_has("`madrid`");
    }
    RecordingFolder::new(project.path("cassettes/gated"))
        .write("paris", &Cassette::new("gated", "paris"))
        .unwrap();
    project.cobalt(&["recordings", "show", "paris"], 2).stderr_has("name one before it: ");
}

#[test]
fn only_what_nothing_uses_is_pruned_and_only_after_a_yes() {
    let project = with_recordings();
    RecordingFolder::new(project.path("cassettes/gone")).write("x", &Cassette::new("gone", "x")).unwrap();
    project.write("cassettes/strict/blobs/notes.txt", "mine");
    project.write("cassettes/notes.txt", "mine");
    let before = files(&project);
    assert_printed!(project.cobalt(&["recordings", "prune"], 0));
    assert_eq!(files(&project), before);
    assert_printed!(project.cobalt(&["recordings", "prune", "--yes"], 0));
    let left = files(&project);
    assert_eq!(left.len(), before.len() - 3, "{left:?}");
    for file in
        ["gone/x.json", "notes.txt", "strict/blobs/notes.txt", "strict/paris.json", "strict/rome.json"]
    {
        assert!(left.iter().any(|left| left == file), "{file}: {left:?}");
    }
    let shown = project.cobalt(&["recordings", "show", "strict", "rome"], 0).stdout_has("user: romerome");
    assert!(!shown.stdout.contains("warning"), "its long text is kept: {}", shown.stdout);
    project.cobalt(&["recordings", "prune", "--yes"], 0).stderr_has("Nothing to delete.");
    // Nothing uses the recordings of a dataset without these items.
    project.answers(&[("bern", "Bern")]);
    project.cobalt(&["recordings", "prune", "--yes"], 0);
    assert_eq!(
        files(&project),
        ["gone/x.json", "notes.txt", "strict/blobs/.gitattributes", "strict/blobs/notes.txt"]
    );
}

#[test]
fn what_cannot_be_read_keeps_its_recordings() {
    let project = with_recordings();
    let before = files(&project);
    // The blobs of a damaged recording are not known; it is used, so that it is not deleted itself.
    project.write("cassettes/strict/rome.json", "{");
    let said = project.cobalt(&["recordings", "prune", "--yes"], 0);
    assert_printed!(said);
    assert_eq!(files(&project).len(), before.len() - 1);
    fs::remove_file(project.path("data/items.jsonl")).unwrap();
    let left = files(&project);
    assert_printed!(project.cobalt(&["recordings", "prune", "--yes"], 0));
    assert_eq!(files(&project), left);
    project
        .cobalt(&["recordings", "--experiment", "strict"], 3)
        .stderr_has("cannot tell which recordings of `strict` are used");
}

#[test]
fn a_file_that_is_no_recording_is_kept() {
    let project = with_recordings();
    project.write("cassettes/strict/notes.json", "[\"mine\"]");
    let before = files(&project);
    assert_printed!(project.cobalt(&["recordings", "prune", "--yes"], 0));
    let gone: Vec<_> = before.into_iter().filter(|file| !files(&project).contains(file)).collect();
    // It may be a damaged recording, whose blobs are not known.
    assert_eq!(gone, ["strict/oslo.json"]);
}

#[test]
fn a_selection_deletes_no_recording_of_another_experiment() {
    let project = with_recordings();
    // The names of both give the same folder.
    let folder = RecordingFolder::new(project.path("cassettes/strict"));
    folder.write("oslo", &Cassette { experiment: "strict?".to_owned(), ..cassette("oslo", 40) }).unwrap();
    for arguments in [&["--experiment", "strict"][..], &["--test", "evals"]] {
        let arguments = [&["recordings", "prune", "--yes"], arguments].concat();
        project
            .cobalt(&arguments, 0)
            .stderr_has("keeping `cassettes/strict/oslo.json`: it belongs to experiment `strict?`");
    }
    let listed: Value = serde_json::from_str(&project.cobalt(&["recordings", "--json"], 0).stdout).unwrap();
    assert_eq!((&listed[0]["item"], &listed[0]["use"]), (&json!("oslo"), &json!("unknown")));
    let own = cassette("oslo", 40);
    folder.write("oslo", &own).unwrap();
    project.cobalt(&["recordings", "prune", "--yes", "--test", "evals"], 0);
    assert!(!project.path("cassettes/strict/oslo.json").exists());
}

#[test]
fn the_recording_of_an_item_whose_key_has_no_letters_keeps_its_blobs() {
    let project = with_recordings();
    project.write("data/items.jsonl", "{\"id\":\"?!\",\"answer\":\"x\",\"says\":\"x\"}\n");
    let folder = RecordingFolder::new(project.path("cassettes/strict"));
    let mut odd = cassette("?!", 1);
    let sent = json!([{ "role": "user", "content": long_text("odd") }]);
    odd.trials[0].interactions = vec![interaction(&folder, &sent, &said("x"))];
    let name = cassette_name("?!");
    folder.write(&name, &odd).unwrap();
    project.cobalt(&["recordings", "prune", "--yes"], 0);
    let left = files(&project);
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left[1].starts_with("strict/blobs/") && left[2] == format!("strict/{name}.json"), "{left:?}");
}

#[test]
#[cfg(unix)]
fn nothing_is_deleted_through_a_link() {
    use std::os::unix::fs::symlink;

    let (project, elsewhere) = (Project::steered(), with_recordings());
    let before = files(&elsewhere);
    symlink(elsewhere.path("cassettes"), project.path("cassettes")).unwrap();
    project
        .cobalt(&["recordings", "prune", "--yes"], 0)
        .stderr_has("skipping `cassettes`: it is a symbolic link");
    fs::remove_file(project.path("cassettes")).unwrap();
    fs::create_dir(project.path("cassettes")).unwrap();
    symlink(elsewhere.path("cassettes/strict"), project.path("cassettes/strict")).unwrap();
    project
        .cobalt(&["recordings", "prune", "--yes"], 0)
        .stderr_has("skipping `cassettes/strict`: it is a symbolic link");
    assert_eq!(files(&elsewhere), before);
}

#[test]
fn the_flags_of_a_run_reach_the_experiments() {
    let project = Project::steered();
    project.answers(&[("paris", "$COBALT_RECORD"), ("rome", "$COBALT_RECORD_STALE")]);
    project.cobalt(&["run", "--experiment", "strict", "--record", "off", "--record-stale", "36h"], 0);
    let outputs: Vec<_> = project.newest_result()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["output"]["output"].clone())
        .collect();
    assert_eq!(outputs, ["off", "1day12h"]);
    project
        .cobalt(&["run", "--record", "always"], 2)
        .stderr_has("possible values: off, replay, record, auto");
    project.cobalt(&["run", "--record-stale", "old"], 2).stderr_has("expected an age such as `30d` or `12h`");
}
