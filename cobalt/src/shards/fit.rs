//! Whether the files of shards are parts of one run, and their items in order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::MOST_NAMED;
use super::{MergeError, ShardFile};
use crate::report::{DatasetSummary, ItemResult, Report, Shard, check_items};

/// Refuses files that are not of shards, and that differ in what makes their results parts of one run.
pub(super) fn check(files: &[ShardFile]) -> Result<(), MergeError> {
    for ShardFile { path, report } in files {
        if report.shard.is_none() {
            return Err(MergeError::NoShard { path: path.clone() });
        }
        if report.dataset.as_ref().is_none_or(|dataset| dataset.items == 0) {
            return Err(MergeError::NoData { path: path.clone() });
        }
        if let Err((place, problem)) = check_items(report) {
            let ItemResult { index, key, .. } = &report.items[place];
            return Err(MergeError::Damaged { path: path.clone(), index: *index, key: key.clone(), problem });
        }
    }
    let mut first_known = BTreeMap::new();
    for file in files {
        for (what, value) in traits(&file.report) {
            let (first, known) = first_known.entry(what).or_insert_with(|| (file, value.clone()));
            if *known != value {
                let paths = [first, file].map(|file| file.path.clone());
                return Err(MergeError::Differ { what, paths, values: [known.clone(), value] });
            }
        }
    }
    Ok(())
}

/// What must be the same in all shards, as text, as far as a file tells it.
fn traits(report: &Report) -> impl Iterator<Item = (&'static str, String)> {
    let config = &report.config;
    // The same items may have been fetched at several times.
    let data = |DatasetSummary { source, items, hash, fetched: _ }: &DatasetSummary| {
        format!("{items} items of `{source}` with hash {}", beginning(hash))
    };
    let list = |texts: &[String]| format!("[{}]", texts.join(", "));
    let marks: Vec<_> = config.pass_marks.iter().map(ToString::to_string).collect();
    [
        ("the experiments", Some(format!("`{}`", report.name))),
        ("the numbers of shards", report.shard.map(|shard| shard.of().to_string())),
        ("the data", report.dataset.as_ref().map(data)),
        ("the commits", report.git.as_ref().map(|git| beginning(&git.commit).to_owned())),
        ("the sources", report.sources.as_ref().map(|hash| format!("hash {}", beginning(hash)))),
        ("the numbers of runs", Some(config.runs.to_string())),
        ("the timeouts", Some(format!("{} ms", config.timeout))),
        ("the evaluators", Some(list(&config.evaluators))),
        ("the pass marks", Some(list(&marks))),
        ("the settings of the evaluators", Some(list(&config.evaluator_hashes))),
        ("the settings `strict`", Some(config.strict.to_string())),
        ("the thresholds", Some(list(&config.thresholds))),
        // Their names may tell of a bound by another word than its value.
        ("the bounds of the thresholds", Some(list(&config.written_thresholds))),
    ]
    .into_iter()
    .filter_map(|(what, value)| Some((what, value?)))
}

/// As much of a hash as tells it from others.
fn beginning(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// The value that all have, where all have the same.
pub(super) fn common<'a, T: PartialEq>(mut values: impl Iterator<Item = Option<&'a T>>) -> Option<&'a T> {
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// All items in their order, each from the one file that has it.
pub(super) fn items(files: Vec<ShardFile>) -> Result<Vec<ItemResult>, MergeError> {
    let dataset = files.first().and_then(|file| file.report.dataset.as_ref());
    let expected = dataset.map_or(0, |dataset| dataset.items);
    let shards: Vec<_> = files.iter().filter_map(|file| file.report.shard).collect();
    let mut items = BTreeMap::<usize, (ItemResult, PathBuf)>::new();
    let mut present = Vec::with_capacity(files.len());
    for ShardFile { path, report } in files {
        for item in report.items {
            let index = item.index;
            if index >= expected {
                return Err(MergeError::Foreign { path, index, items: expected });
            }
            if let Some((item, other)) = items.insert(index, (item, path.clone())) {
                return Err(MergeError::Twice { index, key: item.key, paths: [other, path] });
            }
        }
        present.push(path);
    }
    let missing = expected - items.len();
    if missing == 0 {
        return Ok(items.into_values().map(|(item, _)| item).collect());
    }
    let first = (0..expected).filter(|index| !items.contains_key(index)).take(MOST_NAMED).collect();
    Err(MergeError::Missing { first, missing, items: expected, absent: absent(&shards), present })
}

/// The shards that are not among these.
fn absent(present: &[Shard]) -> Vec<Shard> {
    let Some(first) = present.first() else { return Vec::new() };
    first.siblings().filter(|shard| !present.contains(shard)).collect()
}
