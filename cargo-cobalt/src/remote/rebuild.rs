//! Makes the index objects of runs again, from their result files: what a lost or damaged index needs.

use cobalt_core::report::Timestamp;
use cobalt_core::store::{PartsIndex, strip_bom};
use serde::Deserialize;

use super::entry::{RemoteEntry, RemoteFile};
use super::error::RemoteError;
use super::local_index::RemoteIndex;
use super::store::{Remote, RemoteObject};
use super::{layout, parallel};
use crate::index::parse_run;

/// The fields of a result file that show whether its items are in a separate file, and whether it is redacted.
#[derive(Deserialize)]
struct FileFields {
    parts: Option<PartsIndex>,
    #[serde(default)]
    redacted: bool,
}

impl Remote {
    /// Writes the missing index objects, and deletes damaged packs. Returns the runs.
    pub fn rebuild_index(&self, index: &RemoteIndex) -> Result<Vec<RemoteEntry>, RemoteError> {
        let objects = self.list(layout::RUNS)?;
        let mut missing = Vec::new();
        for object in &objects {
            let Some((id, hash)) = layout::parse_result(&object.name) else { continue };
            if !index.has(id, Some(hash))? && !index.tombstones(id)?.iter().any(|gone| gone == hash) {
                missing.push((id, hash, object));
            }
        }
        let entries = parallel::map(&missing, |(id, hash, object)| self.rebuild(id, hash, object, &objects));
        let entries = entries.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        // What only they listed is listed again.
        for pack in &index.damaged_packs {
            self.delete(&format!("{}/{pack}", layout::PACKS))?;
        }
        Ok(entries)
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
        let text = serde_json::to_vec(&entry).map_err(|error| damaged(&error.to_string()))?;
        self.create(&format!("{}/{}", layout::INDEX, entry.name()), text)?;
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
        let (hash, bytes) = self.download(&object.name, file.path())?;
        Ok(Some(RemoteFile { hash, bytes, stored_bytes: bytes }))
    }
}
