//! Packs: many index objects in one, so that a new machine lists a store of 100,000 runs with a hundred requests.
//!
//! Any writer may add a pack. Its index objects are deleted once it is written; a reader of both sees each run once.

use std::time::Duration;

use cobalt_core::hash::sha256;
use serde_json::value::RawValue;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::fetch::compress;
use super::store::{Remote, RemoteObject};
use super::sync::PackedEntry;
use super::{layout, parallel};

/// From how many index objects on they are packed.
const PACK_FROM: usize = 1000;
/// Newer index objects are left alone: other machines may be about to read them.
const SETTLED: Duration = Duration::from_secs(10 * 60);

impl Remote {
    /// Packs index objects if there are many. Other machines then read fewer objects; it does not matter when.
    pub fn pack(&self) -> Result<usize, RemoteError> {
        self.pack_settled(PACK_FROM, SETTLED)
    }

    /// Packs the index objects that are at least this old, compared with the newest one, if there are at least so many of them. Returns
    /// how many were packed.
    pub fn pack_settled(&self, least: usize, age: Duration) -> Result<usize, RemoteError> {
        let listed = self.list(layout::INDEX)?;
        let Some(newest) = listed.iter().map(|object| object.modified).max() else { return Ok(0) };
        let is_settled =
            |object: &RemoteObject| newest.duration_since(object.modified).is_ok_and(|since| since >= age);
        let settled: Vec<_> = listed.into_iter().filter(is_settled).collect();
        if settled.len() < least {
            return Ok(0);
        }
        let contents = parallel::map(&settled, |object| self.get(&object.name));
        let (mut text, mut packed) = (Vec::new(), Vec::new());
        for (object, content) in settled.iter().zip(contents) {
            // Another writer may have packed it in the meantime. A damaged object stays where it is.
            let content = match content {
                Err(RemoteError::Damaged { .. }) | Ok(None) => continue,
                content => content?.unwrap_or_default(),
            };
            let name = object.name.rsplit_once('/').map_or(&*object.name, |(_, name)| name).to_owned();
            if RemoteEntry::read(&name, &content).is_err() {
                continue;
            }
            let Ok(entry) = serde_json::from_slice::<Box<RawValue>>(&content) else { continue };
            let Ok(line) = serde_json::to_string(&PackedEntry { name, entry }) else { continue };
            text.extend(line.replace('\n', " ").into_bytes());
            text.push(b'\n');
            packed.push(&object.name);
        }
        if packed.is_empty() {
            return Ok(0);
        }
        let name = format!("{}/{}.jsonl.zst", layout::PACKS, layout::short(&sha256(&text)));
        self.put(&name, compress(&text))?;
        let deleted = parallel::map(&packed, |name| self.delete(name));
        deleted.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(packed.len())
    }
}
