//! Which runs of a store are old, and deleting them. The newest complete run of a branch always stays.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::local_index::RemoteIndex;
use super::store::Remote;
use super::{layout, parallel};

/// Which runs stay.
#[derive(Clone, Debug, Default)]
pub struct RemoteRetention {
    /// Runs that started before this may go, in the format of a run's timestamp; `None` for all.
    pub before: Option<String>,
    /// How many complete runs of an experiment and branch stay, and all that are newer than the oldest of them.
    pub keep: Option<usize>,
}

impl RemoteRetention {
    /// The runs that may go, oldest first. `entries` are all runs, newest first.
    pub fn select(&self, entries: Vec<RemoteEntry>) -> Vec<RemoteEntry> {
        let mut groups = BTreeMap::<_, Vec<RemoteEntry>>::new();
        for entry in entries {
            let key = (entry.run.name.clone(), entry.run.git_branch.clone());
            groups.entry(key).or_default().push(entry);
        }
        let mut old: Vec<_> = groups.into_values().flat_map(|group| self.select_of_group(group)).collect();
        old.sort_by(|one, other| one.run.timestamp.cmp(&other.run.timestamp));
        old
    }

    fn select_of_group(&self, group: Vec<RemoteEntry>) -> Vec<RemoteEntry> {
        let stay = self.keep.unwrap_or(1).max(1);
        let whole = group.iter().filter(|entry| !entry.run.partial);
        let oldest_kept = whole.take(stay).last().map(|entry| entry.run.timestamp.clone());
        let is_old = |entry: &RemoteEntry| {
            let timestamp = &entry.run.timestamp;
            // Without a complete run, only the age counts.
            let is_superseded =
                oldest_kept.as_ref().map_or(self.before.is_some(), |oldest| timestamp < oldest);
            is_superseded && self.before.as_ref().is_none_or(|before| timestamp < before)
        };
        group.into_iter().filter(is_old).collect()
    }
}

/// How many runs were deleted, and why the others were not.
#[derive(Debug)]
pub struct Removal {
    pub runs: usize,
    pub error: Option<RemoteError>,
}

impl Remote {
    /// Deletes runs with everything that the store has of them: a tombstone first, as packs may list them, then files and index objects.
    /// If it is interrupted, what is left is among the [leftovers](Self::leftovers).
    pub fn remove(&self, index: &RemoteIndex, entries: &[RemoteEntry]) -> Result<Removal, RemoteError> {
        // A run that was pushed with several labels has several index objects.
        let runs = entries.iter().map(|entry| index.versions(&entry.run.id));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let mut removal = Removal { runs: 0, error: None };
        let remove_run =
            |versions: &Vec<RemoteEntry>| versions.iter().try_for_each(|entry| self.remove_entry(entry));
        parallel::for_each(&runs, remove_run, |_, removed| match removed {
            Ok(()) => {
                removal.runs += 1;
                ControlFlow::Continue(())
            }
            Err(error) => {
                removal.error.get_or_insert(error);
                ControlFlow::Break(())
            }
        });
        Ok(removal)
    }

    fn remove_entry(&self, entry: &RemoteEntry) -> Result<(), RemoteError> {
        self.put(&layout::tombstone(&entry.run.id, &entry.result.hash), Vec::new())?;
        self.delete(&entry.result_object())?;
        entry.items_object().map_or(Ok(()), |items| self.delete(&items))?;
        self.delete(&format!("{}/{}", layout::INDEX, entry.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    /// Runs of an experiment, each with its branch, day and whether it is partial, newest first.
    fn runs(runs: &[(&str, &str, u32, bool)]) -> Vec<RemoteEntry> {
        let mut entries: Vec<_> = runs
            .iter()
            .map(|(id, branch, day, partial)| {
                let mut entry = entry(id, *day);
                entry.run.git_branch = Some((*branch).to_owned());
                entry.run.partial = *partial;
                entry
            })
            .collect();
        entries.sort_by(|one, other| other.run.timestamp.cmp(&one.run.timestamp));
        entries
    }

    fn selected(before: Option<u32>, keep: Option<usize>, entries: Vec<RemoteEntry>) -> Vec<String> {
        let before = before.map(|day| format!("2026-02-{day:02}T00:00:00.000Z"));
        let old = RemoteRetention { before, keep }.select(entries);
        old.into_iter().map(|entry| entry.run.id).collect()
    }

    #[test]
    fn the_newest_complete_run_of_a_branch_stays_whatever_its_age() {
        let all = || {
            runs(&[
                ("a", "main", 1, false),
                ("b", "main", 2, false),
                ("c", "fix", 1, false),
                ("d", "main", 3, true),
            ])
        };
        assert_eq!(selected(Some(20), None, all()), ["a"]);
        assert_eq!(selected(None, Some(1), all()), ["a"]);
        assert_eq!(selected(Some(20), Some(2), all()), [""; 0]);
        assert_eq!(selected(Some(1), None, all()), [""; 0]);
    }

    #[test]
    fn partial_runs_go_with_the_complete_ones_around_them() {
        let all = || {
            runs(&[
                ("a", "main", 1, true),
                ("b", "main", 2, false),
                ("c", "main", 3, true),
                ("d", "main", 4, false),
            ])
        };
        assert_eq!(selected(None, Some(1), all()), ["a", "b", "c"]);
        assert_eq!(selected(None, Some(2), all()), ["a"]);
        let only_partial = || runs(&[("a", "main", 1, true), ("b", "main", 9, true)]);
        assert_eq!(selected(None, Some(1), only_partial()), [""; 0]);
        assert_eq!(selected(Some(5), None, only_partial()), ["a"]);
    }
}
