//! Brings the local copy of the index up to date: lists the store, and fetches only what is new.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use cobalt_core::store::Layout;
use ruzstd::decoding::StreamingDecoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::local_index::{IndexChanges, RemoteIndex};
use super::store::Remote;
use super::{layout, parallel};

/// A line of a pack.
#[derive(Debug, Serialize, Deserialize)]
pub struct PackedEntry {
    /// The name of the index object, without the folder.
    pub name: String,
    pub entry: Box<RawValue>,
}

impl Remote {
    /// Updates the local copy of the index, and returns it. Only objects that are new are fetched.
    ///
    /// # Errors
    ///
    /// The store cannot be listed or read, or a newer version of Cobalt wrote it.
    pub fn sync(&self, layout: &Layout) -> Result<RemoteIndex, RemoteError> {
        let mut index = RemoteIndex::open(layout, self.url())?;
        // A folder that is not mounted, or a bucket that was created again, must not empty the copy.
        if !self.check_format()? && !index.names()?.is_empty() {
            return Err(RemoteError::Lost { url: self.url().to_owned() });
        }
        let changes = self.changes(&index)?;
        index.apply(&changes)?;
        Ok(index)
    }

    /// What is new in the store. Index objects are listed before packs: an object that is packed and deleted in the meantime is in a
    /// pack that the second list has.
    fn changes(&self, index: &RemoteIndex) -> Result<IndexChanges, RemoteError> {
        let listed = self.names(layout::INDEX)?;
        let packs = self.names(layout::PACKS)?;
        let tombstones = self.names(layout::REMOVED)?;
        let tombstones = tombstones.iter().filter_map(|name| layout::parse_tombstone(name));
        let tombstones = tombstones.map(|(id, hash)| (id.to_owned(), hash.to_owned())).collect();
        let mut changes = IndexChanges { tombstones, ..IndexChanges::default() };

        let read = index.read_objects()?;
        let known: HashMap<_, _> = index.names()?.into_iter().collect();
        for pack in packs.iter().filter(|pack| !read.contains(*pack)) {
            // One that was just replaced by a larger pack is gone.
            let Some(entries) = self.read_pack(pack)? else { continue };
            changes.entries.extend(entries.into_iter().map(|entry| (entry, Some(pack.clone()))));
            changes.read_objects.push(pack.clone());
        }
        let packed: HashSet<_> = changes.entries.iter().map(|(entry, _)| entry.name()).collect();
        let is_new =
            |name: &&String| !known.contains_key(*name) && !packed.contains(*name) && !read.contains(*name);
        let new: Vec<_> = listed.iter().filter(is_new).cloned().collect();
        let fetched = parallel::map(&new, |name| self.get(&format!("{}/{name}", layout::INDEX)));
        for (name, content) in new.into_iter().zip(fetched) {
            // It may have been deleted since it was listed.
            let Some(content) = content? else { continue };
            match RemoteEntry::parse(&content) {
                Some(entry) if entry.name() == name => changes.entries.push((entry, None)),
                _ => changes.read_objects.push(name),
            }
        }
        let present: HashSet<_> = listed.iter().collect();
        let is_gone = |(name, is_packed): &(String, bool)| {
            !is_packed && !present.contains(name) && !packed.contains(name)
        };
        changes.gone = known.into_iter().filter(is_gone).map(|(name, _)| name).collect();
        Ok(changes)
    }

    /// The names of the objects in a folder, without it.
    pub fn names(&self, folder: &str) -> Result<Vec<String>, RemoteError> {
        let name = |name: String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        Ok(self.list(folder)?.into_iter().filter_map(|object| name(object.name)).collect())
    }

    /// The entries of a pack; `None` if there is no such pack.
    fn read_pack(&self, pack: &str) -> Result<Option<Vec<RemoteEntry>>, RemoteError> {
        let object = format!("{}/{pack}", layout::PACKS);
        let Some(content) = self.get(&object)? else { return Ok(None) };
        let damaged = |problem: String| RemoteError::Damaged {
            url: self.url().to_owned(),
            object: object.clone(),
            problem,
        };
        let decoder = StreamingDecoder::new(&content[..]).map_err(|error| damaged(error.to_string()))?;
        let mut entries = Vec::new();
        for line in BufReader::new(decoder).lines() {
            let line = line.map_err(|error| damaged(error.to_string()))?;
            let packed: PackedEntry =
                serde_json::from_str(&line).map_err(|error| damaged(error.to_string()))?;
            let entry = RemoteEntry::parse(packed.entry.get().as_bytes());
            entries.extend(entry.filter(|entry| entry.name() == packed.name));
        }
        Ok(Some(entries))
    }
}
