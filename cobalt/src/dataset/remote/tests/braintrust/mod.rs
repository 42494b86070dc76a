//! Datasets in Braintrust, fetched over HTTP.

mod refusals;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::server::{FetchEnvironment, ReceivedRequest, ScriptedResponse, TestServer, parameter, path};
use crate::dataset::remote::fetch_options::FetchedData;
use crate::dataset::remote::{Braintrust, RemoteDataset};
use crate::{Dataset, item};

fn with_key() -> FetchEnvironment {
    FetchEnvironment::with(&[("BRAINTRUST_API_KEY", KEY)])
}

fn refunds(server: &TestServer) -> RemoteDataset<Braintrust> {
    Dataset::from_braintrust("Support", "refunds").base_url(server.url("")).retries(1)
}

fn fetched(remote: &RemoteDataset<Braintrust>) -> FetchedData {
    with_key().fetch(remote).unwrap()
}

fn error(remote: &RemoteDataset<Braintrust>) -> String {
    with_key().fetch(remote).unwrap_err().to_string()
}

fn ids(fetched: &FetchedData) -> Vec<&str> {
    fetched.items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// The request bodies for pages.
fn pages(server: &TestServer) -> Vec<serde_json::Value> {
    let asked = server.requests();
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
    assert_eq!(fetched.version, None, "row-1 still existed at the latest transaction of these rows");
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
    assert!(server.requests().iter().all(|asked| path(asked) != "/btql"), "no query is needed");
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
        use crate::dataset::remote::load::Source;
        FetchEnvironment::with(variables).session(remote, async |session| remote.source.identity(session))
    };
    let identities: std::collections::BTreeSet<_> = remotes.iter().map(|remote| of(&[], remote)).collect();
    assert_eq!(identities.len(), remotes.len());
    let in_eu = of(&[("BRAINTRUST_API_URL", "https://api-eu.braintrust.dev")], &remotes[0]);
    assert_eq!(in_eu, of(&[], &remotes[6]), "the same for both settings");
    let keyed = of(&[("BRAINTRUST_API_KEY", KEY)], &remotes[0].clone().api_key("another"));
    assert_eq!(keyed, of(&[], &remotes[0]), "keys are not part of the identity");
}

pub const KEY: &str = "sk-of-the-test";
pub const ID: &str = "b9356d7d-1a96-4f96-9d41-276e9ebd6afe";

/// A write to the dataset: a row as of a transaction, or its deletion.
#[derive(Clone, Debug)]
pub struct Write {
    transaction: u64,
    id: String,
    row: Option<Value>,
}

type Given = Option<((usize, u64), Arc<Vec<Value>>)>;

/// A service with the dataset `refunds` in the project `Support`.
#[derive(Clone, Debug, Default)]
pub struct Service {
    pub(super) writes: Arc<Mutex<Vec<Write>>>,
    /// The last history, by number of writes and version, because pages are requested one after another.
    pub(super) given: Arc<Mutex<Given>>,
    /// Whether it is too old to support the query language.
    pub(super) is_old: bool,
    /// Whether pages lack a cursor although there are more rows.
    pub(super) forgets_cursors: bool,
}

impl Service {
    /// A service with this number of rows, each written in its own transaction.
    pub fn of_many(rows: usize) -> Self {
        let service = Self::default();
        (1..=rows)
            .for_each(|n| service.write(&format!("row-{n}"), json!({"input": {"n": n}, "expected": n})));
        service
    }

    pub fn of(rows: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let service = Self::default();
        rows.into_iter().for_each(|(id, row)| service.write(id, row));
        service
    }

    /// Inserts or replaces a row.
    pub fn write(&self, id: &str, row: Value) {
        self.push(id, Some(row));
    }

    pub fn delete(&self, id: &str) {
        self.push(id, None);
    }

    fn push(&self, id: &str, row: Option<Value>) {
        let mut writes = self.writes.lock().unwrap();
        let transaction = 1_000 + writes.len() as u64 + 1;
        writes.push(Write { transaction, id: id.to_owned(), row });
    }

    pub fn serve(&self) -> TestServer {
        let service = self.clone();
        TestServer::start(move |asked| service.answer(asked))
    }

    pub fn answer(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        if asked.headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
            return ScriptedResponse::text(401, "Invalid API key");
        }
        let of_org = |org: &str| parameter(asked, "org_name").is_none_or(|name| name == org);
        match path(asked) {
            "/v1/dataset" => {
                let sets =
                    [("refunds", "Support", ID), ("invoices", "Support", "i"), ("old", "Support", "o")]
                        .into_iter()
                        .filter(|_| of_org("Acme"))
                        .filter(|(_, project, _)| {
                            parameter(asked, "project_name").is_some_and(|name| name == *project)
                        })
                        .filter(|(name, ..)| {
                            parameter(asked, "dataset_name").is_none_or(|wanted| wanted == *name)
                        })
                        .map(|(name, _, id)| {
                            let deleted =
                                if name == "old" { json!("2026-01-01T00:00:00Z") } else { Value::Null };
                            json!({"id": id, "project_id": "p", "name": name, "deleted_at": deleted})
                        });
                objects(sets)
            }
            "/v1/project" => {
                objects(["Support", "Empty"].map(|name| json!({"id": name, "org_id": "o", "name": name})))
            }
            "/v1/dataset_snapshot" => objects([
                json!({"id": "t", "dataset_id": "i", "name": "before the move", "xact_id": "1001", "created": null}),
                json!({"id": "s", "dataset_id": ID, "name": "before the move", "xact_id": "1002", "created": null}),
            ]),
            "/btql" if self.is_old => ScriptedResponse::text(400, "parse error at SELECT"),
            "/btql" => self.head(asked),
            text => match text.strip_prefix(&format!("/environment-object/dataset/{ID}/")) {
                Some("prod%2Fstable") => ScriptedResponse::json(200, &json!({"object_version": "1001"})),
                Some(_) => ScriptedResponse::json(404, &json!({"error": "not found"})),
                None if text == format!("/v1/dataset/{ID}/fetch") => self.page(asked),
                None => ScriptedResponse::text(404, "no such path"),
            },
        }
    }

    fn history(&self, version: u64) -> Arc<Vec<Value>> {
        let writes = self.writes.lock().unwrap();
        let (mut given, wanted) = (self.given.lock().unwrap(), (writes.len(), version));
        if given.as_ref().is_none_or(|(last, _)| *last != wanted) {
            *given = Some((wanted, Arc::new(history(&writes, version))));
        }
        Arc::clone(&given.as_ref().unwrap().1)
    }

    fn head(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        let query = format!("SELECT max(_xact_id) AS version, count(*) AS count FROM dataset('{ID}')");
        assert_eq!(asked.body["query"], query);
        let rows = self.history(u64::MAX);
        let ids: BTreeSet<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        let version = rows.first().map(|row| row["_xact_id"].clone());
        ScriptedResponse::json(
            200,
            &json!({"data": [{"version": version, "count": ids.len()}], "schema": {}}),
        )
    }

    fn page(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        let number = |name: &str| asked.body[name].as_str().map(|text| text.parse::<usize>().unwrap());
        let rows = self.history(number("version").map_or(u64::MAX, |version| version as u64));
        let limit = asked.body["limit"].as_u64().unwrap() as usize;
        assert!(limit <= 1000, "{limit}");
        let from = number("cursor").unwrap_or(0);
        let page: Vec<_> = rows.iter().skip(from).take(limit).collect();
        let cursor = (!page.is_empty() && !self.forgets_cursors).then(|| (from + page.len()).to_string());
        ScriptedResponse::json(200, &json!({"events": page, "cursor": cursor}))
    }
}

fn objects(objects: impl IntoIterator<Item = Value>) -> ScriptedResponse {
    ScriptedResponse::json(200, &json!({"objects": objects.into_iter().collect::<Vec<_>>()}))
}

/// The rows as of a transaction and their earlier versions, latest first.
fn history(writes: &[Write], version: u64) -> Vec<Value> {
    let (mut seen, mut gone) = (BTreeSet::new(), BTreeSet::new());
    let mut rows = Vec::new();
    for Write { transaction, id, row } in writes.iter().rev().filter(|write| write.transaction <= version) {
        if seen.insert(id.clone()) && row.is_none() {
            gone.insert(id.clone());
        }
        if let Some(row) = row.as_ref().filter(|_| !gone.contains(id)) {
            let mut row = row.clone();
            row["id"] = json!(id);
            row["_xact_id"] = json!(transaction.to_string());
            row["created"] = json!("2026-01-01T00:00:00Z");
            row["dataset_id"] = json!(ID);
            row["span_id"] = json!(id);
            row["root_span_id"] = json!(id);
            rows.push(row);
        }
    }
    rows
}
