//! Makes the index objects of runs again, from their result files: what a lost or damaged index needs.

use std::collections::HashSet;

use cobalt_core::report::Timestamp;
use cobalt_core::store::{PartsIndex, strip_bom};
use serde::Deserialize;

use super::entry::{RemoteEntry, RemoteFile};
use super::error::RemoteError;
use super::store::{Remote, RemoteObject};
use super::sync::Listed;
use super::{layout, parallel};
use crate::index::parse_run;

/// The fields of a result file that show whether its items are in a separate file, and whether it is redacted.
#[derive(Deserialize)]
struct FileFields {
    parts: Option<PartsIndex>,
    #[serde(default)]
    redacted: bool,
}

/// What a rebuild of the index did.
#[derive(Debug, Default)]
pub struct Rebuilt {
    /// The runs that are listed again.
    pub added: Vec<RemoteEntry>,
    /// The damaged objects of the index, which were replaced or deleted.
    pub replaced: Vec<String>,
    /// Runs that cannot be listed, as they are damaged themselves.
    pub failed: Vec<RemoteError>,
}

impl Remote {
    /// Reads the whole index in the store, writes the index objects that are missing or damaged, and deletes damaged packs.
    pub fn rebuild_index(&self) -> Result<Rebuilt, RemoteError> {
        let Listed { objects: names, packs, tombstones } = self.list_index()?;
        // Other files do not belong to the index.
        let names: Vec<_> = names.into_iter().filter(|name| layout::parse_index(name).is_some()).collect();
        let mut listed: HashSet<(String, String)> = tombstones.into_iter().collect();
        let mut damaged = Vec::new();
        let identify =
            |entry: &RemoteEntry| (entry.run.id.clone(), layout::short(&entry.result.hash).to_owned());
        for pack in packs {
            match self.read_pack(&pack) {
                Ok(entries) => listed.extend(entries.iter().flatten().map(identify)),
                Err(RemoteError::Damaged { object, .. }) => damaged.push(object),
                Err(error) => return Err(error),
            }
        }
        let read = parallel::map(&names, |name| {
            let content = self.get(&format!("{}/{name}", layout::INDEX))?;
            content.map(|content| self.read_entry(name, &content)).transpose()
        });
        for (name, read) in names.iter().zip(read) {
            match read {
                // One of a newer version is left alone.
                Ok(Some(_)) => listed
                    .extend(layout::parse_index(name).map(|(id, hash)| (id.to_owned(), hash.to_owned()))),
                Ok(None) => {}
                Err(RemoteError::Damaged { object, .. }) => damaged.push(object),
                Err(error) => return Err(error),
            }
        }
        let mut rebuilt = Rebuilt::default();
        let objects = self.list(layout::RUNS)?;
        let results = objects.iter().filter_map(|object| Some((layout::parse_result(&object.name)?, object)));
        let missing: Vec<_> = results
            .filter(|((id, hash), _)| !listed.contains(&((*id).to_owned(), (*hash).to_owned())))
            .collect();
        let entries =
            parallel::map(&missing, |((id, hash), object)| self.rebuild(id, hash, object, &objects));
        let mut failed = HashSet::new();
        for (((id, _), _), entry) in missing.iter().zip(entries) {
            match entry {
                Ok(entry) => rebuilt.added.extend(entry),
                Err(error @ RemoteError::Damaged { .. }) => {
                    failed.insert(*id);
                    rebuilt.failed.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        // What only they listed is listed again.
        let written: HashSet<_> =
            rebuilt.added.iter().map(|entry| format!("{}/{}", layout::INDEX, entry.name())).collect();
        for object in damaged {
            let name = object.rsplit_once('/').map_or(&*object, |(_, name)| name);
            // Lists stay known as incomplete while a run cannot be listed.
            let is_needed = match layout::parse_index(name) {
                Some((id, _)) => failed.contains(id),
                None => !failed.is_empty(),
            };
            if is_needed {
                continue;
            }
            if !written.contains(&object) {
                self.delete(&object)?;
            }
            rebuilt.replaced.push(object);
        }
        Ok(rebuilt)
    }

    /// Writes the index object of a result file; `None` if its items did not arrive.
    fn rebuild(
        &self,
        id: &str,
        hash: &str,
        object: &RemoteObject,
        objects: &[RemoteObject],
    ) -> Result<Option<RemoteEntry>, RemoteError> {
        let damaged = |problem: &str| self.damaged(&object.name, problem);
        let Some(bytes) = self.get(&object.name)? else { return Ok(None) };
        let stored_bytes = bytes.len() as u64;
        let (bytes, full_hash) = self.decompressed_by_name(&object.name, &bytes, hash)?;
        let run = parse_run(strip_bom(&bytes)).map_err(|error| damaged(&error.to_string()))?;
        if run.id != id {
            return Err(damaged("it is the result of another run"));
        }
        let fields: FileFields =
            serde_json::from_slice(strip_bom(&bytes)).map_err(|error| damaged(&error.to_string()))?;
        let items = match fields.parts {
            None => None,
            Some(parts) => match self.find_items(id, parts.bytes, objects)? {
                Some(items) => Some(items),
                None => return Ok(None),
            },
        };
        let entry = RemoteEntry {
            format: layout::FORMAT_VERSION,
            pushed_at: Timestamp::from(object.modified).to_string(),
            repeated: 0,
            redacted: fields.redacted,
            run,
            result: RemoteFile { hash: full_hash, bytes: bytes.len() as u64, stored_bytes },
            items,
        };
        let text = entry.to_bytes().map_err(|error| damaged(&error.to_string()))?;
        self.put(&format!("{}/{}", layout::INDEX, entry.name()), text)?;
        Ok(Some(entry))
    }

    /// The items of a run: the object of this size.
    fn find_items(
        &self,
        id: &str,
        bytes: u64,
        objects: &[RemoteObject],
    ) -> Result<Option<RemoteFile>, RemoteError> {
        let found =
            objects.iter().find(|object| object.bytes == bytes && layout::is_items_of(&object.name, id));
        let Some(object) = found else { return Ok(None) };
        let file = tempfile::NamedTempFile::new().map_err(|source| RemoteError::File {
            action: "write",
            path: std::env::temp_dir(),
            source,
        })?;
        let (hash, bytes) = self.download(&object.name, file.path(), None)?;
        Ok(Some(RemoteFile { hash, bytes, stored_bytes: bytes }))
    }
}
