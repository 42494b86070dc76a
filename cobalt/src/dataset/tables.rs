//! The tables `[datasets.…]`. Each type is a struct with its own keys; remote datasets share [`FetchOptions`]. They become
//! datasets in [`remote`](super::remote).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, Error};

use super::settings::FetchSettings;
use super::table_values::{Bytes, FileUrl, FormatName, HashPrefix, HeaderName, HeaderValue, PageSize};
use super::{Dataset, DatasetError, Item};
#[cfg(feature = "remote")]
use super::{RemoteDataset, Source};
use crate::settings::{
    Age, DurationValue, NoSharedKeys, NonEmptyString, PositiveInt, Retries, SecretVariable, SplitTable,
    non_empty_list, take_type,
};

/// The context for loading a dataset.
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "nothing is fetched without the feature"))]
pub(crate) struct LoadContext<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) settings: &'a FetchSettings,
    /// Looks up an environment variable.
    pub(crate) variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

/// The keys specific to one type, without the `type`.
pub(crate) trait TableOptions: Clone + Serialize + DeserializeOwned {
    /// The keys that it shares with other types.
    type Shared: Clone + Serialize + DeserializeOwned;

    /// Rejects contradictory settings.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The URL of the dataset, which may contain secrets, and the environment variables that hold secrets.
    fn secrets(&self) -> (Option<&str>, Vec<&SecretVariable>) {
        (None, Vec::new())
    }

    /// The items.
    fn load(&self, shared: &Self::Shared, opening: &LoadContext<'_>) -> Result<Dataset, DatasetError>;
}

/// The whole table of one type.
pub(crate) type OptionsTable<Own> = SplitTable<Own, <Own as TableOptions>::Shared>;

/// Reads a table, and rejects contradictory settings.
fn read_checked<Own: TableOptions>(
    span: Range<usize>,
    table: DeTable<'_>,
) -> Result<OptionsTable<Own>, Error> {
    let table = OptionsTable::<Own>::read(span, table)?;
    table.own.check().map_err(Error::custom)?;
    Ok(table)
}

/// The types of datasets.
macro_rules! types {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($options:ty)),+ $(,)?) => {
        /// A dataset for `Dataset::named`.
        #[derive(Clone, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Dataset"))]
        #[serde(tag = "type")]
        pub(crate) enum DatasetTable {
            $($(#[$doc])* #[serde(rename = $name)] $variant(OptionsTable<$options>),)+
        }

        impl DatasetTable {
            /// Reads a table; `span` is its position in the file.
            pub(crate) fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, Error> {
                const TYPES: &[&str] = &[$($name),+];
                const READERS: &[fn(Range<usize>, DeTable<'_>) -> Result<DatasetTable, Error>] =
                    &[$(|span, table| read_checked::<$options>(span, table).map(DatasetTable::$variant)),+];
                let kind = take_type("dataset", TYPES, &mut table)?;
                READERS[kind](span, table)
            }

            /// The URL of the dataset, which may contain secrets, and the environment variables that hold secrets.
            pub(crate) fn secrets(&self) -> (Option<&str>, Vec<&SecretVariable>) {
                match self {
                    $(Self::$variant(table) => TableOptions::secrets(&table.own),)+
                }
            }

            /// The items.
            ///
            /// # Errors
            ///
            /// They cannot be read or fetched, or do not match the expectations in the table.
            pub(crate) fn load(&self, opening: &LoadContext<'_>) -> Result<Dataset, DatasetError> {
                match self {
                    $(Self::$variant(SplitTable { own, shared }) => TableOptions::load(own, shared, opening),)+
                }
            }
        }
    };
}

types! {
    /// A file in the workspace.
    "file" => File(FileOptions),
    /// A file at a URL.
    "url" => Url(UrlOptions),
    /// A dataset in Langfuse.
    "langfuse" => Langfuse(LangfuseOptions),
    /// A dataset in LangSmith.
    "langsmith" => LangSmith(LangSmithOptions),
    /// A dataset in Braintrust.
    "braintrust" => Braintrust(BraintrustOptions),
    /// A dataset in Basalt.
    "basalt" => Basalt(BasaltOptions),
}

impl DatasetTable {
    /// The path or pattern relative to the workspace root, for a file in the workspace.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(table) => Some(table.own.path.0.as_ref()),
            _ => None,
        }
    }
}

/// The keys of `type = "file"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FileOptions {
    /// The file; a relative path starts at the workspace root.
    path: NonEmptyString,
}

impl TableOptions for FileOptions {
    type Shared = NoSharedKeys;

    fn load(&self, _: &NoSharedKeys, opening: &LoadContext<'_>) -> Result<Dataset, DatasetError> {
        Dataset::from_workspace(opening.workspace, self.path.0.as_ref())
    }
}

/// The keys shared by all remote datasets.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FetchOptions {
    /// How long the server may be silent, before and within its response; default "60s".
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<DurationValue>,
    /// How often a request is retried after a transient failure; default 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<Retries>,
    /// The maximum size in bytes after decompression: a number, or a string such as "200 MB"; default "1 GiB".
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bytes: Option<Bytes>,
    /// The age at which the cached copy is fetched again; by default only with `--refresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_age: Option<Age>,
    /// The expected number of items; by default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<PositiveInt>,
    /// The expected hash of the items, or a prefix of at least 8 digits; by default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<HashPrefix>,
}

#[cfg(feature = "remote")]
impl FetchOptions {
    /// Applies the keys that are set.
    fn apply<S: Source>(&self, remote: RemoteDataset<S>) -> RemoteDataset<S> {
        let mut remote = remote;
        let Self { timeout, retries, max_bytes, max_age, items, hash } = self;
        if let Some(DurationValue(timeout)) = *timeout {
            remote = remote.timeout(timeout);
        }
        if let Some(Retries(retries)) = *retries {
            remote = remote.retries(retries);
        }
        if let Some(Bytes(bytes)) = *max_bytes {
            remote = remote.max_bytes(bytes);
        }
        if let Some(Age(age)) = *max_age {
            remote = remote.max_age(age);
        }
        if let Some(PositiveInt(items)) = *items {
            remote = remote.expect_items(items);
        }
        match hash {
            Some(HashPrefix(hash)) => remote.expect_hash(hash),
            None => remote,
        }
    }
}

/// The keys of one type of remote datasets.
pub(crate) trait RemoteOptions: Clone + Serialize + DeserializeOwned {
    /// Rejects contradictory settings.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The URL of the dataset, which may contain secrets, and the environment variables that hold secrets.
    fn secrets(&self) -> (Option<&str>, Vec<&SecretVariable>) {
        (None, Vec::new())
    }

    /// The remote dataset.
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source>;
}

impl<Own: RemoteOptions> TableOptions for Own {
    type Shared = FetchOptions;

    fn check(&self) -> Result<(), String> {
        RemoteOptions::check(self)
    }

    fn secrets(&self) -> (Option<&str>, Vec<&SecretVariable>) {
        RemoteOptions::secrets(self)
    }

    #[cfg(feature = "remote")]
    fn load(&self, shared: &FetchOptions, opening: &LoadContext<'_>) -> Result<Dataset, DatasetError> {
        shared.apply(self.remote()).load_with(opening.settings, opening.variable)
    }

    #[cfg(not(feature = "remote"))]
    fn load(&self, _: &FetchOptions, _: &LoadContext<'_>) -> Result<Dataset, DatasetError> {
        Err(DatasetError::RemoteOff)
    }
}

/// The keys of `type = "url"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UrlOptions {
    /// The URL of the file.
    url: FileUrl,
    /// Request headers. Put secrets in environment variables, see `headers-env`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<HeaderName, HeaderValue>,
    /// Request headers, each with the environment variable that holds its value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers_env: BTreeMap<HeaderName, SecretVariable>,
    /// The environment variable that holds the token for the header `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearer_env: Option<SecretVariable>,
    /// The format; by default detected from the server's response, the extension and the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<FormatName>,
}

impl UrlOptions {
    /// A header that is set more than once; names are case-insensitive.
    fn duplicate_header(&self) -> Option<&str> {
        let bearer = self.bearer_env.as_ref().map(|_| "Authorization");
        let names = self.headers.keys().chain(self.headers_env.keys()).map(|HeaderName(name)| name.as_str());
        let names: Vec<_> = bearer.into_iter().chain(names).collect();
        let is_again =
            |(at, name): (usize, &&str)| names[..at].iter().any(|before| before.eq_ignore_ascii_case(name));
        names.iter().enumerate().position(is_again).map(|at| names[at])
    }
}

impl RemoteOptions for UrlOptions {
    fn check(&self) -> Result<(), String> {
        match self.duplicate_header() {
            Some(name) => Err(format!(
                "the header `{name}` is set more than once in `headers`, `headers-env` or `bearer-env`; keep one"
            )),
            None => Ok(()),
        }
    }

    fn secrets(&self) -> (Option<&str>, Vec<&SecretVariable>) {
        (Some(&self.url.0), self.headers_env.values().chain(&self.bearer_env).collect())
    }

    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_url(&self.url.0);
        for (HeaderName(name), HeaderValue(value)) in &self.headers {
            remote = remote.header(name, value);
        }
        for (HeaderName(name), SecretVariable(variable)) in &self.headers_env {
            remote = remote.header_env(name, variable);
        }
        if let Some(SecretVariable(variable)) = &self.bearer_env {
            remote = remote.bearer_env(variable);
        }
        match self.format {
            Some(FormatName(format)) => remote.format(format),
            None => remote,
        }
    }
}

/// The keys of `type = "langfuse"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LangfuseOptions {
    /// The name of the dataset; in a folder "folder/name".
    name: NonEmptyString,
    /// The time as of which items are read, such as "2026-01-21T14:35:42Z"; default: the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<NonEmptyString>,
    /// The number of items per request; default 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_size: Option<PageSize>,
}

impl RemoteOptions for LangfuseOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_langfuse(&self.name.0);
        if let Some(NonEmptyString(version)) = &self.version {
            remote = remote.version(version);
        }
        match self.page_size {
            Some(PageSize(items)) => remote.page_size(items),
            None => remote,
        }
    }
}

/// The keys of `type = "langsmith"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LangSmithOptions {
    /// The name of the dataset.
    name: NonEmptyString,
    /// The time or version tag as of which examples are read; default: the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<NonEmptyString>,
    /// The splits to read; default all.
    #[serde(default, deserialize_with = "non_empty_list", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    splits: Option<Vec<NonEmptyString>>,
    /// Metadata that the examples must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Item>,
    /// A filter for examples, in LangSmith's filter query language.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<NonEmptyString>,
}

impl RemoteOptions for LangSmithOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_langsmith(&self.name.0);
        if let Some(NonEmptyString(version)) = &self.version {
            remote = remote.version(version);
        }
        if let Some(splits) = &self.splits {
            remote = remote.splits(splits.iter().map(|NonEmptyString(split)| split));
        }
        if let Some(metadata) = &self.metadata {
            remote = remote.metadata(metadata.clone());
        }
        match &self.filter {
            Some(NonEmptyString(filter)) => remote.filter(filter),
            None => remote,
        }
    }
}

/// The keys of `type = "braintrust"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BraintrustOptions {
    /// The name of the project.
    project: NonEmptyString,
    /// The name of the dataset.
    name: NonEmptyString,
    /// The ID of the transaction as of which records are read; default: the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<NonEmptyString>,
    /// The name of a snapshot, instead of a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<NonEmptyString>,
    /// The environment whose version is read, such as "production".
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<NonEmptyString>,
    /// The organization, if the key belongs to several; default: the one in `[platforms.braintrust]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<NonEmptyString>,
}

impl RemoteOptions for BraintrustOptions {
    /// Rejects a table that selects two versions.
    fn check(&self) -> Result<(), String> {
        let named = [&self.version, &self.snapshot, &self.environment];
        match named.into_iter().flatten().count() {
            0 | 1 => Ok(()),
            _ => Err(
                "`version`, `snapshot` and `environment` each select a version of the dataset; keep one of them"
                    .to_owned(),
            ),
        }
    }

    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_braintrust(&self.project.0, &self.name.0);
        if let Some(NonEmptyString(version)) = &self.version {
            remote = remote.version(version);
        }
        if let Some(NonEmptyString(snapshot)) = &self.snapshot {
            remote = remote.snapshot(snapshot);
        }
        if let Some(NonEmptyString(environment)) = &self.environment {
            remote = remote.environment(environment);
        }
        match &self.organization {
            Some(NonEmptyString(organization)) => remote.organization(organization),
            None => remote,
        }
    }
}

/// The keys of `type = "basalt"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BasaltOptions {
    /// The slug of the dataset.
    slug: NonEmptyString,
}

impl RemoteOptions for BasaltOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        Dataset::from_basalt(&self.slug.0)
    }
}
