//! Names of runs that only the store has, in a project without runs.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::store::{ITEMS, Kept, Store};

const COMMIT: &str = "0123456789012345678901234567890123456789";

fn cobalt(store: &Store, remote: &Path, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.arg("cobalt").args(arguments).env("COBALT_REMOTE", remote), code)
}

/// Runs of a team, pushed: of `desk` two on `main`, the newer with uncommitted changes, and a newer one on `fix`; one of `intent`, and
/// a partial one.
fn pushed() -> TempDir {
    let folder = TempDir::new().unwrap();
    let team = Store::new();
    let keep = |run: &Kept<'_>, branch: &str, dirty: bool, name: Option<&str>| {
        team.keep_edited(run, |report| {
            report["git"] =
                json!({ "commit": run.commit.unwrap_or(COMMIT), "dirty": dirty, "branch": branch });
            if let Some(name) = name {
                report["runName"] = name.into();
            }
        });
    };
    let desk = |id, day, right| Kept { id, day, right, ..Kept::default() };
    keep(&desk("aaaa11111111", 1, ITEMS), "main", false, Some("tuned"));
    keep(&desk("bbbb11111111", 2, ITEMS), "main", true, None);
    keep(&Kept { commit: Some(&"f".repeat(40)), ..desk("cccc11111111", 3, 10) }, "fix", false, None);
    keep(&Kept { name: "intent", ..desk("dddd11111111", 2, ITEMS) }, "main", false, None);
    keep(&Kept { partial: true, ..desk("eeee11111111", 2, 5) }, "main", false, None);
    cobalt(&team, folder.path(), &["push", "--all"], 0).stdout_has("5 runs pushed");
    folder
}

fn compared(store: &Store, remote: &Path, names: [&str; 2]) -> (String, String) {
    let output = cobalt(store, remote, &["compare", names[0], names[1], "--json"], 0);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    let id = |run: &str| value["comparisons"][0][run]["id"].as_str().unwrap()[..4].to_owned();
    (id("base"), id("other"))
}

#[test]
fn a_run_of_the_store_is_named_like_one_of_this_machine() {
    let (remote, here) = (pushed(), Store::new());
    let pair = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    for (names, expected) in [
        (["aaaa", "cccc"], pair("aaaa", "cccc")),
        (["tuned", "desk@latest"], pair("aaaa", "cccc")),
        (["desk@tuned", "latest~1"], pair("aaaa", "bbbb")),
        (["branch:main", "branch:fix"], pair("aaaa", "cccc")),
        (["desk@branch:main", "ffffffffff"], pair("aaaa", "cccc")),
        (["01234567", "latest"], pair("aaaa", "cccc")),
    ] {
        assert_eq!(compared(&here, remote.path(), names), expected, "{names:?}");
    }
    assert!(!here.folder().join(".cobalt/results").read_dir().unwrap().any(|_| true), "nothing is pulled");
    cobalt(&here, remote.path(), &["show", "eeee"], 0).stdout_has("eeee11111111");
    let exported = cobalt(&here, remote.path(), &["export", "tuned", "--format", "json"], 0);
    assert!(exported.stdout.contains("aaaa11111111"));
    cobalt(&here, remote.path(), &["baseline", "set", "branch:main"], 0)
        .stdout_has("aaaa11111111")
        .stdout_has("dddd11111111");
    cobalt(&here, remote.path(), &["show", "branch:mian"], 4).stderr_has("did you mean `main`?");
    cobalt(&here, remote.path(), &["show", "zzzz"], 4);
}

#[test]
fn the_store_can_be_named_by_a_flag_and_a_fetched_run_is_not_fetched_again() {
    let (remote, here) = (pushed(), Store::new());
    let url = remote.path().display().to_string();
    let show = |code| {
        let mut command = program(COBALT, here.folder());
        ProgramOutput::by(command.args(["cobalt", "show", "aaaa", "--remote", &url]), code)
    };
    show(0);
    std::fs::remove_dir_all(remote.path().join("runs")).unwrap();
    show(0);
    cobalt(&here, remote.path(), &["show", "cccc"], 3).stderr_has("is missing");
}

#[test]
fn runs_of_this_machine_come_first_and_latest_never_mixes_both() {
    let (remote, here) = (pushed(), Store::new());
    here.keep_edited(&Kept { id: "aaaa22222222", day: 1, right: 3, ..Kept::default() }, |report| {
        report["git"] = json!({ "commit": COMMIT, "dirty": false, "branch": "main" });
    });
    cobalt(&here, remote.path(), &["show", "aaaa"], 0).stdout_has("aaaa22222222");
    cobalt(&here, remote.path(), &["show", "desk@latest"], 0).stdout_has("aaaa22222222");
    cobalt(&here, remote.path(), &["show", "desk@latest~1"], 4);
    // The newest of a branch is the newest of both places.
    here.keep_edited(&Kept { id: "ffff22222222", day: 9, ..Kept::default() }, |report| {
        report["git"] = json!({ "commit": COMMIT, "dirty": false, "branch": "fix" });
    });
    cobalt(&here, remote.path(), &["show", "desk@branch:fix"], 0).stdout_has("ffff22222222");
    cobalt(&here, remote.path(), &["show", "intent@branch:main"], 0).stdout_has("dddd11111111");
}

#[test]
fn names_like_ids_are_found_after_ids() {
    let (remote, here) = (pushed(), Store::new());
    for (id, day, name) in [("1111ffffffff", 4, "0123456789ab"), ("2222ffffffff", 5, "aaaa11111111")] {
        here.keep_edited(&Kept { id, day, ..Kept::default() }, |report| report["runName"] = name.into());
    }
    // The second name is also the ID of a run in the store.
    let found = compared(&here, remote.path(), ["0123456789ab", "aaaa11111111"]);
    assert_eq!(found, ("1111".to_owned(), "aaaa".to_owned()));
}
