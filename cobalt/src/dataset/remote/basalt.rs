//! Data sets of Basalt.
//!
//! The shapes are those of <https://docs.getbasalt.ai/v1/api-reference>: one answer holds all rows. There are no versions.

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use cobalt_core::wording::{self, printable};
use serde::Deserialize;
use serde_json::Value;

use super::RemoteDataset;
use super::load::Source;
use super::platform::{self, Access, Bearer, Platform, check_name};
use super::session::Session;
use super::terms::{FetchError, Fetched};
use crate::dataset::{Dataset, settings};
use crate::http::said;

static BASALT: Platform = Platform {
    id: settings::Platform::Basalt,
    name: "Basalt",
    base_url: "https://api.getbasalt.ai",
    base_url_variables: &["BASALT_PUBLIC_API_URL"],
};
/// The variable of the key, as in Basalt's own libraries.
const KEY: &str = "BASALT_API_KEY";

/// A data set of Basalt.
#[derive(Clone, Debug)]
pub struct Basalt {
    slug: String,
    access: Access,
}

impl Dataset {
    /// A data set of [Basalt](https://www.getbasalt.ai), by its slug.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let dataset = Dataset::from_basalt("customer-support").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// Each row becomes an item of
    ///
    /// | field | what it is |
    /// |---|---|
    /// | `id` | the row's `name`, where it has one |
    /// | `input` | an object of the row's `values`, by the names of the columns |
    /// | `expectedOutput` | `idealOutput` |
    /// | `metadata` | as it is |
    ///
    /// What a row has not is absent. Where an agent takes but one of the columns, change the items after loading them:
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_basalt("customer-support").load()?.map(|mut item| {
    ///     item["input"] = item["input"]["question"].take();
    ///     item
    /// });
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// One answer holds all rows. Where Basalt warns of columns that it left out, the warning is told on standard error when
    /// the data set is fetched.
    ///
    /// A copy is told apart by the name and the address, and not by the account of the key: with the key of another, give
    /// another `COBALT_DIR`, or fetch it again by `--refresh`.
    ///
    /// Basalt knows no versions of a data set: [`expect_hash`](RemoteDataset::expect_hash) tells when it has changed.
    ///
    /// The key is that of [`api_key`](RemoteDataset::<Basalt>::api_key), else the configured one, else `BASALT_API_KEY`; the
    /// address likewise, with `BASALT_PUBLIC_API_URL`.
    pub fn from_basalt(slug: impl Into<String>) -> RemoteDataset<Basalt> {
        RemoteDataset::new(Basalt { slug: slug.into(), access: Access::default() })
    }
}

impl RemoteDataset<Basalt> {
    /// Where the API is, if not at `https://api.getbasalt.ai`.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_basalt("customer-support").base_url("http://localhost:3001").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.source.access.base_url = Some(url.into());
        self
    }

    /// The key, which goes only to the host of the API.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.source.access.key = Some(Secret(key.into()));
        self
    }
}

impl Source for Basalt {
    fn label(&self) -> String {
        format!("basalt:{}", self.slug)
    }

    fn identity(&self, session: &Session<'_>) -> Vec<String> {
        vec![
            "basalt".to_owned(),
            BASALT.base_url(session, self.access.base_url.as_deref()),
            self.slug.clone(),
        ]
    }

    async fn fetch(&self, session: &Session<'_>) -> Result<Fetched, FetchError> {
        check_name("data set", &self.slug)?;
        let api = Bearer::new(&BASALT, KEY, &self.access, session)?;
        let mut answer = answer(&api, &self.slug).await.map_err(|error| api.explain(error))?;
        if let Some(warning) = answer.warning.take() {
            let warning = session.told(&said::shown(&warning));
            eprintln!("note: {}: Basalt says: {}", printable(&self.label()), printable(&warning));
        }
        // What a server says may repeat the key.
        let rows =
            answer.rows().map_err(|problem| FetchError::Problem(session.told(&said::shown(&problem))))?;
        Ok(Fetched { items: rows.into_iter().map(Item::from).collect(), version: None })
    }
}

async fn answer(api: &Bearer<'_>, slug: &str) -> Result<Answer, FetchError> {
    match api.get::<Answer>(&["datasets", slug], &[]).await {
        Err(FetchError::Refused { status: 404, .. }) => Err(missing(api, slug).await),
        answer => answer,
    }
}

/// What a question for a data set is answered.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    dataset: Option<Rows>,
    /// Of what rows have and the data set has not, and so is not given.
    #[serde(default)]
    warning: Option<String>,
    /// What is wrong, which may come with the status of success.
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    values: Value,
    #[serde(default)]
    ideal_output: Value,
    #[serde(default)]
    metadata: Value,
}

impl Answer {
    fn rows(self) -> Result<Vec<Row>, String> {
        match (self.dataset, self.error) {
            (_, Value::String(error)) => Err(format!("Basalt says: {error}")),
            (Some(Rows { rows }), _) => Ok(rows),
            (None, _) => Err("the answer has no `dataset`: is it the address of Basalt's API?".to_owned()),
        }
    }
}

impl From<Row> for Item {
    fn from(row: Row) -> Item {
        let Row { name, values, ideal_output, metadata } = row;
        platform::item(name, values, ideal_output, metadata)
    }
}

#[derive(Debug, Deserialize)]
struct Datasets {
    datasets: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    slug: String,
}

/// Says what there is instead of a data set.
async fn missing(api: &Bearer<'_>, slug: &str) -> FetchError {
    match api.get::<Datasets>(&["datasets"], &[]).await {
        Ok(Datasets { datasets }) if !datasets.is_empty() => {
            let slugs = datasets.iter().map(|dataset| dataset.slug.as_str());
            FetchError::problem(format!("there is no such data set: {}", wording::instead(slug, slugs)))
        }
        Ok(_) => FetchError::problem("there is no such data set, nor any other that the key may read"),
        Err(error) => error,
    }
}
