//! When a cached copy is used, when it is fetched again, and how damaged copies are handled.

use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use super::server::FakeSource;
use crate::dataset::CachedDataset;
use crate::item;

#[test]
fn a_copy_is_used_however_the_source_has_changed_since() {
    let mut source = FakeSource::with(&["a", "b"]);
    let fetched = source.load().unwrap();
    source.items.push(item! { "id": "c" });
    let copy = source.load().unwrap();
    assert_eq!((copy.keys(), copy.hash()), (fetched.keys(), fetched.hash()));
    assert_eq!(copy.fetch(), fetched.fetch(), "rounded to the millisecond in memory, as in the file");
    assert_eq!(copy.fetch().unwrap().version.as_deref(), Some("v7"));
    assert_eq!(copy.source(), "fake:support desk");
    assert_eq!(source.asked(), 1);
}

#[test]
fn a_refresh_fetches_once_for_all_that_are_of_one_command() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    source.items.push(item! { "id": "b" });
    source.refresh();
    assert_eq!([source.loaded(), source.loaded()], [["a", "b"], ["a", "b"]]);
    assert_eq!(source.asked(), 2);
}

#[test]
fn a_refresh_that_finds_nothing_new_renews_the_date() {
    let mut source = FakeSource::with(&["a"]);
    let before = source.load().unwrap();
    source.refresh();
    let after = source.load().unwrap();
    assert_eq!(before.hash(), after.hash());
    assert!(after.fetch().unwrap().at > before.fetch().unwrap().at);
    source.settings.offline = true;
    assert_eq!(source.load().unwrap().fetch(), after.fetch());
}

#[test]
fn a_copy_that_is_too_old_is_fetched_again() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    source.terms.max_age = Some(Duration::from_secs(60));
    source.load().unwrap();
    assert_eq!(source.asked(), 1);
    thread::sleep(Duration::from_millis(5));
    source.terms.max_age = Some(Duration::from_millis(1));
    source.load().unwrap();
    assert_eq!(source.asked(), 2);
}

#[test]
fn a_run_that_is_gone_on_with_uses_the_copy_that_it_began_with() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    source.terms.max_age = Some(Duration::ZERO);
    source.settings.is_resumed = true;
    thread::sleep(Duration::from_millis(5));
    source.load().unwrap();
    assert_eq!(source.asked(), 1);
}

#[test]
fn a_copy_from_the_future_is_not_taken_for_a_new_one() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    source.edit(|text| text.replacen("\"fetchedAt\":\"2", "\"fetchedAt\":\"3", 1));
    source.load().unwrap();
    assert_eq!(source.asked(), 1, "the copy is used if `max_age` is not set");
    source.terms.max_age = Some(Duration::from_secs(60));
    source.load().unwrap();
    assert_eq!(source.asked(), 2);
}

#[test]
fn a_source_that_is_down_leaves_the_copy_and_names_it() {
    let mut source = FakeSource::with(&["a", "b"]);
    let hash = source.load().unwrap().hash();
    source.is_down = true;
    source.refresh();
    let error = source.fails();
    let copy = format!("(2 items, hash {}), pass `--offline` or set COBALT_OFFLINE=1", &hash[..12]);
    assert!(
        error.starts_with("cannot fetch fake:support desk: connection refused; to use the copy of 20"),
        "{error}"
    );
    assert!(error.ends_with(&copy), "{error}");
    source.settings.offline = true;
    assert_eq!(source.loaded(), ["a", "b"]);
}

#[test]
fn a_source_that_is_down_has_nothing_to_be_used_where_there_is_no_copy() {
    let mut source = FakeSource::with(&["a"]);
    source.is_down = true;
    assert_eq!(source.fails(), "cannot fetch fake:support desk: connection refused");
    assert!(source.files().is_empty());
}

#[test]
fn a_source_without_items_leaves_the_copy() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    source.items.clear();
    source.refresh();
    assert!(source.fails().contains("the source has no items"), "{}", source.fails());
    source.settings.offline = true;
    assert_eq!(source.loaded(), ["a"]);
}

#[test]
fn nothing_is_asked_or_written_offline() {
    let mut source = FakeSource::with(&["a"]);
    source.settings.offline = true;
    assert_eq!(
        source.fails(),
        "no cached copy of fake:support desk to use offline; fetch it once without `--offline` and COBALT_OFFLINE"
    );
    assert!(!source.root().exists());
    source.settings.offline = false;
    source.load().unwrap();
    source.refresh();
    source.terms.max_age = Some(Duration::ZERO);
    source.settings.offline = true;
    assert_eq!(source.loaded(), ["a"]);
    assert_eq!(source.asked(), 1);
}

/// A change to a copy's text, and the expected problem.
type Damage = (fn(String) -> String, &'static str);

#[test]
fn a_damaged_copy_is_fetched_again_and_offline_the_error_names_the_file() {
    let damages: [Damage; 8] = [
        (
            |text| text.lines().take(2).map(|line| format!("{line}\n")).collect(),
            "its item count is 1, expected 2",
        ),
        (|text| text[..text.len() - 4].to_owned(), "line 3: expected one complete JSON object"),
        (|text| text.replace("\"b\"", "\"c\""), "its items do not match its hash"),
        (|text| format!("{text}{{\"id\":\"c\"}}\n"), "its item count is 3, expected 2"),
        (
            |text| text.replace("\"cobaltDataset\":1", "\"cobaltDataset\":2"),
            "it has format version 2, but this version",
        ),
        (
            |text| text.replace("\"request\":\"", "\"request\":\"0"),
            "it holds another version or part of fake:support desk",
        ),
        (|_| String::new(), "its first line is not a valid header"),
        (|text| text.lines().take(1).map(|line| format!("{line}\n")).collect(), "it has no items"),
    ];
    for (damage, problem) in damages {
        let mut source = FakeSource::with(&["a", "b"]);
        source.load().unwrap();
        source.edit(damage);
        source.settings.offline = true;
        let (error, file) = (source.fails(), source.file());
        assert!(
            error.starts_with(&format!("the cached copy of fake:support desk is unusable: {problem}")),
            "{error}"
        );
        assert!(error.contains(&format!("; delete `{}` and fetch", file.display())), "{error}");
        source.settings.offline = false;
        assert_eq!(source.loaded(), ["a", "b"]);
        assert_eq!((source.loaded(), source.asked()), (vec!["a".to_owned(), "b".to_owned()], 2), "{problem}");
    }
}

#[test]
fn those_that_want_it_at_the_same_time_fetch_once() {
    let mut source = FakeSource::with(&["a"]);
    source.takes = Duration::from_millis(100);
    let source = source;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| source.loaded())).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), ["a"]);
        }
    });
    assert_eq!(source.asked(), 1);
}

#[test]
fn what_killed_processes_were_writing_is_removed_and_nothing_else() {
    let mut source = FakeSource::with(&["a"]);
    source.load().unwrap();
    let copy = source.file();
    let other = copy.with_file_name("other-00000000.0123456789abcdef.draft");
    for draft in [&copy.with_extension("0123456789abcdef.draft"), &other] {
        File::create(draft).unwrap();
    }
    source.refresh();
    source.load().unwrap();
    let names = source.files();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(copy.exists() && other.exists(), "{names:?}");
}

#[test]
fn git_is_told_to_leave_copies_out_where_the_folder_of_everything_is_new() {
    let source = FakeSource::with(&["a"]);
    source.load().unwrap();
    let ignored = fs::read_to_string(source.root().join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "datasets/"), "{ignored}");
}

#[test]
fn a_place_that_cannot_be_written_to_is_named_before_anything_is_fetched() {
    let source = FakeSource::with(&["a"]);
    fs::write(source.root(), "no folder").unwrap();
    let error = source.fails();
    assert!(error.starts_with("failed to ") && error.contains("COBALT_DIR"), "{error}");
    assert_eq!(source.asked(), 0);
}

#[test]
fn copies_are_told_with_what_they_hold_and_opened() {
    let source = FakeSource::with(&["a", "b"]);
    assert_eq!(CachedDataset::all_in(&source.settings.folder).unwrap(), []);
    let fetched = source.load().unwrap();
    fs::write(source.settings.folder.join("notes.jsonl"), "{}\n").unwrap();
    let copies = CachedDataset::all_in(&source.settings.folder).unwrap();
    let [copy] = &*copies else { panic!("{copies:?}") };
    assert_eq!((&*copy.source, copy.items, &copy.hash), ("fake:support desk", 2, &fetched.hash()));
    assert_eq!(copy.version.as_deref(), Some("v7"));
    assert_eq!(copy.fetched_at, fetched.fetch().unwrap().at);
    assert_eq!(copy.load().unwrap().keys(), ["a", "b"]);
    source.edit(|text| text.replace("\"b\"", "\"c\""));
    assert!(copy.load().unwrap_err().to_string().contains("is unusable"));
}

fn expecting(items: Option<usize>, hash: Option<&str>, source: FakeSource) -> FakeSource {
    let mut source = source;
    source.terms.items = items;
    source.terms.hash = hash.map(str::to_owned);
    source
}

#[test]
fn a_data_set_that_is_as_expected_is_given() {
    let hash = FakeSource::with(&["a", "b"]).load().unwrap().hash();
    for hash in [&hash[..8], &hash, &hash.to_uppercase()] {
        let source = expecting(Some(2), Some(hash), FakeSource::with(&["a", "b"]));
        assert_eq!([source.loaded(), source.loaded()], [["a", "b"], ["a", "b"]]);
        assert_eq!(source.asked(), 1);
    }
}

#[test]
fn the_error_for_another_says_what_to_write() {
    let found = FakeSource::with(&["a"]).load().unwrap().hash();
    let source = expecting(Some(2), Some("00000000"), FakeSource::with(&["a"]));
    assert_eq!(
        source.fails(),
        format!(
            "fake:support desk has 1 item with hash {found}, expected 2 items with hash 00000000; \
            if the change is intended, set `.expect_items(1).expect_hash(\"{found}\")`, or `items = 1` and \
             `hash = \"{found}\"` in its table of `cobalt.toml`"
        )
    );
    let source = expecting(Some(2), None, FakeSource::with(&["a"]));
    assert!(source.fails().ends_with(
        "if the change is intended, set `.expect_items(1)`, or `items = 1` in its table of `cobalt.toml`"
    ));
}

#[test]
fn what_is_not_expected_is_not_kept_and_the_error_says_how_it_differs_from_the_copy() {
    let mut source = expecting(Some(2), None, FakeSource::with(&["a", "b"]));
    source.load().unwrap();
    source.items = vec![item! { "id": "b", "n": 1 }, item! { "id": "c" }, item! { "id": "d" }];
    assert_eq!(source.loaded(), ["a", "b"], "the copy matches");
    source.refresh();
    let error = source.fails();
    let difference = "expected 2 items: 2 items added, 1 item removed, 1 item changed since the copy of 20";
    assert!(error.contains(difference), "{error}");
    source.settings.refresh = None;
    assert_eq!(source.loaded(), ["a", "b"], "and it is kept");
}

#[test]
fn a_copy_that_is_not_what_is_expected_by_now_is_fetched_again() {
    let mut source = expecting(Some(1), None, FakeSource::with(&["a"]));
    source.load().unwrap();
    source.items.push(item! { "id": "b" });
    source.terms.items = Some(2);
    assert_eq!(source.loaded(), ["a", "b"]);
    assert_eq!(source.asked(), 2);
}

#[test]
fn a_copy_that_is_not_what_is_expected_is_no_help_offline_or_where_the_source_is_down() {
    let source = FakeSource::with(&["a"]);
    source.load().unwrap();
    let mut source = expecting(Some(2), None, source);
    source.is_down = true;
    assert_eq!(source.fails(), "cannot fetch fake:support desk: connection refused");
    source.settings.offline = true;
    assert!(source.fails().starts_with("fake:support desk has 1 item with hash "), "{}", source.fails());
    assert!(source.fails().contains("without `--offline`"), "{}", source.fails());
}

#[test]
fn a_hash_that_can_be_none_is_an_error_before_anything_is_fetched() {
    for hash in ["1234567", "x2345678", "", &"0".repeat(65), "12345678 "] {
        let source = expecting(None, Some(hash), FakeSource::with(&["a"]));
        assert_eq!(
            source.fails(),
            format!(
                "invalid expected hash `{hash}` for fake:support desk: expected 8 to 64 hexadecimal digits"
            )
        );
        assert_eq!(source.asked(), 0);
    }
}
