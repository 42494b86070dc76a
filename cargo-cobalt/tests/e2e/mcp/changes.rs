//! Notifications about changed resources.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::assistant::{Assistant, with_metadata};
use super::stored::{assistant_of, silent_assistant_of};
use crate::project::Project;
use crate::store::{Kept, Store};

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";
/// Timeout for the notification about a change.
const SOON: Duration = Duration::from_secs(60);
/// How long to check that no notification arrives: longer than changes are batched.
const SILENCE: Duration = Duration::from_millis(1500);

fn subscribe(assistant: &mut Assistant, uri: &str) {
    assistant.ask("resources/subscribe", json!({ "uri": uri }));
}

/// The notifications up to and including this one: methods and URIs, empty if there is none.
#[track_caller]
fn heard_until(assistant: &mut Assistant, last: (&str, &str)) -> Vec<(String, String)> {
    let until = Instant::now() + SOON;
    let mut heard: Vec<_> = assistant.notifications.drain(..).map(|message| told(&message)).collect();
    while !heard.iter().any(|(method, uri)| (&**method, &**uri) == last) {
        let left = until.saturating_duration_since(Instant::now());
        let message = assistant.hear_within(left);
        heard.push(told(&message.unwrap_or_else(|| panic!("no {last:?} notification, only {heard:?}"))));
    }
    heard
}

fn told(message: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&message["method"]), text(&message["params"]["uri"]))
}

#[track_caller]
fn hears_nothing(assistant: &mut Assistant) {
    let heard = assistant.notifications.pop().or_else(|| assistant.hear_within(SILENCE));
    assert_eq!(heard, None);
}

fn new_run(store: &Store, id: &str, day: u32) {
    store.keep(&Kept { id, day, ..Kept::default() });
}

#[test]
fn a_new_run_is_heard_of_by_those_who_wait_for_results_and_by_the_list() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    for uri in
        ["cobalt://latest-results", "cobalt://runs/latest", "cobalt://runs/aaaaaaaaaaaa", "cobalt://config"]
    {
        subscribe(&mut assistant, uri);
    }
    new_run(&store, "dddddddddddd", 4);
    let heard = heard_until(&mut assistant, (LIST_CHANGED, ""));
    let updated: Vec<_> =
        heard.iter().filter(|(method, _)| method == UPDATED).map(|(_, uri)| &**uri).collect();
    assert_eq!(updated, ["cobalt://latest-results", "cobalt://runs/latest"]);
    // The run existed before; its content has changed.
    new_run(&store, "aaaaaaaaaaaa", 1);
    let heard = heard_until(&mut assistant, (UPDATED, "cobalt://runs/latest"));
    assert!(heard.contains(&(UPDATED.to_owned(), "cobalt://runs/aaaaaaaaaaaa".to_owned())), "{heard:?}");
    hears_nothing(&mut assistant);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn who_has_left_hears_nothing_more() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    subscribe(&mut assistant, "cobalt://latest-results");
    subscribe(&mut assistant, "cobalt://config");
    fs::write(store.folder().join("cobalt.toml"), "concurrency = 3\n").unwrap();
    heard_until(&mut assistant, (UPDATED, "cobalt://config"));
    for uri in ["cobalt://latest-results", "cobalt://config"] {
        assistant.ask("resources/unsubscribe", json!({ "uri": uri }));
    }
    fs::write(store.folder().join("cobalt.toml"), "concurrency = 4\n").unwrap();
    hears_nothing(&mut assistant);
}

#[test]
fn settings_are_heard_of_when_they_are_others_and_not_when_a_file_is_written_again() {
    let store = Store::new();
    let mut assistant = assistant_of(&store, &[]);
    subscribe(&mut assistant, "cobalt://config");
    fs::write(store.folder().join(".env"), "COBALT_CONCURRENCY=7\n").unwrap();
    heard_until(&mut assistant, (UPDATED, "cobalt://config"));
    fs::write(store.folder().join(".env"), "COBALT_CONCURRENCY=7\n").unwrap();
    hears_nothing(&mut assistant);
}

#[test]
fn a_store_that_is_made_later_is_heard_of() {
    let store = Store::new();
    fs::remove_dir_all(store.folder().join(".cobalt")).unwrap();
    let mut assistant = assistant_of(&store, &[]);
    subscribe(&mut assistant, "cobalt://latest-results");
    fs::create_dir_all(store.folder().join(".cobalt/results")).unwrap();
    new_run(&store, "dddddddddddd", 4);
    heard_until(&mut assistant, (UPDATED, "cobalt://latest-results"));
}

#[test]
fn runs_of_a_project_whose_folder_goes_and_comes_again_are_heard_of() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    let uri = "cobalt://latest-results";
    subscribe(&mut assistant, uri);
    fs::remove_dir_all(store.folder()).unwrap();
    heard_until(&mut assistant, (UPDATED, uri));
    fs::create_dir_all(store.folder().join(".cobalt/results")).unwrap();
    new_run(&store, "dddddddddddd", 4);
    heard_until(&mut assistant, (UPDATED, uri));
}

#[test]
fn experiments_are_heard_of_when_sources_change_and_not_when_others_build() {
    let project = Project::steered();
    project.rename("mcp_changes");
    let mut assistant = Assistant::of(&project);
    subscribe(&mut assistant, "cobalt://experiments");
    for built in ["target/CACHEDIR.TAG", "target/debug/x.rs", ".cobalt/x.rs", "Cargo.lock", "src/lib.rs~"] {
        project.write(built, "");
    }
    hears_nothing(&mut assistant);
    project.write("src/new/mod.rs", "");
    heard_until(&mut assistant, (UPDATED, "cobalt://experiments"));
    project.write("src/new/mod.rs", "//! Changed.");
    heard_until(&mut assistant, (UPDATED, "cobalt://experiments"));
}

#[test]
fn a_run_of_another_process_is_heard_of_as_it_goes_on_and_as_it_ends() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "wait")]);
    let mut assistant = Assistant::of(&project);
    subscribe(&mut assistant, "cobalt://latest-results");
    // Build first, as the timeout does not allow for it.
    project.cobalt(&["list"], 0);
    let mut running = project.command(&["run", "--filter", "strict", "-q"]).spawn().unwrap();
    heard_until(&mut assistant, (LIST_CHANGED, ""));
    let run = std::fs::read_dir(project.path(".cobalt/runs")).unwrap().next().unwrap().unwrap().path();
    let uri = format!("cobalt://runs/{}", run.file_stem().unwrap().to_str().unwrap());
    subscribe(&mut assistant, &uri);
    project.write("go-on", "");
    let heard = heard_until(&mut assistant, (UPDATED, &uri));
    let results = (UPDATED, "cobalt://latest-results");
    // Both notifications can arrive together.
    if !heard.iter().any(|(method, uri)| (&**method, &**uri) == results) {
        heard_until(&mut assistant, results);
    }
    running.wait().unwrap();
}

#[test]
fn what_is_no_resource_cannot_be_subscribed_to() {
    let (store, other) = (Store::new(), Store::new());
    let mut assistant = assistant_of(&store, &[&other]);
    for (uri, code) in
        [("cobalt://nothing", -32002), ("cobalt://config?project=x", -32602), ("cobalt://config", -32602)]
    {
        assert_eq!(assistant.refused("resources/subscribe", json!({ "uri": uri }))["code"], code, "{uri}");
    }
    assistant.ask("resources/unsubscribe", json!({ "uri": "cobalt://nothing" }));
}

#[test]
fn from_the_newest_version_on_changes_are_told_to_who_listens_until_that_is_cancelled() {
    let store = Store::with_a_drop();
    let mut assistant = silent_assistant_of(&store, &[]);
    let asked = json!({ "notifications": {
        "resourcesListChanged": true, "promptsListChanged": true,
        "resourceSubscriptions": ["cobalt://latest-results", "cobalt://nothing"],
    } });
    let id = assistant.begin("subscriptions/listen", with_metadata(asked, "2026-07-28", json!({})));
    let acknowledged = assistant.hear();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let accepted =
        json!({ "resourcesListChanged": true, "resourceSubscriptions": ["cobalt://latest-results"] });
    assert_eq!(acknowledged["params"]["notifications"], accepted);
    // The subscription is acknowledged before the folders are watched; once they are, everything is reported as changed.
    let heard = heard_until(&mut assistant, (LIST_CHANGED, ""));
    assert_eq!(heard.len(), 2, "{heard:?}");
    new_run(&store, "dddddddddddd", 4);
    let heard = heard_until(&mut assistant, (LIST_CHANGED, ""));
    assert!(heard.contains(&(UPDATED.to_owned(), "cobalt://latest-results".to_owned())), "{heard:?}");
    assistant.notify("notifications/cancelled", json!({ "requestId": id }));
    new_run(&store, "eeeeeeeeeeee", 5);
    new_run(&store, "ffffffffffff", 6);
    hears_nothing(&mut assistant);
}
