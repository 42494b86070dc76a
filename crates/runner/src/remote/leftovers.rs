//! Objects that no listed run needs: of runs whose deletion was interrupted, of pushes that did not end, and of old shards.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, SystemTime};

use super::error::RemoteError;
use super::layout;
use super::local_index::RemoteIndex;
use super::store::{Remote, RemoteObject};

/// Newer objects may belong to a push or to shards that are in progress.
const IN_PROGRESS: Duration = Duration::from_secs(24 * 60 * 60);

/// What may be deleted.
#[derive(Debug, Default)]
pub struct Leftovers {
    pub objects: Vec<RemoteObject>,
    /// How many result files are not deleted although no index object names them: there are so many that the index must have been lost.
    pub unlisted: usize,
}

impl Remote {
    /// Finds the leftovers: all of deleted runs, and others if they were written before some time.
    pub fn leftovers(
        &self,
        index: &RemoteIndex,
        before: Option<SystemTime>,
    ) -> Result<Leftovers, RemoteError> {
        let before = before.zip(SystemTime::now().checked_sub(IN_PROGRESS));
        let before = before.map(|(before, settled)| before.min(settled));
        let tombstones = index.all_tombstones()?;
        if before.is_none() && tombstones.is_empty() {
            return Ok(Leftovers::default());
        }
        let mut found = Leftovers::default();
        let runs = self.list(layout::RUNS)?;
        let names = self.list(layout::INDEX)?;
        let listed: HashSet<_> = names.iter().filter_map(|object| index_object(&object.name)).collect();
        let is_removed = |id: &str, hash: &str| tombstones.contains(&(id.to_owned(), hash.to_owned()));
        found.objects.extend(
            names
                .iter()
                .filter(|object| index_object(&object.name).is_some_and(|(id, hash)| is_removed(id, hash)))
                .cloned(),
        );
        let mut unlisted = Vec::new();
        let mut items = ItemsInUse::new(self, index)?;
        for object in runs {
            match layout::parse_result(&object.name) {
                Some((id, hash)) if is_removed(id, hash) => found.objects.push(object),
                Some((id, hash)) if !listed.contains(&(id, hash)) && !index.has(id, Some(hash))? => {
                    unlisted.push(object);
                }
                Some(_) => {}
                None if items.is_of_removed(&object)? => found.objects.push(object),
                None if items.is_unused(&object)? => unlisted.push(object),
                None => {}
            }
        }
        if let Some(before) = before {
            found.add_unlisted(unlisted, index, before)?;
            found.objects.extend(self.old_shards(before)?);
        }
        Ok(found)
    }

    /// The objects of groups of shards of which nothing was written since.
    fn old_shards(&self, before: SystemTime) -> Result<Vec<RemoteObject>, RemoteError> {
        let mut groups = BTreeMap::<_, Vec<RemoteObject>>::new();
        for folder in [layout::JOURNALS, layout::PLANS] {
            for object in self.list(folder)? {
                let group = object.name.split('/').nth(1).unwrap_or_default().to_owned();
                groups.entry(group).or_default().push(object);
            }
        }
        let is_old = |objects: &Vec<RemoteObject>| objects.iter().all(|object| object.modified < before);
        Ok(groups.into_values().filter(is_old).flatten().collect())
    }

    /// Deletes objects.
    pub fn delete_all(&self, objects: &[RemoteObject]) -> Result<(), RemoteError> {
        let deleted = super::parallel::map(objects, |object| self.delete(&object.name));
        deleted.into_iter().collect()
    }
}

impl Leftovers {
    /// Adds objects of pushes that did not end. If the index was lost, all runs look like that.
    fn add_unlisted(
        &mut self,
        mut objects: Vec<RemoteObject>,
        index: &RemoteIndex,
        before: SystemTime,
    ) -> Result<(), RemoteError> {
        objects.retain(|object| object.modified < before);
        let results = objects.iter().filter(|object| layout::parse_result(&object.name).is_some()).count();
        if results > index.names()?.len() || !index.damaged.is_empty() {
            self.unlisted = results;
        } else {
            self.objects.extend(objects);
        }
        Ok(())
    }
}

/// The ID and the hash in the name of an index object.
fn index_object(object: &str) -> Option<(&str, &str)> {
    layout::parse_index(object.strip_prefix(layout::INDEX)?.strip_prefix('/')?)
}

/// Tells which files of items belong to listed runs. Their names have a hash of their own, which no tombstone names.
struct ItemsInUse<'a> {
    index: &'a RemoteIndex,
    /// When the newest tombstone of each run was written.
    removed: BTreeMap<String, SystemTime>,
    /// The files of items of the runs that were looked up.
    used: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> ItemsInUse<'a> {
    fn new(remote: &Remote, index: &'a RemoteIndex) -> Result<Self, RemoteError> {
        let mut removed = BTreeMap::<_, SystemTime>::new();
        for object in remote.list(layout::REMOVED)? {
            let name = object.name.rsplit('/').next().unwrap_or_default();
            let Some((id, _)) = layout::parse_tombstone(name) else { continue };
            let time = removed.entry(id.to_owned()).or_insert(object.modified);
            *time = object.modified.max(*time);
        }
        Ok(Self { index, removed, used: BTreeMap::new() })
    }

    /// Whether the run was deleted after these items were written, and no other content of it uses them.
    fn is_of_removed(&mut self, object: &RemoteObject) -> Result<bool, RemoteError> {
        let Some(id) = layout::run_of(&object.name) else { return Ok(false) };
        let is_older = self.removed.get(id).is_some_and(|removed| object.modified <= *removed);
        Ok(is_older && self.is_unused(object)?)
    }

    fn is_unused(&mut self, object: &RemoteObject) -> Result<bool, RemoteError> {
        let Some(id) = layout::run_of(&object.name).filter(|id| layout::is_items_of(&object.name, id)) else {
            return Ok(false);
        };
        if !self.used.contains_key(id) {
            let entries = self.index.versions(id)?;
            let used = entries.iter().filter_map(super::entry::RemoteEntry::items_object).collect();
            self.used.insert(id.to_owned(), used);
        }
        Ok(!self.used[id].contains(&object.name))
    }
}
