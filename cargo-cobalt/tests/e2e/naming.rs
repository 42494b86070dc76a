//! Run names: by ID, age, experiment, file and git revision.

use crate::snapshot::assert_printed;
use crate::store::{Kept, Store};

#[test]
fn runs_are_named_by_id_by_age_by_experiment_and_by_file() {
    let store = Store::with_a_drop();
    assert_eq!(store.ids(&["latest~1", "latest"]), ["a", "b"], "of the experiment that ran last");
    assert_eq!(store.ids(&["cccccccccccc", "latest"]), ["c", "c"], "of the experiment of the other run");
    assert_eq!(store.ids(&["intent@latest", "desk@latest~1", "bb"]), ["c", "a", "b"]);
    let partial = store.keep(&Kept { id: "dddddddddddd", day: 9, partial: true, ..Kept::default() });
    assert_eq!(store.ids(&["latest~1", "latest"]), ["a", "b"], "`latest` skips partial runs");
    assert_eq!(store.ids(&["dddd", &partial]), ["d", "d"], "partial runs can be named explicitly");
}

#[test]
fn an_experiment_is_named_as_it_is_declared_or_as_in_test_cases() {
    let store = Store::with_a_drop();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    store.keep(&Kept { id: "eeeeeeeeeeee", name: "desk/mini", day: 7, ..Kept::default() });
    store.keep(&Kept {
        id: "ffffffffffff",
        name: "desk/mini",
        day: 8,
        commit: Some(commit),
        ..Kept::default()
    });
    for name in ["desk/mini", "desk-mini"] {
        let [latest, before, at_commit] =
            ["latest", "latest~1", "0123456"].map(|run| format!("{name}@{run}"));
        assert_eq!(store.ids(&[&before, &latest]), ["e", "f"], "{name}");
        assert_eq!(store.ids(&["eeee", &at_commit]), ["e", "f"], "{name}");
        assert_printed!(store.compare(&[&format!("{name}@latest~7"), "eeee"], 4));
    }
}

#[test]
fn a_revision_means_the_newest_run_of_its_commit() {
    let store = Store::with_a_drop();
    store.git(&["init", "--quiet"]);
    store.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    let commit = store.git(&["rev-parse", "HEAD"]);
    store.git(&["tag", "v1"]);
    store.keep(&Kept { id: "eeeeeeeeeeee", day: 4, commit: Some(&commit), ..Kept::default() });
    store.keep(&Kept { id: "ffffffffffff", day: 5, commit: Some(&commit), ..Kept::default() });
    assert_eq!(store.ids(&["v1", "latest~1"]), ["f", "e"]);
    assert_eq!(store.ids(&[&commit[..12], "HEAD"]), ["f", "f"]);
    store.keep(&Kept {
        id: "111111111111",
        day: 6,
        name: "intent",
        commit: Some(&commit),
        ..Kept::default()
    });
    assert_eq!(store.ids(&["desk@v1", "v1"]), ["f", "f"], "of the experiment of the other run");
    assert_eq!(store.ids(&["v1", "latest"]), ["1", "1"], "of the experiment that ran last");
    store.git(&["commit", "--quiet", "--allow-empty", "--message", "second"]);
    assert_printed!(store.compare(&["v1", "HEAD"], 4));
    store.git(&["branch", "intent"]);
    assert_printed!(store.compare(&["v1", "intent"], 4));
}

#[test]
fn a_commit_that_git_does_not_have_is_known_by_its_runs() {
    let store = Store::with_a_drop();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    store.keep(&Kept { id: "eeeeeeeeeeee", day: 4, commit: Some(commit), ..Kept::default() });
    assert_eq!(
        store.ids(&[commit, "0123456", "desk@0123456789"]),
        ["e", "e", "e"],
        "not in a git repository"
    );
    let other = "0123456fffffffffffffffffffffffffffffffff";
    store.keep(&Kept { id: "ffffffffffff", day: 5, commit: Some(other), ..Kept::default() });
    assert_printed!(store.compare(&["aaaa", "0123456"], 4));
    assert_eq!(store.ids(&["01234567", "0123456f"]), ["e", "f"]);
}

#[test]
fn a_revision_that_is_not_there_is_said_with_how_it_is_fetched() {
    let (there, here) = (Store::new(), Store::with_a_drop());
    there.git(&["init", "--quiet", "--initial-branch", "trunk"]);
    for message in ["first", "second"] {
        there.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }
    there.git(&["branch", "feature"]);
    here.git(&["init", "--quiet"]);
    assert!(!here.compare(&["aaaa", "feature"], 4).stderr.contains("git fetch"), "no remote to fetch from");
    let url = format!("file://{}", there.folder().display());
    here.git(&["remote", "add", "-t", "trunk", "origin", &url]);
    here.git(&["fetch", "--quiet", "--depth", "1", "origin"]);
    let said = here.compare(&["aaaa", "origin/feature"], 4);
    assert_printed!(said);
    here.git(&["fetch", "--quiet", "--unshallow", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    assert_printed!(here.compare(&["aaaa", "origin/feature~1"], 4));
    assert_printed!(here.compare(&["aaaa", "feature"], 4));
    assert_printed!(here.compare(&["aaaa", "zzzz"], 4));
}

#[test]
fn a_name_that_no_run_has_is_said_with_what_may_have_been_meant() {
    let store = Store::with_a_drop();
    assert_printed!(store.compare(&["aaaa", "zzzzzz"], 4));
    assert_printed!(store.compare(&["aaaa", "desc@latest"], 4));
    assert_printed!(store.compare(&["aaaa", "desk"], 4));
    assert_printed!(store.compare(&["desk@latest~7", "aaaa"], 4));
    assert_printed!(store.compare(&["aaaa", "latest~x"], 2));
    assert_printed!(store.compare(&["aaaa"], 2));
    store.keep(&Kept { id: "aaaa00000000", day: 7, ..Kept::default() });
    assert_printed!(store.compare(&["aaaa", "bbbb"], 4));
    assert_printed!(Store::new().compare(&["latest", "latest~1"], 4));
}
