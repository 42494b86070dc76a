//! `type = "url"`.

use std::collections::BTreeMap;

use serde::de::Error as _;

use super::entry::Table;
use super::fetched_table::fetched_table;
#[cfg(feature = "remote")]
use super::fetched_table::on_terms;
use super::lookup::Opening;
use super::values::{FileAddress, FormatName, HeaderName, HeaderText};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::settings::KeyVariable;
#[cfg(feature = "remote")]
use crate::settings::with_written;

fetched_table! {
    UrlTable {
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
}

impl UrlTable {
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

impl Table for UrlTable {
    fn checked(self) -> Result<Self, toml::de::Error> {
        match self.header_twice() {
            Some(name) => Err(toml::de::Error::custom(format!(
                "the header `{name}` is said more than once, in `headers`, `headers-env` or `bearer-env`; leave one out"
            ))),
            None => Ok(self),
        }
    }

    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        (Some(&self.url.0), self.headers_env.values().chain(&self.bearer_env).collect())
    }

    #[cfg(feature = "remote")]
    fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
        let remote = on_terms!(self, Dataset::from_url(&self.url.0));
        let headers = self.headers.iter();
        let remote =
            headers.fold(remote, |remote, (HeaderName(name), HeaderText(value))| remote.header(name, value));
        let headers = self.headers_env.iter();
        let remote = headers
            .fold(remote, |remote, (HeaderName(name), KeyVariable(held))| remote.header_env(name, held));
        opening.fetch(with_written!(
            remote,
            bearer_env(self.bearer_env.as_ref().map(|KeyVariable(name)| name)),
            format(self.format.map(|FormatName(format)| format)),
        ))
    }

    #[cfg(not(feature = "remote"))]
    fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
        Err(opening.without_remote())
    }
}
