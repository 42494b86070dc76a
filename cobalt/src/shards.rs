//! Merges the shards of an experiment into one run, after checking that they belong together.

mod error;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::prices::PRICES_AS_OF;
use cobalt_core::report::{
    DatasetSummary, GitState, ItemResult, Measurements, Report, RunVariant, SCHEMA, Shard, SourceState,
    Summary, Threshold, validate_items,
};
use cobalt_core::store::{derive_id, new_run_id};

pub use self::error::MergeError;
use self::error::{MAX_NAMED, short_hash};
use crate::config::Config;
pub use crate::session::OtherVariants;
use crate::session::{Baseline, References, add_missing_thresholds, evaluate_run};

/// The report of a shard, and its file.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardFile {
    /// The result file, for messages.
    pub path: PathBuf,
    /// The report with its items.
    pub report: Report,
}

/// A merged run whose thresholds are not evaluated yet: those of a variant may compare it with another one.
#[derive(Clone, Debug)]
pub struct MergedRun {
    report: Report,
    thresholds: Vec<Threshold>,
}

/// Merges the reports of an experiment's shards, or of a variant's. Writes no file.
///
/// # Errors
///
/// The shards do not belong together, or items are missing.
pub fn merge(mut files: Vec<ShardFile>, config: &Config) -> Result<MergedRun, MergeError> {
    files.sort_by_key(|file| file.report.shard);
    check(&files)?;
    let mut report = merge_headers(&files)?;
    report.items = merge_items(files)?;
    let mut thresholds = report
        .config
        .parse_thresholds()
        .map_err(|source| MergeError::Thresholds { experiment: report.name.clone(), source })?;
    add_missing_thresholds(&mut thresholds, config.additional_thresholds());
    report.config.set_thresholds(&thresholds);
    Ok(MergedRun { report, thresholds })
}

impl MergedRun {
    /// The variant of the run, if its experiment has variants.
    #[must_use]
    pub fn variant(&self) -> Option<&RunVariant> {
        self.report.variant.as_deref()
    }

    /// Whether a threshold compares the run with its baseline.
    #[must_use]
    pub fn is_compared_with_baseline(&self) -> bool {
        self.thresholds.iter().any(Threshold::is_against_baseline)
    }

    /// What other variants are compared with.
    #[must_use]
    pub fn measurements(&self, config: &Config) -> Arc<Measurements> {
        Arc::new(Measurements::from_report(&self.report, config.prices()))
    }

    /// Evaluates the thresholds. `variants`: the merged variants of the same group, by name.
    ///
    /// # Errors
    ///
    /// The baseline cannot be read.
    pub fn evaluate(self, variants: &OtherVariants, config: &Config) -> Result<Report, MergeError> {
        let Self { mut report, thresholds } = self;
        let duration = Duration::from_millis(report.summary.total_duration_ms);
        let baseline = Baseline::resolve(&report.name, config)?;
        let references = References { baseline: &baseline, variants };
        evaluate_run(&mut report, &thresholds, &[], &references, duration, config);
        Ok(report)
    }
}

/// The variant of the merged run. Shards of a variant that ran on several machines have as many groups; what was merged from the same
/// ones forms one group again.
fn merged_variant(files: &[ShardFile]) -> Option<Box<RunVariant>> {
    let variants: Vec<_> = files.iter().filter_map(|file| file.report.variant.as_deref()).collect();
    let groups: BTreeSet<_> = variants.iter().map(|variant| variant.group.clone()).collect();
    let group = match groups.len() {
        1 => groups.first()?.clone(),
        _ => derive_id(&groups.into_iter().collect::<Vec<_>>()),
    };
    Some(Box::new(RunVariant { group, ..(*variants.first()?).clone() }))
}

/// The merged report, without items and what depends on them.
fn merge_headers(files: &[ShardFile]) -> Result<Report, MergeError> {
    let reports = || files.iter().map(|file| &file.report);
    let first = reports().next().ok_or(MergeError::NoShards)?;
    let git = first.git.as_ref().map(|git| GitState {
        commit: git.commit.clone(),
        branch: git.branch.clone(),
        dirty: reports().any(|report| report.git.as_ref().is_some_and(|git| git.dirty)),
    });
    Ok(Report {
        schema: SCHEMA,
        run_name: None,
        note: None,
        // A single shard is already the whole run. It keeps its ID, so that its results count once.
        id: if files.len() == 1 { first.id.clone() } else { new_run_id() },
        variant: merged_variant(files),
        timestamp: reports().map(|report| report.timestamp).min().unwrap_or(first.timestamp),
        summary: Summary {
            total_duration_ms: reports().map(|report| report.summary.total_duration_ms).max().unwrap_or(0),
            ..Summary::default()
        },
        partial: false,
        shard: None,
        shard_plan: None,
        shards: reports().map(|report| report.id.clone()).filter(|_| files.len() > 1).collect(),
        git: git.filter(|_| reports().all(|report| report.git.is_some())),
        shard_group: common_value(reports().map(|report| report.shard_group.as_ref())).cloned(),
        sources: common_sources(&reports().map(|report| report.sources.as_deref()).collect::<Vec<_>>()),
        ci_status: None,
        baseline: None,
        prices_as_of: Some(PRICES_AS_OF.to_owned()),
        redacted: reports().any(|report| report.redacted),
        ..first.without_items()
    })
}

/// Refuses files that are not from shards, or whose shards are not parts of one run.
fn check(files: &[ShardFile]) -> Result<(), MergeError> {
    for ShardFile { path, report } in files {
        if report.shard.is_none() {
            return Err(MergeError::NotAShard { path: path.clone() });
        }
        if report.dataset.as_ref().is_none_or(|dataset| dataset.items == 0) {
            return Err(MergeError::NoDataset { path: path.clone() });
        }
        if let Err((place, problem)) = validate_items(report) {
            let ItemResult { index, key, .. } = &report.items[place];
            return Err(MergeError::Damaged { path: path.clone(), index: *index, key: key.clone(), problem });
        }
    }
    check_groups(files)?;
    check_plans(files)?;
    let mut first_known = BTreeMap::new();
    for file in files {
        for (what, value) in required_properties(&file.report) {
            let (first, known) = first_known.entry(what).or_insert_with(|| (file, value.clone()));
            if *known != value {
                let paths = [first, file].map(|file| file.path.clone());
                return Err(MergeError::Mismatch { what, paths, values: [known.clone(), value] });
            }
        }
    }
    Ok(())
}

/// Refuses shards of several groups: one of them may be left over from an earlier run.
fn check_groups(files: &[ShardFile]) -> Result<(), MergeError> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for ShardFile { report, .. } in files {
        groups.entry(report.shard_group.clone()).or_default().extend(report.shard);
    }
    match groups.len() {
        0 | 1 => Ok(()),
        _ => Err(MergeError::SeveralGroups { groups: groups.into_iter().collect() }),
    }
}

/// Refuses shards that were balanced by different latencies.
fn check_plans(files: &[ShardFile]) -> Result<(), MergeError> {
    let Some(first) = files.first() else { return Ok(()) };
    let plan = |file: &ShardFile| file.report.shard_plan.clone();
    let other = files.iter().find(|file| plan(file) != plan(first));
    other.map_or(Ok(()), |other| {
        let paths = [first, other].map(|file| file.path.clone());
        Err(MergeError::OtherPlan { paths, plans: [plan(first), plan(other)] })
    })
}

/// The sources of all shards; without files and variables if they differ.
fn common_sources(sources: &[Option<&str>]) -> Option<String> {
    let code = sources.iter().map(|sources| sources.map(|sources| SourceState::parse(sources).code));
    common_value(sources.iter().copied()).or_else(|| common_value(code)).map(str::to_owned)
}

/// What must be equal in all shards, as text, if the file contains it.
fn required_properties(report: &Report) -> impl Iterator<Item = (&'static str, String)> {
    let config = &report.config;
    // The same items may have been fetched at different times.
    let data = |DatasetSummary { source, items, hash, fetched: _ }: &DatasetSummary| {
        format!("{items} items of `{source}` with hash {}", short_hash(hash))
    };
    let list = |texts: &[String]| format!("[{}]", texts.join(", "));
    let marks: Vec<_> = config.pass_marks.iter().map(ToString::to_string).collect();
    [
        ("the experiments", Some(format!("`{}`", report.name))),
        ("the settings of the variants", report.variant.as_ref().map(|variant| variant.settings.to_string())),
        ("the numbers of shards", report.shard.map(|shard| shard.total().to_string())),
        ("the data", report.dataset.as_ref().map(data)),
        ("the commits", report.git.as_ref().map(|git| short_hash(&git.commit).to_owned())),
        (
            "the sources",
            report.sources.as_ref().map(|hash| format!("hash {}", short_hash(SourceState::parse(hash).code))),
        ),
        ("the numbers of trials", Some(config.runs.to_string())),
        ("the numbers of retries", Some(config.retries.to_string())),
        ("the timeouts", Some(format!("{} ms", config.timeout))),
        ("the evaluators", Some(list(&config.evaluators))),
        ("the pass marks", Some(list(&marks))),
        ("the settings of the evaluators", Some(list(&config.evaluator_hashes))),
        ("the fields of groups", Some(list(&config.group_by))),
        ("the settings `strict`", Some(config.strict.to_string())),
        ("the thresholds", Some(list(&config.thresholds))),
        // Their names may contain a bound in another form than its value.
        ("the bounds of the thresholds", Some(list(&config.written_thresholds))),
    ]
    .into_iter()
    .filter_map(|(what, value)| Some((what, value?)))
}

/// The common value, if all values are equal.
fn common_value<'a, T: PartialEq + ?Sized>(mut values: impl Iterator<Item = Option<&'a T>>) -> Option<&'a T> {
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// All items in dataset order, each from the one file that contains it.
fn merge_items(files: Vec<ShardFile>) -> Result<Vec<ItemResult>, MergeError> {
    let dataset = files.first().and_then(|file| file.report.dataset.as_ref());
    let expected = dataset.map_or(0, |dataset| dataset.items);
    let shards: Vec<_> = files.iter().filter_map(|file| file.report.shard).collect();
    let mut items = BTreeMap::<usize, (ItemResult, PathBuf)>::new();
    let mut present = Vec::with_capacity(files.len());
    for ShardFile { path, report } in files {
        for item in report.items {
            let index = item.index;
            if index >= expected {
                return Err(MergeError::ItemOutOfRange { path, index, items: expected });
            }
            if let Some((item, other)) = items.insert(index, (item, path.clone())) {
                return Err(MergeError::DuplicateItem { index, key: item.key, paths: [other, path] });
            }
        }
        present.push(path);
    }
    let missing = expected - items.len();
    if missing == 0 {
        return Ok(items.into_values().map(|(item, _)| item).collect());
    }
    let first = (0..expected).filter(|index| !items.contains_key(index)).take(MAX_NAMED).collect();
    Err(MergeError::MissingItems {
        first,
        missing,
        items: expected,
        absent: missing_shards(&shards),
        present,
    })
}

/// The shards that are missing.
fn missing_shards(present: &[Shard]) -> Vec<Shard> {
    let Some(first) = present.first() else { return Vec::new() };
    first.siblings().filter(|shard| !present.contains(shard)).collect()
}
