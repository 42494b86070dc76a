//! Brings the local copy of the index up to date: lists the store, and fetches only what is new.

use std::collections::{BTreeSet, HashMap, HashSet};

use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;
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

/// The names of what the index of a store consists of, without their folders.
pub struct Listed {
    pub objects: BTreeSet<String>,
    pub packs: BTreeSet<String>,
    /// The IDs and hashes of the tombstones.
    pub tombstones: Vec<(String, String)>,
}

impl Remote {
    /// Updates the local copy of the index, and returns it. Only objects that are new are fetched.
    ///
    /// # Errors
    ///
    /// The store cannot be listed or read, or a newer version of Cobalt wrote it.
    pub fn sync(&self, layout: &Layout) -> Result<RemoteIndex, RemoteError> {
        let mut index = self.local_index(layout)?;
        // A folder that is not mounted, or a bucket that was created again, must not empty the copy.
        if !self.check_format()? {
            self.check_not_lost(&index)?;
        }
        let changes = self.changes(&index)?;
        index.apply(&changes)?;
        index.damaged = changes.damaged;
        Ok(index)
    }

    /// What is new in the store, and what is gone.
    fn changes(&self, index: &RemoteIndex) -> Result<IndexChanges, RemoteError> {
        // Before the store is listed: another process may note what this list lacks.
        let known: HashMap<_, _> = index.names()?.into_iter().collect();
        let read = index.read_objects()?;
        let Listed { objects, packs, tombstones } = self.list_index()?;
        let mut changes = IndexChanges { tombstones, ..IndexChanges::default() };

        // What a lost pack listed may be in another one, which was read before.
        let has_lost_pack = known.values().flatten().any(|pack| !packs.contains(pack));
        for pack in packs.iter().filter(|pack| has_lost_pack || !read.contains(*pack)) {
            match self.read_pack(pack) {
                Ok(Some(entries)) => {
                    changes.entries.extend(entries.into_iter().map(|entry| (entry, Some(pack.clone()))));
                    changes.read_objects.push(pack.clone());
                }
                // It was replaced since it was listed.
                Ok(None) => {}
                Err(error @ RemoteError::Damaged { .. }) => {
                    self.warn(format!("{error}; the runs that only it lists are missing here"));
                    changes.damaged.push(format!("{}/{pack}", layout::PACKS));
                }
                Err(error) => return Err(error),
            }
        }
        let packed: HashSet<_> = changes.entries.iter().map(|(entry, _)| entry.name()).collect();
        let is_new =
            |name: &&String| !known.contains_key(*name) && !packed.contains(*name) && !read.contains(*name);
        let new: Vec<_> = objects.iter().filter(is_new).cloned().collect();
        self.read_objects(new, &mut changes)?;
        let is_gone = |(name, pack): &(String, Option<String>)| {
            let is_packed = pack.as_ref().is_some_and(|pack| packs.contains(pack));
            !is_packed && !objects.contains(name) && !packed.contains(name)
        };
        changes.gone = known.into_iter().filter(is_gone).map(|(name, _)| name).collect();
        let is_unlisted = |name: &String| !packs.contains(name) && !objects.contains(name);
        changes.unlisted = read.into_iter().filter(is_unlisted).collect();
        changes.packs = packs.into_iter().collect();
        Ok(changes)
    }

    /// Lists the index. Index objects are listed before packs: one that is packed and deleted in the meantime is in a pack that the
    /// second list has.
    pub fn list_index(&self) -> Result<Listed, RemoteError> {
        let objects = self.names(layout::INDEX)?.into_iter().collect();
        // Other files do not belong to the index.
        let packs = self
            .names(layout::PACKS)?
            .into_iter()
            .filter(|name| layout::parse_pack(name).is_some())
            .collect();
        let tombstones = self.names(layout::REMOVED)?;
        let tombstones = tombstones.iter().filter_map(|name| layout::parse_tombstone(name));
        let tombstones = tombstones.map(|(id, hash)| (id.to_owned(), hash.to_owned())).collect();
        Ok(Listed { objects, packs, tombstones })
    }

    /// Reads index objects.
    fn read_objects(&self, names: Vec<String>, changes: &mut IndexChanges) -> Result<(), RemoteError> {
        let fetched = parallel::map(&names, |name| self.get(&format!("{}/{name}", layout::INDEX)));
        for (name, content) in names.into_iter().zip(fetched) {
            // It may have been deleted since it was listed.
            let read = match content {
                Ok(Some(content)) => self.read_entry(&name, &content),
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            match read {
                Ok(Some(entry)) => changes.entries.push((entry, None)),
                // It may be readable after an update.
                Ok(None) => {}
                // Such as a file of the system.
                Err(RemoteError::Damaged { .. }) if layout::parse_index(&name).is_none() => {
                    changes.read_objects.push(name);
                }
                Err(error @ RemoteError::Damaged { .. }) => {
                    self.warn(format!("{error}; its run is missing here"));
                    changes.damaged.push(format!("{}/{name}", layout::INDEX));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The entry of an index object; `None`, with a warning, if a newer version of Cobalt wrote it.
    pub fn read_entry(&self, name: &str, content: &[u8]) -> Result<Option<RemoteEntry>, RemoteError> {
        let object = format!("{}/{name}", layout::INDEX);
        let entry = RemoteEntry::read(name, content).map_err(|problem| self.damaged(&object, &problem))?;
        if entry.is_none() {
            let url = self.url();
            self.warn(format!(
                "a newer version of Cobalt wrote `{object}` in the remote store `{url}`, so its run is missing here; update Cobalt"
            ));
        }
        Ok(entry)
    }

    /// The names of the objects in a folder, without it.
    pub fn names(&self, folder: &str) -> Result<Vec<String>, RemoteError> {
        let name = |name: String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        Ok(self.list(folder)?.into_iter().filter_map(|object| name(object.name)).collect())
    }

    /// The entries of a pack; `None` if there is no such pack.
    pub fn read_pack(&self, pack: &str) -> Result<Option<Vec<RemoteEntry>>, RemoteError> {
        let object = format!("{}/{pack}", layout::PACKS);
        let Some(content) = self.get(&object)? else { return Ok(None) };
        let damaged = |problem: &str| self.damaged(&object, problem);
        let text = self.decompress(&object, &content, layout::largest(&object))?;
        if layout::parse_pack(pack) != Some(layout::short(&sha256(&text))) {
            return Err(damaged("its content does not match its name"));
        }
        let mut entries = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let packed: PackedEntry =
                serde_json::from_slice(line).map_err(|error| damaged(&error.to_string()))?;
            match self.read_entry(&packed.name, packed.entry.get().as_bytes()) {
                Ok(entry) => entries.extend(entry),
                // Earlier versions packed damaged objects and other files; the rest of the pack is whole, as its hash says.
                Err(RemoteError::Damaged { .. }) if layout::parse_index(&packed.name).is_none() => {}
                Err(error @ RemoteError::Damaged { .. }) => {
                    self.warn(format!("{error}; its run is missing here"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(entries))
    }
}
