//! A remote store in a folder: what is pushed, pulled and listed.

use std::fs;
use std::path::Path;

use ruzstd::decoding::StreamingDecoder;
use serde_json::{Value, json};

use super::s3_server::S3Server;
use super::{cobalt, command, files, listed, results};
use crate::project::{ProgramOutput, Project};
use crate::store::{Kept, Store};

/// A folder that does not exist yet.
fn remote() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("team");
    (folder, path)
}

/// The first letters of the IDs of the runs that a new machine pulls with these arguments.
fn pulled(remote: &Path, arguments: &[&str]) -> String {
    let theirs = Store::new();
    cobalt(&theirs, remote, &[&["pull"], arguments].concat(), 0);
    let ids = results(&theirs).into_keys();
    ids.map(|name| name.trim_end_matches(".json").rsplit_once('_').unwrap().1[..1].to_owned()).collect()
}

#[test]
fn runs_arrive_byte_by_byte_and_once() {
    let (_folder, remote) = remote();
    let mine = Store::with_a_drop();
    mine.keep(&Kept { id: "dddddddddddd", partial: true, ..Kept::default() });
    cobalt(&mine, &remote, &["push"], 0).stdout_has("3 runs pushed to");
    cobalt(&mine, &remote, &["push"], 0).stderr_has("Nothing to push");
    cobalt(&mine, &remote, &["push", "bbbb"], 0)
        .stdout_has("skipped run bbbbbbbbbbbb of `desk` (already in the store)");
    cobalt(&mine, &remote, &["push", "--all"], 0).stdout_has("pushed  run dddddddddddd of `desk`");

    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull", "cccc"], 0).stdout_has("pulled  run cccccccccccc of `intent`");
    cobalt(&theirs, &remote, &["pull"], 0).stdout_has("2 runs pulled from");
    cobalt(&theirs, &remote, &["pull", "--all"], 0).stdout_has("1 run pulled from");
    assert_eq!(results(&theirs), results(&mine));
    cobalt(&theirs, &remote, &["pull", "--all"], 0).stdout_has("0 runs pulled");
    let history = |store: &Store| cobalt(store, &remote, &["history", "--remote"], 0).stdout;
    assert_eq!(history(&theirs), history(&mine));
    assert!(history(&mine).contains("bbbbbbbbbbbb") && !history(&mine).contains("dddddddddddd"));
}

#[test]
fn the_filters_of_pull_narrow_what_is_pulled() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    for (id, day, branch) in
        [("aaaaaaaaaaaa", 1, "main"), ("bbbbbbbbbbbb", 2, "main"), ("cccccccccccc", 3, "fix")]
    {
        mine.keep_edited(&Kept { id, day, ..Kept::default() }, |report| {
            report["git"] = json!({ "commit": "0".repeat(40), "dirty": false, "branch": branch });
            report["runName"] = format!("trial of {id}").into();
        });
    }
    cobalt(&mine, &remote, &["push"], 0);
    let pulled = |arguments: &[&str]| pulled(&remote, arguments);
    assert_eq!(pulled(&["--branch", "main"]), "ab");
    assert_eq!(pulled(&["--branch", "main", "--since", "2026-02-02"]), "b");
    assert_eq!(pulled(&["--since", "2026-02-03"]), "c");
    assert_eq!(pulled(&["-e", "other"]), "");
    assert_eq!(pulled(&["trial of cccccccccccc"]), "c");
    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull", "9999"], 4).stderr_has("no run `9999`").stderr_has("history --remote");
}

#[test]
fn a_changed_label_is_pushed_when_the_run_is_named_and_the_newest_counts() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    mine.keep(&Kept::default());
    cobalt(&mine, &remote, &["push"], 0);
    mine.keep_edited(&Kept::default(), |report| report["tags"] = json!(["release"]));
    cobalt(&mine, &remote, &["push"], 0).stderr_has("Nothing to push");
    cobalt(&mine, &remote, &["push", "latest"], 0).stdout_has("1 run pushed");
    let theirs = Store::new();
    let ids =
        listed(&mut command(&theirs, &remote.display().to_string(), &["history", "--remote", "--json"]));
    assert_eq!(ids, ["aaaaaaaaaaaa"]);
    cobalt(&theirs, &remote, &["pull"], 0);
    assert_eq!(results(&theirs), results(&mine));
}

#[test]
fn items_in_a_file_of_their_own_come_along() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    let file = mine.folder().join(mine.keep(&Kept::default()));
    // More than one part of an upload.
    let items: Vec<u8> = (0..9_000_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(file.with_extension("items.zst"), &items).unwrap();
    cobalt(&mine, &remote, &["push"], 0);
    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull"], 0);
    assert!(results(&theirs) == results(&mine));
    assert_eq!(results(&theirs).len(), 2);
}

#[test]
fn a_redacted_push_has_no_text_of_an_item() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    mine.keep_edited(&Kept::default(), |report| {
        report["note"] = "SECRET".into();
        for item in report["items"].as_array_mut().unwrap() {
            item["input"] = json!({ "id": item["key"], "input": "SECRET", "expected": "SECRET" });
            item["output"] =
                json!({ "output": "SECRET", "metadata": { "tokens": { "input": 3 }, "note": "SECRET" } });
            item["evaluations"]["right"]["reason"] = "SECRET".into();
            item["trace"] = json!([{ "id": "a", "name": "SECRET", "kind": "tool", "durationMs": 1 }]);
            item["transcript"] = json!({ "turns": [{ "message": "SECRET", "reply": "SECRET" }] });
            item["workspace"] =
                json!({ "patch": "SECRET", "files": [{ "path": "SECRET", "change": "added" }] });
        }
    });
    cobalt(&mine, &remote, &["push", "--redacted"], 0).stdout_has("without inputs and outputs");
    for file in files(&remote) {
        let bytes = fs::read(&file).unwrap();
        let text = match file.extension().is_some_and(|ending| ending == "zst") {
            true => {
                let mut text = Vec::new();
                std::io::Read::read_to_end(&mut StreamingDecoder::new(&*bytes).unwrap(), &mut text).unwrap();
                text
            }
            false => bytes,
        };
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("SECRET") && !text.contains("what now"), "{}: {text}", file.display());
    }
    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull"], 0);
    let report: Value = serde_json::from_slice(results(&theirs).values().next().unwrap()).unwrap();
    assert_eq!(report["items"][0]["evaluations"]["right"]["score"], 1.0);
    assert_eq!(report["items"].as_array().unwrap().len(), crate::store::ITEMS);
    cobalt(&theirs, &remote, &["show", "latest"], 0).stderr_has("is redacted: it has no inputs and outputs");
    cobalt(&theirs, &remote, &["history", "--remote"], 0).stdout_has("passed (redacted)");
    cobalt(&theirs, &remote, &["history"], 0).stdout_has("passed (redacted)");
    fs::create_dir(theirs.folder().join("src")).unwrap();
    fs::write(theirs.folder().join("src/lib.rs"), "").unwrap();
    cobalt(&theirs, &remote, &["score", "latest"], 3).stderr_has("it is redacted");
    // The list says so even if it is made again.
    fs::remove_dir_all(remote.join("index")).unwrap();
    cobalt(&mine, &remote, &["push", "--rebuild-index"], 0).stdout_has("1 run added");
    // The complete run takes precedence, whenever it is pushed.
    cobalt(&mine, &remote, &["push", "latest"], 0).stdout_has("1 run pushed");
    let others = Store::new();
    cobalt(&others, &remote, &["pull"], 0);
    assert_eq!(results(&others), results(&mine));
}

#[test]
fn old_runs_are_listed_and_deleted_only_when_that_is_confirmed() {
    let (_folder, remote) = remote();
    let mine = Store::with_a_drop();
    mine.keep(&Kept { id: "dddddddddddd", day: 5, ..Kept::default() });
    cobalt(&mine, &remote, &["push"], 0);
    let ids = |store: &Store| {
        listed(&mut command(store, &remote.display().to_string(), &["history", "--remote", "--json"]))
    };
    cobalt(&mine, &remote, &["clean", "--remote"], 2).stderr_has("--older-than 90d");
    cobalt(&mine, &remote, &["clean", "--older-than", "1d"], 2);
    cobalt(&mine, &remote, &["clean", "--remote", "--older-than", "36500d"], 0)
        .stderr_has("Nothing to delete");
    let clean = &["clean", "--remote", "--older-than", "2026-02-05", "--keep", "2"];
    let output = cobalt(&mine, &remote, &[&clean[..], &["--files"]].concat(), 0);
    output.stdout_has("aaaaaaaaaaaa  2026-02-01 14:30  desk").stderr_has("Nothing removed");
    assert_eq!(ids(&mine).len(), 4);
    // What an interrupted deletion has left, and shards of long ago.
    let result = fs::read_dir(remote.join("runs/aaaaaaaaaaaa")).unwrap().next().unwrap().unwrap().path();
    cobalt(&mine, &remote, &[&clean[..], &["--yes"]].concat(), 0).stderr_has("Removed 1 run (");
    assert!(!result.exists());
    fs::write(&result, "left").unwrap();
    cobalt(&mine, &remote, &[&clean[..], &["--yes"]].concat(), 0).stderr_has("Removed 1 object (4 B)");
    assert!(!result.exists());
    for store in [&mine, &Store::new()] {
        assert_eq!(ids(store), ["dddddddddddd", "bbbbbbbbbbbb", "cccccccccccc"]);
    }
    assert_eq!(results(&mine).len(), 4, "runs on this machine stay");
    cobalt(&mine, &remote, &["push"], 0).stderr_has("Nothing to push");
    cobalt(&mine, &remote, &["push", "aaaa"], 0).stdout_has("1 run pushed");
    assert_eq!(ids(&Store::new()).len(), 4, "unless it is named");
    fs::remove_dir_all(remote.join("index")).unwrap();
    assert_eq!(ids(&mine), [""; 0]);
    cobalt(&mine, &remote, &["push", "--rebuild-index"], 0).stdout_has("4 runs added to the index");
    assert_eq!(ids(&Store::new()).len(), 4);
}

#[test]
fn recordings_and_cached_responses_are_shared_and_never_overwritten() {
    let (_folder, remote) = remote();
    let write = |store: &Store, name: &str, text: &str| {
        let path = store.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let (mine, theirs) = (Store::new(), Store::new());
    let answer = format!(".cobalt/cache/ab/{}", "0".repeat(62));
    let blob = format!("cassettes/desk/blobs/{}", "1".repeat(64));
    write(&mine, "cassettes/desk/refund.json", "{}");
    write(&mine, "cassettes/desk/other.json", "mine");
    write(&mine, &blob, "a long text");
    write(&mine, "cassettes/desk/notes.txt", "private");
    write(&mine, &answer, "{\"answer\": 1}");
    write(&mine, ".cobalt/cache/notes.txt", "private");
    cobalt(&mine, &remote, &["push", "--recordings", "--cache"], 0)
        .stdout_has("3 recording files pushed")
        .stdout_has("1 cached response pushed");
    cobalt(&mine, &remote, &["push", "--recordings"], 0).stdout_has("0 recording files pushed");
    write(&theirs, "cassettes/desk/other.json", "theirs");
    let pull = || cobalt(&theirs, &remote, &["pull", "--recordings", "--cache"], 0);
    pull()
        .stdout_has("2 recording files pulled")
        .stdout_has("1 skipped: local content differs")
        .stdout_has("1 cached response pulled");
    let read = |name: &str| fs::read_to_string(theirs.folder().join(name)).ok();
    assert_eq!(read("cassettes/desk/refund.json").as_deref(), Some("{}"));
    assert_eq!(read("cassettes/desk/other.json").as_deref(), Some("theirs"));
    assert_eq!(read(&blob).as_deref(), Some("a long text"));
    assert_eq!(read(&answer).as_deref(), Some("{\"answer\": 1}"));
    assert_eq!((read("cassettes/desk/notes.txt"), read(".cobalt/cache/notes.txt")), (None, None));
    fs::remove_file(theirs.folder().join(&answer)).unwrap();
    pull().stdout_has("1 cached response pulled");
    cobalt(&theirs, &remote, &["push", "--recordings"], 0).stdout_has("1 recording file pushed");
    write(&mine, "cobalt.toml", "[storage]\npush-redacted = true\n");
    cobalt(&mine, &remote, &["push", "--cache"], 2).stderr_has("`storage.push-redacted` is set");
}

#[test]
fn a_run_is_pushed_at_its_end_and_a_failed_push_changes_no_exit_code() {
    let (folder, remote) = remote();
    let project = Project::steered();
    let cities = ["Paris", "Rome", "Lima", "Oslo", "Bern", "Cairo"];
    let says: Vec<_> = cities.iter().map(|city| (city.to_lowercase(), *city)).collect();
    project.answers(&says.iter().map(|(id, city)| (&**id, *city)).collect::<Vec<_>>());
    let run = |remote: &std::path::Path, arguments: &[&str]| {
        let mut command = project.command(arguments);
        ProgramOutput::by(command.env("COBALT_REMOTE", remote), 0)
    };
    run(&remote, &["run", "-e", "strict"]);
    assert!(!remote.exists(), "nothing is pushed unless it is asked for");
    run(&remote, &["run", "-e", "strict", "--push"]).stderr_has("pushed 1 run (");
    project.write("cobalt.toml", "[storage]\npush = \"always\"\n");
    for shard in ["1/2", "2/2"] {
        run(&remote, &["run", "-e", "strict", "--shard", shard, "--shard-group", "g"])
            .stderr_has("pushed 1 run (");
    }
    run(&remote, &["merge", ".cobalt/results"]).stderr_has("pushed 1 run (");
    project.write("cobalt.toml", "[storage]\npush = \"ci\"\n");
    let pushed = |output: ProgramOutput| output.stderr.contains("pushed 1 run (");
    assert!(!pushed(run(&remote, &["run", "-e", "strict"])));
    assert!(pushed(run(&remote, &["run", "-e", "strict", "--ci"])));
    let index = files(&remote.join("index"));
    assert_eq!(index.len(), 5, "{index:?}");

    let gone = folder.path().join("not/mounted");
    let output =
        ProgramOutput::by(project.command(&["run", "-e", "strict", "--push"]).env("COBALT_REMOTE", &gone), 3);
    output.stderr_has("failed to open the remote store");
    fs::write(remote.join("cobalt.json"), "{ \"format\": 99 }").unwrap();
    let output = run(&remote, &["run", "-e", "strict", "--push"]);
    output.stderr_has("has format 99").stderr_has("to push later: `cargo cobalt push ");
    project.cobalt(&["run", "-e", "strict", "--push"], 3).stderr_has("no remote store is configured");
}

#[test]
fn runs_are_pulled_by_any_name_and_with_their_new_labels() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    for (id, name, day) in
        [("aaaaaaaaaaaa", "desk", 1), ("bbbbbbbbbbbb", "desk", 2), ("cccccccccccc", "intent", 3)]
    {
        mine.keep_edited(&Kept { id, name, day, ..Kept::default() }, |report| {
            report["git"] = json!({ "commit": "1".repeat(40), "dirty": false, "branch": "main" });
            report["runName"] = "tuned".into();
        });
    }
    cobalt(&mine, &remote, &["push"], 0);
    let pulled = |arguments: &[&str]| pulled(&remote, arguments);
    for (name, ids) in [
        ("desk@latest", "b"),
        ("desk@latest~1", "a"),
        ("branch:main", "bc"),
        ("tuned", "bc"),
        ("1111111", "bc"),
        ("aaaa", "a"),
    ] {
        assert_eq!(pulled(&[name]), ids, "{name}");
    }
    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull"], 0).stdout_has("3 runs pulled");
    mine.keep_edited(&Kept::default(), |report| {
        report["git"] = json!({ "commit": "1".repeat(40), "dirty": false, "branch": "main" });
        report["tags"] = json!(["release"]);
    });
    cobalt(&mine, &remote, &["push", "aaaa"], 0);
    cobalt(&theirs, &remote, &["pull", "aaaa"], 0).stdout_has("(updated labels)");
    cobalt(&theirs, &remote, &["pull", "aaaa"], 0).stdout_has("(already on this machine)");
    let ids = |arguments: &[&str]| {
        listed(&mut command(&theirs, &remote.display().to_string(), &[arguments, &["--json"]].concat()))
    };
    assert_eq!(ids(&["history", "--tag", "release"]), ["aaaaaaaaaaaa"]);
    assert_eq!(ids(&["history", "--remote", "--branch", "fix"]), [""; 0]);
    assert_eq!(ids(&["history", "--remote", "--branch", "main"]).len(), 3);
}

#[test]
fn names_of_all_scripts_are_listed_pulled_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    round_trip(&format!("[storage]\nremote = {:?}\n", folder.path().join("équipe~x")));
    let Some(server) = S3Server::start(&[]) else { return };
    server.create_bucket("team");
    round_trip(&format!(
        "[storage]\nremote = \"s3://team/équipe~x\"\nendpoint = \"http://{}\"\nregion = \"us-east-1\"\nallow-http = true\n",
        server.address
    ));
}

fn round_trip(settings: &str) {
    let run = |store: &Store, arguments: &[&str]| {
        let mut command = command(store, "", arguments);
        command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "secret");
        ProgramOutput::by(&mut command, 0)
    };
    let (mine, theirs) = (Store::new_with(settings), Store::new_with(settings));
    mine.keep(&Kept { name: "Hilfe-für-Kunden", ..Kept::default() });
    mine.keep(&Kept { id: "bbbbbbbbbbbb", name: "Hilfe-für-Kunden", day: 2, ..Kept::default() });
    run(&mine, &["push"]).stdout_has("2 runs pushed");
    run(&mine, &["push"]).stderr_has("is up to date");
    run(&theirs, &["pull"]).stdout_has("2 runs pulled");
    assert_eq!(results(&theirs), results(&mine));
    run(&theirs, &["clean", "--remote", "--keep", "1", "--yes"]).stderr_has("Removed 1 run");
    run(&mine, &["history", "--remote"]).stdout_has("bbbbbbbbbbbb");
    assert!(!run(&mine, &["history", "--remote"]).stdout.contains("aaaaaaaaaaaa"));
}

#[test]
fn history_of_an_empty_store_says_how_to_push_and_creates_nothing() {
    let (_folder, remote) = remote();
    let mine = Store::new();
    cobalt(&mine, &remote, &["history", "--remote"], 0).stderr_has("`cargo cobalt push`");
    assert!(!remote.exists());
}
