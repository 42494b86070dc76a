//! Data sets of Braintrust.

mod api;
mod row;

use super::RemoteDataset;
use super::bearer::{Access, Bearer};
use super::error::FetchError;
use super::platform::{Platform, check_name};
use super::session::Session;
use super::source::{Fetched, Source};
use crate::dataset::{Dataset, settings};
use crate::redact::Secret;

static BRAINTRUST: Platform = Platform {
    id: settings::Platform::Braintrust,
    name: "Braintrust",
    base_url: "https://api.braintrust.dev",
    base_url_variables: &["BRAINTRUST_API_URL"],
};
/// The variables of the key and the organisation, as in Braintrust's own libraries.
const KEY: &str = "BRAINTRUST_API_KEY";
const ORGANIZATION: &str = "BRAINTRUST_ORG_NAME";

/// A data set of Braintrust.
#[derive(Clone, Debug)]
pub struct Braintrust {
    project: String,
    name: String,
    organization: Option<String>,
    pinned: Option<Pinned>,
    access: Access,
}

/// Which of a data set's states is asked for.
#[derive(Clone, Debug)]
enum Pinned {
    /// After the transaction of this id.
    Version(String),
    /// The one that was saved by this name.
    Snapshot(String),
    /// The one that an environment uses.
    Environment(String),
}

impl Dataset {
    /// A data set of [Braintrust](https://www.braintrust.dev), by the names of its project and of itself.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let dataset = Dataset::from_braintrust("Support", "refunds").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// Each row becomes an item of
    ///
    /// | field | what it is |
    /// |---|---|
    /// | `id` | the row's |
    /// | `input` | as it is, JSON or text |
    /// | `expectedOutput` | `expected`, or the `output` of rows from times when it was called so |
    /// | `metadata` | as it is |
    /// | `tags` | those of the row, where it has any |
    ///
    /// What a row has not is absent. The items come in Braintrust's order: those that were changed last are the first.
    ///
    /// All pages are read as of one transaction, which is the set's latest unless a [`version`], a [`snapshot`] or an
    /// [`environment`] is asked for; runs record its id. Only where rows were deleted since then, or the API refuses to
    /// tell the latest, as where it is asked too often, no transaction names the state: then the rows of this moment are read,
    /// and no version is recorded.
    ///
    /// A copy is told apart by the names, the version and the address, and not by the account of the key: with the key of
    /// another, give another `COBALT_DIR`, or fetch it again by `--refresh`.
    ///
    /// The key is that of [`api_key`], else the configured one, else `BRAINTRUST_API_KEY`; the address likewise, with
    /// `BRAINTRUST_API_URL`. Organisations in the EU need `https://api-eu.braintrust.dev` there.
    ///
    /// [`version`]: RemoteDataset::<Braintrust>::version
    /// [`snapshot`]: RemoteDataset::<Braintrust>::snapshot
    /// [`environment`]: RemoteDataset::<Braintrust>::environment
    /// [`api_key`]: RemoteDataset::<Braintrust>::api_key
    pub fn from_braintrust(project: impl Into<String>, name: impl Into<String>) -> RemoteDataset<Braintrust> {
        RemoteDataset::new(Braintrust {
            project: project.into(),
            name: name.into(),
            organization: None,
            pinned: None,
            access: Access::default(),
        })
    }
}

impl RemoteDataset<Braintrust> {
    /// The state after a transaction, by its id. Of `version`, `snapshot` and `environment`, the last one counts.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").version("1000192656880881099").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn version(mut self, transaction: impl Into<String>) -> Self {
        self.source.pinned = Some(Pinned::Version(transaction.into()));
        self
    }

    /// The state that was saved as a snapshot of this name.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").snapshot("before the move").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn snapshot(mut self, name: impl Into<String>) -> Self {
        self.source.pinned = Some(Pinned::Snapshot(name.into()));
        self
    }

    /// The state that an environment uses, such as `production`.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").environment("production").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn environment(mut self, slug: impl Into<String>) -> Self {
        self.source.pinned = Some(Pinned::Environment(slug.into()));
        self
    }

    /// The organisation, where the key is of several; that of the configuration, else `BRAINTRUST_ORG_NAME`, unless it is set.
    pub fn organization(mut self, name: impl Into<String>) -> Self {
        self.source.organization = Some(name.into());
        self
    }

    /// Where the API is: `https://api-eu.braintrust.dev`, or that of your own data plane.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").base_url("https://api-eu.braintrust.dev").load()?;
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

impl Braintrust {
    fn organization(&self, session: &Session<'_>) -> Option<String> {
        let configured = || session.account(BRAINTRUST.id)?.workspace.clone();
        self.organization.clone().or_else(configured).or_else(|| session.variable(ORGANIZATION))
    }

    async fn fetch_by(&self, api: &Bearer<'_>, organization: Option<&str>) -> Result<Fetched, FetchError> {
        let found = api::find(api, organization, &self.project, &self.name).await?;
        match &self.pinned {
            None => found.latest().await,
            Some(Pinned::Version(version)) => found.at(version.clone()).await,
            Some(Pinned::Snapshot(name)) => found.at(found.snapshot(name).await?).await,
            Some(Pinned::Environment(slug)) => found.at(found.environment(slug).await?).await,
        }
    }
}

impl Source for Braintrust {
    fn label(&self) -> String {
        format!("braintrust:{}/{}", self.project, self.name)
    }

    fn identity(&self, session: &Session<'_>) -> Vec<String> {
        let pinned = match &self.pinned {
            None => String::new(),
            Some(Pinned::Version(version)) => format!("version {version}"),
            Some(Pinned::Snapshot(name)) => format!("snapshot {name}"),
            Some(Pinned::Environment(slug)) => format!("environment {slug}"),
        };
        vec![
            "braintrust".to_owned(),
            BRAINTRUST.base_url(session, self.access.base_url.as_deref()),
            self.organization(session).unwrap_or_default(),
            self.project.clone(),
            self.name.clone(),
            pinned,
        ]
    }

    async fn fetch(&self, session: &Session<'_>) -> Result<Fetched, FetchError> {
        check_name("project", &self.project)?;
        check_name("data set", &self.name)?;
        if let Some(Pinned::Snapshot(name) | Pinned::Environment(name)) = &self.pinned {
            check_name("snapshot or environment", name)?;
        }
        let api = Bearer::new(&BRAINTRUST, KEY, &self.access, session)?;
        self.fetch_by(&api, self.organization(session).as_deref()).await.map_err(|error| api.explain(error))
    }
}
