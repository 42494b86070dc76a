//! The first line of a copy: what it is, and what its items must be.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use crate::report::Fetch;
use crate::timestamp::Timestamp;

/// The version of the file's form.
const FORM: u32 = 1;

/// The first line of a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    cobalt_dataset: u32,
    /// As of [`Dataset::source`](crate::Dataset::source).
    pub(super) source: String,
    /// SHA-256 of what was asked for.
    pub(super) request: String,
    pub(super) fetched_at: Timestamp,
    pub(super) items: usize,
    /// That of [`Dataset::hash`](crate::Dataset::hash).
    pub(super) hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
}

/// What later versions of the file will have in their first line, too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    cobalt_dataset: u32,
}

impl Header {
    pub(super) fn new(source: &str, request: &str, fetch: &Fetch, items: usize, hash: &str) -> Self {
        Self {
            cobalt_dataset: FORM,
            source: source.to_owned(),
            request: request.to_owned(),
            fetched_at: fetch.at,
            items,
            hash: hash.to_owned(),
            version: fetch.version.clone(),
        }
    }

    /// Reads the first line, or tells what is wrong with it.
    pub(super) fn read(reader: &mut impl BufRead) -> Result<Self, String> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        let unread = |error| format!("its first line does not say what it is ({error})");
        let Form { cobalt_dataset: form } = serde_json::from_slice(&line).map_err(unread)?;
        if form != FORM {
            return Err(format!("it is of form {form}, and this version of Cobalt reads form {FORM}"));
        }
        serde_json::from_slice(&line).map_err(unread)
    }

    pub(super) fn fetch(&self) -> Fetch {
        Fetch { at: self.fetched_at, version: self.version.clone() }
    }
}
