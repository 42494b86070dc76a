//! Why shards cannot be merged.

use std::path::PathBuf;

use cobalt_core::report::{ItemError, Shard, ThresholdError};
use cobalt_core::wording::{count, group_thousands};

use crate::error::Error;

/// A short prefix of a hash.
pub fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// The maximum number of items in a message.
pub const MAX_NAMED: usize = 8;

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no files.
    #[error("no shard to merge; pass the result files of runs with --shard")]
    NoShards,

    /// A file is not from a shard.
    #[error("`{}` is not the result file of a shard; remove it, or run its experiment with --shard", .path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
    },

    /// A file does not contain the dataset of its run.
    #[error("`{}` does not name its dataset; run the shard again", .path.display())]
    NoDataset {
        /// The file.
        path: PathBuf,
    },

    /// An item has impossible values.
    #[error(
        "item {index} (`{key}`) in `{}` is damaged: {problem}; copy the file again from the machine that ran the shard, or run the \
         shard again",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The item's index in the dataset, from 0.
        index: usize,
        /// Its key.
        key: String,
        /// What is wrong with it.
        problem: ItemError,
    },

    /// Two files are not parts of one run.
    #[error(
        "`{}` and `{}` do not belong together: {what} differ ({} and {}); run all shards again with the same settings, or pass \
         only files that belong together",
        .paths[0].display(), .paths[1].display(), .values[0], .values[1]
    )]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// The two files.
        paths: [PathBuf; 2],
        /// Their values.
        values: [String; 2],
    },

    /// The shards are of several groups.
    #[error(
        "the shards belong to different groups: {}; pass only the files of one group, or choose it with --shard-group",
        groups_message(.groups)
    )]
    SeveralGroups {
        /// The groups, each with its shards. `None` are shards without a group.
        groups: Vec<(Option<String>, Vec<Shard>)>,
    },

    /// Two shards were balanced by different latencies.
    #[error(
        "the shards in `{}` and `{}` do not belong together: the first is {}, the second {}; give all machines the same baseline and, if you use it, the \
         same --balance, and run all shards again",
        .paths[0].display(), .paths[1].display(), balanced_by(.plans[0].as_deref()), balanced_by(.plans[1].as_deref())
    )]
    OtherPlan {
        /// The two files.
        paths: [PathBuf; 2],
        /// The hashes of their plans, if they were balanced.
        plans: [Option<String>; 2],
    },

    /// Two files contain the same item.
    #[error(
        "item {index} (`{key}`) is in both `{}` and `{}`; remove one of the files",
        .paths[0].display(), .paths[1].display()
    )]
    DuplicateItem {
        /// The item's index in the dataset, from 0.
        index: usize,
        /// Its key.
        key: String,
        /// The two files.
        paths: [PathBuf; 2],
    },

    /// A file contains an item that is not in its dataset.
    #[error("`{}` contains item {index}, but its dataset has {}; run the shard again", .path.display(), count(*.items, "item"))]
    ItemOutOfRange {
        /// The file.
        path: PathBuf,
        /// The item's index, from 0.
        index: usize,
        /// How many items the dataset has.
        items: usize,
    },

    /// Items are missing from all files.
    #[error("{}", missing_items_message(.first, *.missing, *.items, .absent, .present))]
    MissingItems {
        /// The indexes of the first ones in the dataset, from 0.
        first: Vec<usize>,
        /// How many are missing.
        missing: usize,
        /// How many items the dataset has.
        items: usize,
        /// The shards without a file.
        absent: Vec<Shard>,
        /// The given files.
        present: Vec<PathBuf>,
    },

    /// A threshold in the files cannot be parsed.
    #[error(
        "the thresholds of `{experiment}` cannot be read from its result files: {source}; run the shards again"
    )]
    Thresholds {
        /// The experiment.
        experiment: String,
        /// What is wrong.
        source: ThresholdError,
    },

    /// The baseline cannot be read.
    #[error(transparent)]
    Baseline(#[from] Box<Error>),
}

impl From<Error> for MergeError {
    fn from(error: Error) -> Self {
        Self::Baseline(Box::new(error))
    }
}

fn groups_message(groups: &[(Option<String>, Vec<Shard>)]) -> String {
    let group = |(name, shards): &(Option<String>, Vec<Shard>)| {
        let shards = format_list(shards, shards.len());
        match name {
            Some(name) => format!("{shards} of group `{name}`"),
            None => format!("{shards} without a group"),
        }
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

fn balanced_by(plan: Option<&str>) -> String {
    match plan {
        Some(hash) => format!("balanced by the latencies with hash {}", short_hash(hash)),
        None => "not balanced".to_owned(),
    }
}

fn missing_items_message(
    first: &[usize],
    missing: usize,
    items: usize,
    absent: &[Shard],
    present: &[PathBuf],
) -> String {
    let are = if missing == 1 { "is" } else { "are" };
    let what = format!(
        "{} of {} {are} missing from all shards (indexes, from 0: {})",
        group_thousands(missing as u64),
        count(items, "item"),
        format_list(first, missing)
    );
    let advice = if absent.is_empty() {
        let files: Vec<_> = present.iter().map(|path| format!("`{}`", path.display())).collect();
        format!(
            "some runs cover only part of their shard; run those again without a filter (files: {})",
            files.join(", ")
        )
    } else {
        format!(
            "no results of shard {}: run it with `cargo cobalt run --shard {}`, then merge again. A shard without items writes no \
             file; if that explains all missing shards, another shard was run only in part",
            format_list(absent, absent.len()),
            absent[0]
        )
    };
    format!("{what}; {advice}")
}

/// The first entries, and how many more there are.
fn format_list(first: &[impl ToString], all: usize) -> String {
    let named: Vec<_> = first.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    match all - named.len() {
        0 => named.join(", "),
        more => format!("{} and {} more", named.join(", "), group_thousands(more as u64)),
    }
}
