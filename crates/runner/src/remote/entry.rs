//! An index object: what lists show of a run, and where its files are.

use cobalt_core::hash::sha256;
use cobalt_core::report::Timestamp;
use cobalt_core::store::ResultFileName;
use serde::{Deserialize, Serialize};

use super::layout;
use crate::index::IndexedRun;

/// A run in the remote store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteEntry {
    /// The version of this format.
    pub format: u32,
    /// When it was pushed, ISO 8601 in UTC with milliseconds.
    pub pushed_at: String,
    /// How often this content was pushed again after another one of the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u32,
    /// Whether inputs, outputs and everything else that quotes them were removed before it was pushed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The run, as the local index has it.
    pub run: IndexedRun,
    /// The result file.
    pub result: RemoteFile,
    /// The items, if they are in a file of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<RemoteFile>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteFile {
    /// The SHA-256 of the file.
    pub hash: String,
    /// The size of the file.
    pub bytes: u64,
    /// The size of the object, which may be compressed.
    pub stored_bytes: u64,
}

/// What precedes the checksum, the last field of an index object. Objects of earlier versions have none.
const CHECK: &str = ",\"check\":\"";
/// The length of a checksum.
const CHECK_DIGITS: usize = 16;

fn checksum(content: &[u8]) -> String {
    sha256(content)[..CHECK_DIGITS].to_owned()
}

/// The content of an index object before its checksum, and the checksum.
fn split_check(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, check) = bytes.strip_suffix(b"\"}")?.split_last_chunk::<CHECK_DIGITS>()?;
    Some((rest.strip_suffix(CHECK.as_bytes())?, check))
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl RemoteEntry {
    /// Reads an index object with this name, without the folder. `None` if a newer version of Cobalt wrote it.
    ///
    /// # Errors
    ///
    /// It is damaged, or lists another run; the error says how.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Option<Self>, String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        if bytes.is_empty() {
            return Err("it is empty".to_owned());
        }
        if let Some((content, check)) = split_check(bytes)
            && checksum(content).as_bytes() != check
        {
            return Err("its checksum differs".to_owned());
        }
        let version: Version = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if version.format > layout::FORMAT_VERSION {
            return Ok(None);
        }
        let entry = Self::parse(bytes).ok_or("it does not describe a run")?;
        if entry.name() != name {
            return Err(format!("it lists another run, `{}`", entry.run.id));
        }
        Ok(Some(entry))
    }

    /// The content of the index object. It ends with a checksum of what precedes it.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self)?;
        text.pop();
        let check = checksum(&text);
        text.extend_from_slice(format!("{CHECK}{check}\"}}").as_bytes());
        Ok(text)
    }

    /// Parses an index object. `None` if a newer version wrote it, or if it is damaged: names of files come from it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let entry: Self = serde_json::from_slice(bytes).ok()?;
        let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let files_are_named_well =
            is_hash(&entry.result.hash) && entry.items.as_ref().is_none_or(|items| is_hash(&items.hash));
        let name = ResultFileName::parse(&entry.run.file)?;
        let is_plain = !entry.run.file.contains(['/', '\\']);
        let time: Timestamp = serde_json::from_value(entry.run.timestamp.clone().into()).ok()?;
        (entry.format == layout::FORMAT_VERSION
            && layout::is_id(&entry.run.id)
            && name.id == entry.run.id
            && is_plain
            && time.to_string() == entry.run.timestamp
            && files_are_named_well)
            .then_some(entry)
    }

    /// The name of the index object, without the folder.
    pub fn name(&self) -> String {
        layout::index_name(&self.run, &self.result.hash, self.repeated)
    }

    /// The object of the result file.
    pub fn result_object(&self) -> String {
        layout::result(&self.run.id, &self.result.hash)
    }

    /// The object of the items, if they are in a file of their own.
    pub fn items_object(&self) -> Option<String> {
        self.items.as_ref().map(|items| layout::items(&self.run.id, &items.hash))
    }

    /// The sizes of all objects. They come from the store, so they can be anything.
    pub fn stored_bytes(&self) -> u64 {
        self.result.stored_bytes.saturating_add(self.items.as_ref().map_or(0, |items| items.stored_bytes))
    }

    /// The sizes of all files.
    pub fn bytes(&self) -> u64 {
        self.result.bytes.saturating_add(self.items.as_ref().map_or(0, |items| items.bytes))
    }
}
