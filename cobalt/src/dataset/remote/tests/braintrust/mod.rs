//! A data set of Braintrust, asked for over HTTP.

mod refusals;
mod service;

use serde_json::json;

use self::service::{KEY, Service};
use super::server::{Surroundings, TestServer, path};
use crate::dataset::remote::source::Fetched;
use crate::dataset::remote::{Braintrust, RemoteDataset};
use crate::{Dataset, item};

fn with_key() -> Surroundings {
    Surroundings::with(&[("BRAINTRUST_API_KEY", KEY)])
}

fn refunds(server: &TestServer) -> RemoteDataset<Braintrust> {
    Dataset::from_braintrust("Support", "refunds").base_url(server.url("")).retries(1)
}

fn fetched(remote: &RemoteDataset<Braintrust>) -> Fetched {
    with_key().fetch(remote).unwrap()
}

fn error(remote: &RemoteDataset<Braintrust>) -> String {
    with_key().fetch(remote).unwrap_err().to_string()
}

fn ids(fetched: &Fetched) -> Vec<&str> {
    fetched.items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// The bodies of the requests for pages.
fn pages(server: &TestServer) -> Vec<serde_json::Value> {
    let asked = server.asked();
    asked.iter().filter(|asked| path(asked).ends_with("/fetch")).map(|asked| asked.body.clone()).collect()
}

#[test]
fn rows_become_items() {
    let row = json!({
        "input": {"question": "May I send it back?", "history": ["Hello!"]},
        "expected": {"answer": "Yes", "within": 30},
        "metadata": {"source": "chat", "model": null},
        "tags": ["easy", "eu"],
        "origin": {"object_type": "project_logs", "object_id": "p", "id": "l"},
        "comments": [{"text": "a comment"}],
        "audit_data": [],
    });
    let server = Service::of([("r1", row)]).serve();
    let expected = item! {
        "id": "r1",
        "input": {"question": "May I send it back?", "history": ["Hello!"]},
        "expectedOutput": {"answer": "Yes", "within": 30},
        "metadata": {"source": "chat", "model": null},
        "tags": ["easy", "eu"],
    };
    assert_eq!(fetched(&refunds(&server)).items, [expected]);
}

#[test]
fn a_row_without_the_usual_fields_is_an_item_too() {
    let bare = json!({"input": null, "expected": null, "metadata": null, "tags": []});
    let old = json!({"input": "2 + 2", "output": "4"});
    let server = Service::of([("bare", bare), ("old", old)]).serve();
    let items = fetched(&refunds(&server)).items;
    let old = item! { "id": "old", "input": "2 + 2", "expectedOutput": "4" };
    assert_eq!(items, [old, item! { "id": "bare", "input": null }]);
}

#[test]
fn all_pages_are_read_as_of_one_transaction() {
    let service = Service::of_many(1_200);
    let server = service.serve();
    let fetched = fetched(&refunds(&server));
    assert_eq!((fetched.items.len(), fetched.version.as_deref()), (1_200, Some("2200")));
    assert_eq!((ids(&fetched)[0], ids(&fetched)[1_199]), ("row-1200", "row-1"));
    let pages = pages(&server);
    assert!(pages.len() > 2 && pages.iter().all(|page| page["version"] == "2200"), "{pages:?}");
    assert!(pages[0].get("cursor").is_none());
}

#[test]
fn fifty_thousand_rows_are_fetched() {
    let server = Service::of_many(50_000).serve();
    let fetched = fetched(&refunds(&server));
    assert_eq!(fetched.items.len(), 50_000);
    assert_eq!(fetched.items[49_999]["input"]["n"], 1);
}

#[test]
fn of_a_row_that_was_changed_the_latest_state_counts() {
    let service = Service::of([("a", json!({"input": "first"})), ("b", json!({"input": "other"}))]);
    service.write("a", json!({"input": "second"}));
    let server = service.serve();
    let items = fetched(&refunds(&server)).items;
    assert_eq!(items, [item! { "id": "a", "input": "second" }, item! { "id": "b", "input": "other" }]);
}

#[test]
fn rows_that_were_deleted_last_do_not_come_back() {
    let service = Service::of_many(3);
    service.delete("row-1");
    let server = service.serve();
    let fetched = fetched(&refunds(&server));
    assert_eq!(ids(&fetched), ["row-3", "row-2"]);
    assert_eq!(fetched.version, None, "as of the latest transaction of these, row-1 was there");
}

#[test]
fn rows_that_were_deleted_before_others_were_written_leave_the_version_as_it_is() {
    let service = Service::of_many(3);
    service.delete("row-1");
    service.write("row-4", json!({"input": "new"}));
    let server = service.serve();
    let fetched = fetched(&refunds(&server));
    assert_eq!((ids(&fetched), fetched.version.as_deref()), (vec!["row-4", "row-3", "row-2"], Some("1005")));
}

#[test]
fn a_version_a_snapshot_or_an_environment_can_be_pinned() {
    let server = Service::of_many(3).serve();
    let version = fetched(&refunds(&server).version("1001"));
    assert_eq!((ids(&version), version.version.as_deref()), (vec!["row-1"], Some("1001")));
    let snapshot = fetched(&refunds(&server).snapshot("before the move"));
    assert_eq!((ids(&snapshot), snapshot.version.as_deref()), (vec!["row-2", "row-1"], Some("1002")));
    let environment = fetched(&refunds(&server).environment("prod/stable"));
    assert_eq!(environment.version.as_deref(), Some("1001"));
    assert!(server.asked().iter().all(|asked| path(asked) != "/btql"), "nothing is to be found out");
}

#[test]
fn a_data_plane_that_knows_no_queries_gives_the_rows_of_this_moment() {
    let server = Service { is_old: true, ..Service::of_many(700) }.serve();
    let fetched = fetched(&refunds(&server));
    assert_eq!((fetched.items.len(), fetched.version), (700, None));
    assert!(pages(&server).iter().all(|page| page.get("version").is_none()));
}

#[test]
fn another_state_host_or_organisation_is_another_copy() {
    let remotes = [
        Dataset::from_braintrust("Support", "refunds"),
        Dataset::from_braintrust("Support/refunds", ""),
        Dataset::from_braintrust("Support", "refunds").version("1"),
        Dataset::from_braintrust("Support", "refunds").snapshot("1"),
        Dataset::from_braintrust("Support", "refunds").environment("1"),
        Dataset::from_braintrust("Support", "refunds").organization("1"),
        Dataset::from_braintrust("Support", "refunds").base_url("https://api-eu.braintrust.dev/"),
    ];
    let of = |variables: &[(&str, &str)], remote: &RemoteDataset<Braintrust>| {
        use crate::dataset::remote::source::Source;
        Surroundings::with(variables).session(remote, async |session| remote.source.identity(session))
    };
    let identities: std::collections::BTreeSet<_> = remotes.iter().map(|remote| of(&[], remote)).collect();
    assert_eq!(identities.len(), remotes.len());
    let in_eu = of(&[("BRAINTRUST_API_URL", "https://api-eu.braintrust.dev")], &remotes[0]);
    assert_eq!(in_eu, of(&[], &remotes[6]), "whoever says so");
    let keyed = of(&[("BRAINTRUST_API_KEY", KEY)], &remotes[0].clone().api_key("another"));
    assert_eq!(keyed, of(&[], &remotes[0]), "keys are no part of it");
}
