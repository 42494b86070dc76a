//! Error responses of Braintrust.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::{ID, KEY, Service, error, fetched, ids, pages, refunds, with_key};
use crate::Dataset;
use crate::dataset::remote::tests::server::{
    FetchEnvironment, ReceivedRequest, ScriptedResponse, TestServer, parameter, path,
};
use crate::dataset::settings::{Account, Key, Platform};

/// A service with ten rows that returns these responses for the first pages.
fn after(answers: Vec<ScriptedResponse>) -> TestServer {
    let (service, next) = (Service::of_many(10), AtomicUsize::new(0));
    TestServer::start(move |asked: &ReceivedRequest| {
        let is_page = path(asked).ends_with("/fetch");
        let answer = || answers.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
        is_page.then(answer).flatten().unwrap_or_else(|| service.answer(asked))
    })
}

#[test]
fn a_missing_key_names_its_variable_and_asks_for_nothing() {
    let server = Service::of_many(1).serve();
    let error = FetchEnvironment::with(&[]).fetch(&refunds(&server)).unwrap_err().to_string();
    assert!(error.starts_with("no key: set BRAINTRUST_API_KEY"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_key_that_is_refused_is_said_to_be_whose() {
    let server = Service::of_many(1).serve();
    let wrong = FetchEnvironment::with(&[("BRAINTRUST_API_KEY", "sk-wrong")]);
    let error = wrong.fetch(&refunds(&server)).unwrap_err().to_string();
    assert!(error.starts_with("status 401: Invalid API key; Braintrust at http://127.0.0.1:"), "{error}");
    assert!(
        error.contains("BRAINTRUST_API_KEY")
            && error.contains("set `.base_url(…)` to the URL of the key's region or server"),
        "{error}"
    );
    assert!(!error.contains("sk-wrong"), "{error}");
    assert_eq!(server.requests().len(), 1, "the request is not retried");

    let key = Some(Key::Variable("TEAM_KEY".to_owned()));
    let configured = FetchEnvironment::with(&[("TEAM_KEY", "sk-wrong"), ("BRAINTRUST_API_KEY", KEY)])
        .account(Platform::Braintrust, Account { key, ..Account::default() });
    let error = configured.fetch(&refunds(&server)).unwrap_err().to_string();
    assert!(error.contains("TEAM_KEY"), "{error}");
    assert!(configured.fetch(&refunds(&server).api_key(KEY)).is_ok(), "code takes precedence");
}

#[test]
fn names_that_are_not_there_are_answered_by_those_that_are() {
    let server = Service::of_many(1).serve();
    let named =
        |project: &str, name: &str| error(&Dataset::from_braintrust(project, name).base_url(server.url("")));
    assert_eq!(
        named("Support", "refund"),
        "no such dataset in the project; did you mean `refunds`? available: `refunds`, `invoices`"
    );
    assert_eq!(
        named("Suport", "refunds"),
        "no such project; did you mean `Support`? available: `Support`, `Empty`"
    );
    assert!(named("Empty", "refunds").starts_with("the project has no datasets"));
    assert_eq!(
        error(&refunds(&server).snapshot("before")),
        "the dataset has no snapshot `before`; did you mean `before the move`? available: `before the move`"
    );
    assert!(
        error(&refunds(&server).environment("test")).starts_with("the environment `test` has no snapshot")
    );
}

#[test]
fn two_data_sets_of_one_name_are_told_apart_by_their_organisation() {
    let service = Service::of_many(1);
    let server = TestServer::start(move |asked| {
        let both = path(asked) == "/v1/dataset" && parameter(asked, "org_name").is_none();
        let set = |id: &str| json!({"id": id, "project_id": id, "name": "refunds"});
        match both {
            true => ScriptedResponse::json(200, &json!({"objects": [set(ID), set("another")]})),
            false => service.answer(asked),
        }
    });
    let both = error(&refunds(&server));
    assert!(both.contains("2 datasets with this name") && both.contains("BRAINTRUST_ORG_NAME"), "{both}");
    assert_eq!(fetched(&refunds(&server).organization("Acme")).items.len(), 1);
    let variables = FetchEnvironment::with(&[("BRAINTRUST_API_KEY", KEY), ("BRAINTRUST_ORG_NAME", "Acme")]);
    assert_eq!(variables.fetch(&refunds(&server)).unwrap().items.len(), 1);
}

#[test]
fn a_data_set_without_rows_is_read_as_such() {
    let server = Service::default().serve();
    assert!(fetched(&refunds(&server)).items.is_empty());
    assert!(fetched(&refunds(&server).version("7")).items.is_empty());
    let service = Service::default();
    let uncounted = TestServer::start(move |asked| match path(asked) {
        "/btql" => ScriptedResponse::json(200, &json!({"data": []})),
        _ => service.answer(asked),
    });
    assert!(fetched(&refunds(&uncounted)).items.is_empty());
}

#[test]
fn a_snapshot_that_the_list_does_not_hold_is_found_by_its_name() {
    let service = Service::of_many(3);
    let server = TestServer::start(move |asked| {
        let is_named = parameter(asked, "dataset_snapshot_name").is_some();
        match path(asked) == "/v1/dataset_snapshot" && !is_named {
            true => ScriptedResponse::json(200, &json!({"objects": [{"name": "another", "xact_id": "1"}]})),
            false => service.answer(asked),
        }
    });
    assert_eq!(fetched(&refunds(&server).snapshot("before the move")).version.as_deref(), Some("1002"));
}

#[test]
fn a_limit_of_requests_is_waited_for() {
    let busy = ScriptedResponse::text(429, "Too many requests").header("retry-after", "0");
    let server = after(vec![busy]);
    assert_eq!(fetched(&refunds(&server)).items.len(), 10);

    let server = after(vec![ScriptedResponse::text(429, "Too many requests"); 9]);
    let error = error(&refunds(&server));
    assert!(error.contains("429") && error.contains("try again later"), "{error}");
    assert_eq!(pages(&server).len(), 2, "one retry, as set by `retries`");
}

#[test]
fn a_cut_connection_and_trouble_of_the_server_may_pass() {
    let page = json!({"events": [{"id": "row-1", "input": "x"}], "cursor": "1"});
    let server = after(vec![ScriptedResponse::json(200, &page).cut_after(9)]);
    assert_eq!(fetched(&refunds(&server)).items.len(), 10);

    let server = after(vec![ScriptedResponse::text(503, "restarting"); 9]);
    let error = error(&refunds(&server));
    assert!(error.contains("503") && error.contains("restarting"), "{error}");
}

#[test]
fn an_answer_of_another_form_says_what_was_expected() {
    let server = after(vec![ScriptedResponse::json(200, &json!({"events": [{"id": "a"}, {"id": 7}]}))]);
    let error = error(&refunds(&server));
    assert!(error.contains("events[1].id") && error.contains("expected a string"), "{error}");
}

#[test]
fn a_page_that_comes_again_and_again_is_an_error() {
    let page = json!({"events": [{"id": "row-1", "input": "x"}], "cursor": "same"});
    let server = after(vec![ScriptedResponse::json(200, &page); 9]);
    assert!(error(&refunds(&server)).contains("keeps returning the same pages"));

    let page =
        |cursor: &str| ScriptedResponse::json(200, &json!({"events": [{"id": "row-1"}], "cursor": cursor}));
    let server = after(["one", "two"].iter().cycle().take(20).map(|cursor| page(cursor)).collect());
    assert!(error(&refunds(&server)).contains("keeps returning the same pages"));
    assert_eq!(pages(&server).len(), 3);
}

#[test]
fn a_page_without_rows_is_the_last_only_where_no_other_follows() {
    let page = |events: serde_json::Value, cursor| {
        ScriptedResponse::json(200, &json!({"events": events, "cursor": cursor}))
    };
    let server = after(vec![
        page(json!([{"id": "row-2"}]), Some("one")),
        page(json!([]), Some("two")),
        page(json!([{"id": "row-1"}]), Some("three")),
        page(json!([]), Some("three")),
    ]);
    assert_eq!(ids(&fetched(&refunds(&server).version("1010"))), ["row-2", "row-1"]);
}

#[test]
fn a_question_for_the_latest_state_may_be_refused_and_the_rows_come() {
    for status in [400, 429, 500] {
        let service = Service::of_many(3);
        let server = TestServer::start(move |asked| match path(asked) {
            "/btql" => ScriptedResponse::text(status, "not now"),
            _ => service.answer(asked),
        });
        let fetched = fetched(&refunds(&server));
        assert_eq!((fetched.items.len(), fetched.version), (3, None), "{status}");
    }
}

#[test]
fn rows_that_are_kept_back_are_missed() {
    let server = Service { forgets_cursors: true, ..Service::of_many(700) }.serve();
    let error = error(&refunds(&server));
    assert!(error.starts_with("Braintrust reports 700 rows but returned 500"), "{error}");
}

#[test]
fn the_key_goes_to_no_other_host() {
    let other = Service::of_many(1).serve();
    for status in [302, 307, 308] {
        let server = TestServer::script([
            ScriptedResponse::text(status, "").header("location", &other.url("/v1/dataset"))
        ]);
        let error = error(&refunds(&server));
        assert!(error.contains(&status.to_string()) && error.contains("`.base_url(…)`"), "{error}");
    }
    assert!(other.requests().is_empty());
    assert!(with_key().fetch(&refunds(&other)).is_ok());
}
