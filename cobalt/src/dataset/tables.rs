//! The tables `[datasets.…]`: each type is a struct with keys of its own, and shares [`FetchOptions`] with all that are
//! fetched. What they become is in [`remote`](super::remote).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, Error};

use super::settings::FetchSettings;
use super::table_values::{Bytes, FileAddress, FormatName, HashStart, HeaderName, HeaderText, PageSize};
use super::{Dataset, DatasetError, Item};
#[cfg(feature = "remote")]
use super::{RemoteDataset, Source};
use crate::settings::{
    Age, Count, KeyVariable, Length, NoKeys, Retries, Table, Word, at_least_one, take_type,
};

/// What loading a data set takes beside its table.
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "nothing is fetched without the feature"))]
pub(crate) struct Opening<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) settings: &'a FetchSettings,
    /// Looks up an environment variable.
    pub(crate) variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

/// The keys of one type that are its own, without the `type`.
pub(crate) trait Options: Clone + Serialize + DeserializeOwned {
    /// The keys that it has in common with others.
    type Shared: Clone + Serialize + DeserializeOwned;

    /// Refuses settings that contradict each other.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The address of the data set, which may hold secrets, and the variables that hold some.
    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        (None, Vec::new())
    }

    /// The items.
    fn load(&self, shared: &Self::Shared, opening: &Opening<'_>) -> Result<Dataset, DatasetError>;
}

/// The whole table of one type.
pub(crate) type OptionsTable<Own> = Table<Own, <Own as Options>::Shared>;

/// Reads a table, and refuses settings that contradict each other.
fn read_checked<Own: Options>(span: Range<usize>, table: DeTable<'_>) -> Result<OptionsTable<Own>, Error> {
    let table = OptionsTable::<Own>::read(span, table)?;
    table.own.check().map_err(Error::custom)?;
    Ok(table)
}

/// The types, each a line.
macro_rules! types {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($options:ty)),+ $(,)?) => {
        /// A data set that `Dataset::named` gives.
        #[derive(Clone, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Dataset"))]
        #[serde(tag = "type")]
        pub(crate) enum DatasetTable {
            $($(#[$doc])* #[serde(rename = $name)] $variant(OptionsTable<$options>),)+
        }

        impl DatasetTable {
            /// Reads a table, which stands there in the file.
            pub(crate) fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, Error> {
                const TYPES: &[&str] = &[$($name),+];
                const READERS: &[fn(Range<usize>, DeTable<'_>) -> Result<DatasetTable, Error>] =
                    &[$(|span, table| read_checked::<$options>(span, table).map(DatasetTable::$variant)),+];
                let kind = take_type("data set", TYPES, &mut table)?;
                READERS[kind](span, table)
            }

            /// The address of the data set, which may hold secrets, and the variables that hold some.
            pub(crate) fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
                match self {
                    $(Self::$variant(table) => Options::secrets(&table.own),)+
                }
            }

            /// The items.
            ///
            /// # Errors
            ///
            /// They cannot be read or fetched, or are not as the table expects.
            pub(crate) fn load(&self, opening: &Opening<'_>) -> Result<Dataset, DatasetError> {
                match self {
                    $(Self::$variant(Table { own, shared }) => Options::load(own, shared, opening),)+
                }
            }
        }
    };
}

types! {
    /// A file of the workspace.
    "file" => File(FileOptions),
    /// A file at an address.
    "url" => Url(UrlOptions),
    /// A data set of Langfuse.
    "langfuse" => Langfuse(LangfuseOptions),
    /// A data set of LangSmith.
    "langsmith" => LangSmith(LangSmithOptions),
    /// A data set of Braintrust.
    "braintrust" => Braintrust(BraintrustOptions),
    /// A data set of Basalt.
    "basalt" => Basalt(BasaltOptions),
}

impl DatasetTable {
    /// The path, from the root of the workspace, if it is a file or the files of a pattern there.
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
    /// The file; a relative path begins at the root of the workspace.
    path: Word,
}

impl Options for FileOptions {
    type Shared = NoKeys;

    fn load(&self, _: &NoKeys, opening: &Opening<'_>) -> Result<Dataset, DatasetError> {
        Dataset::from_workspace(opening.workspace, self.path.0.as_ref())
    }
}

/// The keys of all data sets that are fetched, wherever from.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FetchOptions {
    /// How long the server may be silent, before its answer and within it; "60s" unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Length>,
    /// How often a request is sent again after a failure that may pass; 4 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<Retries>,
    /// How many bytes it may have, unpacked: a number, or a text such as "200 MB"; "1 GiB" unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bytes: Option<Bytes>,
    /// How old a copy may be before it is fetched again; of any age, until `--refresh`, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_age: Option<Age>,
    /// How many items there must be; any number unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Count>,
    /// How the hash of the items must begin, at least 8 digits of it; any unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<HashStart>,
}

#[cfg(feature = "remote")]
impl FetchOptions {
    /// A data set that is to be fetched, with what is written of these keys.
    fn apply<S: Source>(&self, remote: RemoteDataset<S>) -> RemoteDataset<S> {
        let mut remote = remote;
        let Self { timeout, retries, max_bytes, max_age, items, hash } = self;
        if let Some(Length(timeout)) = *timeout {
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
        if let Some(Count(items)) = *items {
            remote = remote.expect_items(items);
        }
        match hash {
            Some(HashStart(hash)) => remote.expect_hash(hash),
            None => remote,
        }
    }
}

/// The keys of one type of data sets that are fetched.
pub(crate) trait RemoteOptions: Clone + Serialize + DeserializeOwned {
    /// Refuses settings that contradict each other.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The address of the data set, which may hold secrets, and the variables that hold some.
    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        (None, Vec::new())
    }

    /// What is fetched.
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source>;
}

impl<Own: RemoteOptions> Options for Own {
    type Shared = FetchOptions;

    fn check(&self) -> Result<(), String> {
        RemoteOptions::check(self)
    }

    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        RemoteOptions::secrets(self)
    }

    #[cfg(feature = "remote")]
    fn load(&self, shared: &FetchOptions, opening: &Opening<'_>) -> Result<Dataset, DatasetError> {
        shared.apply(self.remote()).load_by(opening.settings, opening.variable)
    }

    #[cfg(not(feature = "remote"))]
    fn load(&self, _: &FetchOptions, _: &Opening<'_>) -> Result<Dataset, DatasetError> {
        Err(DatasetError::RemoteOff)
    }
}

/// The keys of `type = "url"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UrlOptions {
    /// Where the file is.
    url: FileAddress,
    /// Headers of the request. One that is a secret belongs into a variable, see `headers-env`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<HeaderName, HeaderText>,
    /// Headers of the request, each with the environment variable that holds it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers_env: BTreeMap<HeaderName, KeyVariable>,
    /// The environment variable that holds the token of the header `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearer_env: Option<KeyVariable>,
    /// The format; told by the server, by the extension and by the content unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<FormatName>,
}

impl UrlOptions {
    /// A header that is said more than once, as no two differ in case alone.
    fn header_twice(&self) -> Option<&str> {
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
        match self.header_twice() {
            Some(name) => Err(format!(
                "the header `{name}` is said more than once, in `headers`, `headers-env` or `bearer-env`; leave one out"
            )),
            None => Ok(()),
        }
    }

    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        (Some(&self.url.0), self.headers_env.values().chain(&self.bearer_env).collect())
    }

    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_url(&self.url.0);
        for (HeaderName(name), HeaderText(value)) in &self.headers {
            remote = remote.header(name, value);
        }
        for (HeaderName(name), KeyVariable(variable)) in &self.headers_env {
            remote = remote.header_env(name, variable);
        }
        if let Some(KeyVariable(variable)) = &self.bearer_env {
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
    /// The name of the data set; one in a folder is named "folder/name".
    name: Word,
    /// The time as of which its items are taken, such as "2026-01-21T14:35:42Z"; now, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Word>,
    /// How many items are asked for at once; 100 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_size: Option<PageSize>,
}

impl RemoteOptions for LangfuseOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_langfuse(&self.name.0);
        if let Some(Word(version)) = &self.version {
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
    /// The name of the data set.
    name: Word,
    /// The time, or the tag of the version, as of which its examples are taken; now, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Word>,
    /// Its splits of which examples are taken; all unless it is set.
    #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    splits: Option<Vec<Word>>,
    /// What the metadata of the examples must hold that are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Item>,
    /// Which examples are taken, in LangSmith's language of filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<Word>,
}

impl RemoteOptions for LangSmithOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_langsmith(&self.name.0);
        if let Some(Word(version)) = &self.version {
            remote = remote.version(version);
        }
        if let Some(splits) = &self.splits {
            remote = remote.splits(splits.iter().map(|Word(split)| split));
        }
        if let Some(metadata) = &self.metadata {
            remote = remote.metadata(metadata.clone());
        }
        match &self.filter {
            Some(Word(filter)) => remote.filter(filter),
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
    project: Word,
    /// The name of the data set.
    name: Word,
    /// The id of the transaction as of which its records are taken; now, unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Word>,
    /// The name of the snapshot that is taken, in place of a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Word>,
    /// The environment whose version is taken, such as "production".
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<Word>,
    /// The organization, where the key is of several; that of `[platforms.braintrust]` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<Word>,
}

impl RemoteOptions for BraintrustOptions {
    /// Refuses a table that names two states of a data set.
    fn check(&self) -> Result<(), String> {
        let named = [&self.version, &self.snapshot, &self.environment];
        match named.into_iter().flatten().count() {
            0 | 1 => Ok(()),
            _ => Err(
                "`version`, `snapshot` and `environment` each name a state of the data set; keep one of them"
                    .to_owned(),
            ),
        }
    }

    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        let mut remote = Dataset::from_braintrust(&self.project.0, &self.name.0);
        if let Some(Word(version)) = &self.version {
            remote = remote.version(version);
        }
        if let Some(Word(snapshot)) = &self.snapshot {
            remote = remote.snapshot(snapshot);
        }
        if let Some(Word(environment)) = &self.environment {
            remote = remote.environment(environment);
        }
        match &self.organization {
            Some(Word(organization)) => remote.organization(organization),
            None => remote,
        }
    }
}

/// The keys of `type = "basalt"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BasaltOptions {
    /// The slug of the data set.
    slug: Word,
}

impl RemoteOptions for BasaltOptions {
    #[cfg(feature = "remote")]
    fn remote(&self) -> RemoteDataset<impl Source> {
        Dataset::from_basalt(&self.slug.0)
    }
}
