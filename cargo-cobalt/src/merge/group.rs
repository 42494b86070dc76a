//! The runs of one experiment: which of them are of shards, and which of these count.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use cobalt::report::{Shard, SourcePlace};

use super::find::Found;

/// The runs that were found of one experiment.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// Where the newest of its shards, if any, says that it is declared.
    pub(super) declared_at: Option<SourcePlace>,
    /// The runs of each shard, the newest first.
    pub(super) shards: BTreeMap<Shard, Vec<Found>>,
    /// How many runs are of no shard.
    others: usize,
}

/// The experiments in the order in which they stand in the source. Two of one name in different files are two.
pub(super) fn groups(found: Vec<Found>) -> Vec<Group> {
    let mut by_place = BTreeMap::<_, Vec<Found>>::new();
    for run in found {
        let file = run.head.declared_at.as_ref().map(|place| place.file.clone());
        by_place.entry((file, run.head.name.clone())).or_default().push(run);
    }
    let mut groups: Vec<_> = by_place.into_iter().map(|((_, name), runs)| Group::of(name, runs)).collect();
    groups
        .sort_by_cached_key(|group| group.declared_at.as_ref().map(|place| (place.file.clone(), place.line)));
    groups
}

impl Group {
    fn of(name: String, mut runs: Vec<Found>) -> Self {
        // Of a run that was copied, the result file comes first.
        runs.sort_by_key(|run| Reverse((run.head.timestamp, run.is_finished)));
        let declared_at = runs.first().and_then(|run| run.head.declared_at.clone());
        let mut group = Self { name, declared_at, shards: BTreeMap::new(), others: 0 };
        for run in runs {
            let Some(shard) = run.head.shard else {
                group.others += 1;
                continue;
            };
            let known = group.shards.entry(shard).or_default();
            if !known.iter().any(|known| known.head.id == run.head.id) {
                known.push(run);
            }
        }
        group
    }

    /// Says that none of its runs is of a shard.
    pub(super) fn passed_over(&self) -> String {
        let are = if self.others == 1 { "1 run is".to_owned() } else { format!("{} runs are", self.others) };
        format!("{}: passed over, as its {are} of no shard", self.name)
    }

    /// Says which runs do not count.
    pub(super) fn notes(&self) -> Vec<String> {
        let several = self.shards.iter().filter(|(_, runs)| runs.len() > 1);
        let note = |(shard, runs): (&Shard, &Vec<Found>)| {
            format!(
                "{}: of {} runs of shard {shard}, the newest counts: `{}`",
                self.name,
                runs.len(),
                runs[0].path.display()
            )
        };
        several.map(note).collect()
    }

    /// The result files of the newest run of each shard, or why one of them has none.
    pub(super) fn newest(self) -> Result<Vec<PathBuf>, String> {
        let mut paths = Vec::with_capacity(self.shards.len());
        for (shard, runs) in self.shards {
            let Some(newest) = runs.into_iter().next() else { continue };
            if !newest.is_finished {
                let Found { path, head, .. } = newest;
                return Err(format!(
                    "run {} of shard {shard} did not come to its end: only its journal `{}` is there; where it was run, \
                     finish it with `cargo cobalt run --resume {}`, or run the shard anew",
                    head.id,
                    path.display(),
                    head.id
                ));
            }
            paths.push(newest.path);
        }
        Ok(paths)
    }
}
