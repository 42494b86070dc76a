//! A service that answers as Braintrust's documentation says: lists of objects, the query for the latest transaction, and
//! pages that go back through the history of a data set.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::dataset::remote::tests::server::{Answer, Asked, TestServer, parameter, path};

pub(super) const KEY: &str = "sk-of-the-test";
pub(super) const ID: &str = "b9356d7d-1a96-4f96-9d41-276e9ebd6afe";

/// What was written to the data set: a row as of a transaction, or that it was deleted.
#[derive(Clone, Debug)]
pub(super) struct Write {
    transaction: u64,
    id: String,
    row: Option<Value>,
}

type Given = Option<((usize, u64), Arc<Vec<Value>>)>;

/// A service with the data set `refunds` in the project `Support`.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    pub(super) writes: Arc<Mutex<Vec<Write>>>,
    /// The history that was given last, by the number of writes and the version: pages are asked for one after another.
    pub(super) given: Arc<Mutex<Given>>,
    /// Whether it is too old to know the query language.
    pub(super) is_old: bool,
    /// Whether a page has no cursor although there are more rows.
    pub(super) forgets_cursors: bool,
}

impl Service {
    /// With as many rows as that, each written by a transaction of its own.
    pub(super) fn of_many(rows: usize) -> Self {
        let service = Self::default();
        (1..=rows)
            .for_each(|n| service.write(&format!("row-{n}"), json!({"input": {"n": n}, "expected": n})));
        service
    }

    pub(super) fn of(rows: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let service = Self::default();
        rows.into_iter().for_each(|(id, row)| service.write(id, row));
        service
    }

    /// Writes a row, whether there is one of this id or not.
    pub(super) fn write(&self, id: &str, row: Value) {
        self.push(id, Some(row));
    }

    pub(super) fn delete(&self, id: &str) {
        self.push(id, None);
    }

    fn push(&self, id: &str, row: Option<Value>) {
        let mut writes = self.writes.lock().unwrap();
        let transaction = 1_000 + writes.len() as u64 + 1;
        writes.push(Write { transaction, id: id.to_owned(), row });
    }

    pub(super) fn serve(&self) -> TestServer {
        let service = self.clone();
        TestServer::start(move |asked| service.answer(asked))
    }

    pub(super) fn answer(&self, asked: &Asked) -> Answer {
        if asked.headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
            return Answer::text(401, "Invalid API key");
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
            "/btql" if self.is_old => Answer::text(400, "parse error at SELECT"),
            "/btql" => self.head(asked),
            text => match text.strip_prefix(&format!("/environment-object/dataset/{ID}/")) {
                Some("prod%2Fstable") => Answer::json(200, &json!({"object_version": "1001"})),
                Some(_) => Answer::json(404, &json!({"error": "not found"})),
                None if text == format!("/v1/dataset/{ID}/fetch") => self.page(asked),
                None => Answer::text(404, "no such path"),
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

    fn head(&self, asked: &Asked) -> Answer {
        let query = format!("SELECT max(_xact_id) AS version, count(*) AS count FROM dataset('{ID}')");
        assert_eq!(asked.body["query"], query);
        let rows = self.history(u64::MAX);
        let ids: BTreeSet<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        let version = rows.first().map(|row| row["_xact_id"].clone());
        Answer::json(200, &json!({"data": [{"version": version, "count": ids.len()}], "schema": {}}))
    }

    fn page(&self, asked: &Asked) -> Answer {
        let number = |name: &str| asked.body[name].as_str().map(|text| text.parse::<usize>().unwrap());
        let rows = self.history(number("version").map_or(u64::MAX, |version| version as u64));
        let limit = asked.body["limit"].as_u64().unwrap() as usize;
        assert!(limit <= 1000, "{limit}");
        let from = number("cursor").unwrap_or(0);
        let page: Vec<_> = rows.iter().skip(from).take(limit).collect();
        let cursor = (!page.is_empty() && !self.forgets_cursors).then(|| (from + page.len()).to_string());
        Answer::json(200, &json!({"events": page, "cursor": cursor}))
    }
}

fn objects(objects: impl IntoIterator<Item = Value>) -> Answer {
    Answer::json(200, &json!({"objects": objects.into_iter().collect::<Vec<_>>()}))
}

/// The rows that are there as of a transaction, and those that they were before, the latest first.
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
