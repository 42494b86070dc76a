//! What is asked of Braintrust's API: where a data set is, which state of it, and its rows.
//!
//! The shapes are those of <https://www.braintrust.dev/docs/api-reference>. Its query language, whose requests are limited
//! to about 20 a minute, is asked once, for the latest transaction; the rows come page by page as of that.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::row::Row;
use crate::dataset::remote::bearer::Bearer;
use crate::dataset::remote::error::FetchError;
use crate::dataset::remote::source::Fetched;
use crate::item::Item;
use crate::suggest;

/// How many rows are asked for at once; the API gives at most 1,000.
const PAGE: usize = 500;

/// A list, as every question for objects is answered.
#[derive(Debug, Deserialize)]
struct Objects<T> {
    objects: Vec<T>,
}

/// A project, data set or snapshot.
#[derive(Debug, Deserialize)]
struct Object {
    id: String,
    name: String,
    #[serde(default)]
    deleted_at: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Snapshot {
    /// Servers that do not know the question for one data set give those of all.
    dataset_id: String,
    name: String,
    xact_id: String,
}

#[derive(Debug, Deserialize)]
struct Environment {
    object_version: String,
}

/// What the query language answers where one row is asked for; none perhaps, where there is nothing to count.
#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Head>,
}

/// The latest state, as far as it is told.
#[derive(Debug, Deserialize)]
struct Head {
    /// The latest transaction of a row that is there.
    #[serde(default)]
    version: Option<Transaction>,
    /// How many rows there are.
    count: usize,
}

/// The id of a transaction: a number, mostly as text.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
struct Transaction(String);

impl From<Value> for Transaction {
    fn from(id: Value) -> Self {
        match id {
            Value::String(id) => Self(id),
            id => Self(id.to_string()),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Page {
    events: Vec<Row>,
    #[serde(default)]
    cursor: Option<String>,
}

/// A data set that was found.
#[derive(Debug)]
pub(super) struct Found<'a> {
    api: &'a Bearer<'a>,
    organization: Option<&'a str>,
    id: String,
}

/// Finds a data set by its name; nothing is created.
pub(super) async fn find<'a>(
    api: &'a Bearer<'a>,
    organization: Option<&'a str>,
    project: &str,
    name: &str,
) -> Result<Found<'a>, FetchError> {
    let query = within(organization, &[("project_name", project), ("dataset_name", name)]);
    let mut found = list(api, "dataset", &query).await?;
    found.retain(|dataset| dataset.name == name);
    match found.as_slice() {
        [dataset] => Ok(Found { api, organization, id: dataset.id.clone() }),
        [] => Err(missing(api, organization, project, name).await),
        many => Err(FetchError::problem(format!(
            "the key reads {} data sets of this name, in projects of the same name: say whose by `.organization(…)` or {}",
            many.len(),
            super::ORGANIZATION,
        ))),
    }
}

/// Says what there is instead of a data set.
async fn missing(api: &Bearer<'_>, organization: Option<&str>, project: &str, name: &str) -> FetchError {
    match list(api, "dataset", &within(organization, &[("project_name", project)])).await {
        Ok(datasets) if !datasets.is_empty() => {
            let names = datasets.iter().map(|dataset| dataset.name.as_str());
            let instead = suggest::instead(name, names);
            return FetchError::problem(format!("the project has no such data set: {instead}"));
        }
        Ok(_) => {}
        Err(error) => return error,
    }
    match list(api, "project", &within(organization, &[])).await {
        Ok(projects) if projects.iter().any(|found| found.name == project) => {
            FetchError::problem("the project has no data sets: add one, or correct the names")
        }
        Ok(projects) if !projects.is_empty() => {
            let names = projects.iter().map(|project| project.name.as_str());
            FetchError::problem(format!("there is no such project: {}", suggest::instead(project, names)))
        }
        Ok(_) => FetchError::problem("the key reads no project at all: is it of the right organisation?"),
        Err(error) => error,
    }
}

/// Objects of a kind, without those that are deleted.
async fn list(api: &Bearer<'_>, kind: &str, query: &[(&str, &str)]) -> Result<Vec<Object>, FetchError> {
    let Objects { mut objects } = api.get::<Objects<Object>>(&["v1", kind], query).await?;
    objects.retain(|object| object.deleted_at.is_none());
    Ok(objects)
}

/// A query, within the organisation where that is said.
fn within<'q>(organization: Option<&'q str>, query: &[(&'q str, &'q str)]) -> Vec<(&'q str, &'q str)> {
    query.iter().copied().chain(organization.map(|name| ("org_name", name))).collect()
}

impl Found<'_> {
    /// The transaction that a snapshot stands for.
    pub(super) async fn snapshot(&self, name: &str) -> Result<String, FetchError> {
        // A list holds only so many of them.
        let named = self.snapshots(&[("dataset_snapshot_name", name)]).await?;
        if let Some(snapshot) = named.into_iter().find(|snapshot| snapshot.name == name) {
            return Ok(snapshot.xact_id);
        }
        let objects = self.snapshots(&[]).await?;
        Err(FetchError::problem(match objects.as_slice() {
            [] => "the data set has no snapshots: make one in Braintrust, or ask for a version".to_owned(),
            objects => {
                let names = objects.iter().map(|snapshot| snapshot.name.as_str());
                format!("the data set has no snapshot `{name}`: {}", suggest::instead(name, names))
            }
        }))
    }

    async fn snapshots(&self, query: &[(&str, &str)]) -> Result<Vec<Snapshot>, FetchError> {
        let query = [&[("dataset_id", &*self.id)], query].concat();
        let query = within(self.organization, &query);
        let Objects { mut objects }: Objects<Snapshot> =
            self.api.get(&["v1", "dataset_snapshot"], &query).await?;
        objects.retain(|snapshot| snapshot.dataset_id == self.id);
        Ok(objects)
    }

    /// The transaction that an environment uses.
    pub(super) async fn environment(&self, slug: &str) -> Result<String, FetchError> {
        let path = ["environment-object", "dataset", &self.id, slug];
        match self.api.get::<Environment>(&path, &within(self.organization, &[])).await {
            Ok(environment) => Ok(environment.object_version),
            Err(FetchError::Refused { status: 404, .. }) => Err(FetchError::problem(format!(
                "the environment `{slug}` uses no snapshot of the data set: assign one to it in Braintrust"
            ))),
            Err(error) => Err(error),
        }
    }

    /// The rows after a transaction.
    pub(super) async fn at(&self, version: String) -> Result<Fetched, FetchError> {
        Ok(Fetched { items: self.rows(Some(&version)).await?, version: Some(version) })
    }

    /// The rows of this moment.
    pub(super) async fn latest(&self) -> Result<Fetched, FetchError> {
        let Some(Head { version, count }) = self.head().await? else {
            return Ok(Fetched { items: self.rows(None).await?, version: None });
        };
        if let Some(version) = version.filter(|_| count > 0) {
            let items = self.rows(Some(&version.0)).await?;
            if items.len() == count {
                return Ok(Fetched { items, version: Some(version.0) });
            }
            // The latest transaction of a row that is there may come before the deletion of one that is not: as of it, that
            // one still was.
        }
        let items = self.rows(None).await?;
        if items.len() < count {
            return Err(FetchError::problem(format!(
                "Braintrust says that there are {count} rows and gave {}: if nobody deletes rows at the moment, ask for a \
                 version, a snapshot or an environment",
                items.len()
            )));
        }
        Ok(Fetched { items, version: None })
    }

    /// The latest state, if it is told: the rows come without it, too. A data plane of one's own may be too old for the language
    /// of the question, and such questions are the first that a busy one refuses.
    async fn head(&self) -> Result<Option<Head>, FetchError> {
        let id = self.id.replace('\'', "''");
        let query = format!("SELECT max(_xact_id) AS version, count(*) AS count FROM dataset('{id}')");
        match self.api.post(&["btql"], json!({ "query": query, "fmt": "json" })).await {
            Ok(Answer { data }) => Ok(data.into_iter().next()),
            Err(FetchError::Refused { status, .. }) if !matches!(status, 401 | 403) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The rows as of a version, or of this moment. Pages go from the latest transaction back through the history, so that
    /// the first row of an id is the one that counts.
    async fn rows(&self, version: Option<&str>) -> Result<Vec<Item>, FetchError> {
        let (mut seen, mut items, mut cursor) = (HashSet::new(), Vec::new(), None);
        let mut cursors = HashSet::new();
        loop {
            let mut body = json!({ "limit": PAGE });
            for (name, value) in [("version", version), ("cursor", cursor.as_deref())] {
                if let Some(value) = value {
                    body[name] = value.into();
                }
            }
            let page: Page = self.api.post(&["v1", "dataset", &self.id, "fetch"], body).await?;
            let is_empty = page.events.is_empty();
            for row in page.events {
                if seen.insert(row.id.clone()) && row.deleted != Some(true) {
                    items.push(row.into());
                }
            }
            match page.cursor.filter(|next| !next.is_empty()) {
                None => return Ok(items),
                Some(next) if is_empty && cursors.contains(&next) => return Ok(items),
                Some(next) if !cursors.insert(next.clone()) => {
                    return Err(FetchError::problem(
                        "Braintrust gives the same pages again and again: try again later",
                    ));
                }
                next => cursor = next,
            }
        }
    }
}
