//! Why shards cannot be merged.

use std::path::PathBuf;

use crate::error::Error;
use crate::report::{ItemProblem, Shard, ThresholdError};
use crate::wording::count;

/// The most items that a message names.
pub(super) const MOST_NAMED: usize = 8;

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is no file at all.
    #[error("there is no shard to merge; name the result files of runs with --shard")]
    Nothing,

    /// A file is of no shard.
    #[error("`{}` is no result file of a shard; leave it out, or run its experiment with --shard", .path.display())]
    NoShard {
        /// The file.
        path: PathBuf,
    },

    /// A file does not tell what its run was made on.
    #[error("`{}` does not say which data it is of; run the shard anew", .path.display())]
    NoData {
        /// The file.
        path: PathBuf,
    },

    /// An item has values that no run gives.
    #[error(
        "item {index} (`{key}`) in `{}` is damaged: {problem}; copy the file again from where the shard was run, or run the \
         shard again",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The item's place in the data set, from 0.
        index: usize,
        /// Its key.
        key: String,
        /// What is wrong with it.
        problem: ItemProblem,
    },

    /// Two files are no parts of one run.
    #[error(
        "`{}` and `{}` are not of one run, as {what} differ: {} and {}; run all shards anew with the same, or name those \
         files only that belong together",
        .paths[0].display(), .paths[1].display(), .values[0], .values[1]
    )]
    Differ {
        /// What is another.
        what: &'static str,
        /// The two files.
        paths: [PathBuf; 2],
        /// What each of them has.
        values: [String; 2],
    },

    /// Two files have the same item.
    #[error(
        "item {index} (`{key}`) is both in `{}` and in `{}`; leave one of the files out",
        .paths[0].display(), .paths[1].display()
    )]
    Twice {
        /// The item's place in the data set, from 0.
        index: usize,
        /// Its key.
        key: String,
        /// The two files.
        paths: [PathBuf; 2],
    },

    /// A file has an item that its data set has not.
    #[error("`{}` has item {index}, of a data set that has {}; run the shard anew", .path.display(), count(*.items, "item"))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The item's place, from 0.
        index: usize,
        /// How many items the data set has.
        items: usize,
    },

    /// Items are in none of the files.
    #[error("{}", left_out(.first, *.missing, *.items, .absent, .present))]
    Missing {
        /// The places of the first of them in the data set, from 0.
        first: Vec<usize>,
        /// How many are missing.
        missing: usize,
        /// How many items the data set has.
        items: usize,
        /// The shards of which there is no file.
        absent: Vec<Shard>,
        /// The files that there are.
        present: Vec<PathBuf>,
    },

    /// A threshold cannot be read from the files.
    #[error(
        "the thresholds of `{experiment}` cannot be read from its result files: {source}; run the shards anew"
    )]
    Thresholds {
        /// The experiment.
        experiment: String,
        /// What is wrong.
        source: ThresholdError,
    },

    /// What the run is held against cannot be read.
    #[error(transparent)]
    Baseline(#[from] Box<Error>),
}

impl From<Error> for MergeError {
    fn from(error: Error) -> Self {
        Self::Baseline(Box::new(error))
    }
}

fn left_out(first: &[usize], missing: usize, items: usize, absent: &[Shard], present: &[PathBuf]) -> String {
    let are = if missing == 1 { "is" } else { "are" };
    let what = format!(
        "{} of {items} {are} in none of the shards (by index from 0: {})",
        count(missing, "item"),
        listed(first, missing)
    );
    let advice = if absent.is_empty() {
        let files: Vec<_> = present.iter().map(|path| format!("`{}`", path.display())).collect();
        format!(
            "some of the runs are of a part of their shard only: run those anew without a filter, of {}",
            files.join(", ")
        )
    } else {
        format!(
            "there is no run of shard {}: run it with `cargo cobalt run --shard {}`, to its end, and merge all (a shard \
             without items leaves no file; if all others do so, one of the runs was of a part of its shard only)",
            listed(absent, absent.len()),
            absent[0]
        )
    };
    format!("{what}; {advice}")
}

/// The first of so many, and how many more there are.
fn listed(first: &[impl ToString], all: usize) -> String {
    let named: Vec<_> = first.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    match all - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
