//! A row of the index, the queries, and the errors.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Result, Row, named_params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cli::ExperimentName;
use crate::error::CommandError;

/// A run, whole or partial. Counts have SQLite's integer type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexedRun {
    pub id: String,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    /// The name that a user gave to this run.
    #[serde(default)]
    pub run_name: Option<String>,
    /// The experiment's name.
    pub experiment: String,
    /// The variant's name; null if the experiment has none.
    pub variant: Option<String>,
    /// The ID that the runs of the variants share.
    #[serde(rename = "group")]
    pub variant_group: Option<String>,
    /// The ID of the run whose stored outputs were scored again.
    pub rescored_from: Option<String>,
    /// The start, ISO 8601 in UTC with milliseconds: sorts as text like the times.
    pub timestamp: String,
    pub tags: Vec<String>,
    /// Each evaluator's mean; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// The mean of each metric that the agent recorded, and the value of each metric of the whole run; one with the name of a
    /// recorded metric is `<name> (run)`.
    pub metrics: BTreeMap<String, f64>,
    /// The agent cost in USD; absent if unknown.
    pub cost: Option<f64>,
    pub total_items: i64,
    pub status: RunStatus,
    pub duration_ms: i64,
    pub avg_latency_ms: f64,
    pub total_tokens: Option<i64>,
    /// The judge cost in USD.
    pub judge_cost: Option<f64>,
    /// The cost of simulated users in USD; absent without them, or if unknown.
    pub user_cost: Option<f64>,
    /// Items at or above every pass mark, without an error.
    pub passed_items: i64,
    /// Items below a pass mark, without an error.
    pub low_items: i64,
    /// Items whose agent failed or timed out in some trial.
    pub failed_items: i64,
    /// Evaluations without a score.
    pub eval_errors: i64,
    pub git_commit: Option<String>,
    /// Whether tracked files differed from the commit.
    pub git_dirty: Option<bool>,
    /// The branch, as the CI system or git named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    pub dataset_hash: Option<String>,
    /// The number of items of the dataset, of which a partial run has only some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_items: Option<i64>,
    /// Whether only some of the items were run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The shard of the items that was run: `2/4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// What the runs of all shards share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_group: Option<String>,
    /// Items whose model requests were all answered from recordings: their latency and agent cost are those of the recording.
    pub replayed_items: i64,
    /// Whether inputs, outputs and everything else that quotes them were removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The name of the result file.
    pub file: String,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    Passed,
    /// The thresholds were not evaluated, as only some items were run; nothing failed.
    NotEvaluated,
    /// A threshold was missed or, in a strict experiment, an item failed.
    Failed,
    /// An item or an evaluator was in error.
    Error,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotEvaluated => "not evaluated",
            Self::Failed => "failed",
            Self::Error => "error",
        }
    }
}

impl ToSql for RunStatus {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for RunStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let known = [Self::Passed, Self::NotEvaluated, Self::Failed, Self::Error]
            .into_iter()
            .find(|status| status.as_str() == text);
        known.ok_or(FromSqlError::InvalidType)
    }
}

impl IndexedRun {
    /// Reads a row with all columns.
    pub fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            name: row.get("name")?,
            run_name: row.get("run_name")?,
            experiment: row.get("experiment")?,
            variant: row.get("variant")?,
            variant_group: row.get("variant_group")?,
            rescored_from: row.get("rescored_from")?,
            timestamp: row.get("timestamp")?,
            tags: read_json(row, "tags")?,
            scores: read_json(row, "scores")?,
            metrics: read_json(row, "metrics")?,
            cost: row.get("cost")?,
            total_items: row.get("total_items")?,
            status: row.get("status")?,
            duration_ms: row.get("duration_ms")?,
            avg_latency_ms: row.get("avg_latency_ms")?,
            total_tokens: row.get("total_tokens")?,
            judge_cost: row.get("judge_cost")?,
            user_cost: row.get("user_cost")?,
            passed_items: row.get("passed_items")?,
            low_items: row.get("low_items")?,
            failed_items: row.get("failed_items")?,
            eval_errors: row.get("eval_errors")?,
            git_commit: row.get("git_commit")?,
            git_dirty: row.get("git_dirty")?,
            git_branch: row.get("git_branch")?,
            dataset_hash: row.get("dataset_hash")?,
            dataset_items: row.get("dataset_items")?,
            partial: false,
            shard: None,
            shard_group: None,
            replayed_items: row.get("replayed_items")?,
            redacted: row.get("redacted")?,
            file: row.get("file")?,
        })
    }

    /// Whether it takes precedence over a run with the same id in another file: first the file that still has its original name, then
    /// the later start, then the first file name.
    pub fn takes_precedence(&self, file: &str, timestamp: &str) -> bool {
        let ending = format!("_{}.json", self.id);
        let mine = (self.file.ends_with(&ending), &*self.timestamp);
        let other = (file.ends_with(&ending), timestamp);
        mine > other || (mine == other && &*self.file < file)
    }

    /// Writes the run, replacing one with the same id.
    pub fn replace(&self, connection: &Connection) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO runs (id, name, run_name, experiment, variant, variant_group, rescored_from, timestamp, tags, scores, metrics, cost, total_items, status, \
                   duration_ms, avg_latency_ms, total_tokens, judge_cost, user_cost, passed_items, low_items, failed_items, eval_errors, \
                   git_commit, git_dirty, git_branch, dataset_hash, dataset_items, replayed_items, redacted, file) VALUES (:id, :name, :run_name, :experiment, :variant, :variant_group, :rescored_from, :timestamp, :tags, :scores, :metrics, :cost, :total_items, \
                   :status, :duration_ms, :avg_latency_ms, :total_tokens, :judge_cost, :user_cost, :passed_items, :low_items, \
                   :failed_items, :eval_errors, :git_commit, :git_dirty, :git_branch, :dataset_hash, :dataset_items, :replayed_items, \
                   :redacted, :file)";
        connection.prepare_cached(sql)?.execute(named_params! {
            ":id": self.id,
            ":name": self.name,
            ":run_name": self.run_name,
            ":experiment": self.experiment,
            ":variant": self.variant,
            ":variant_group": self.variant_group,
            ":rescored_from": self.rescored_from,
            ":timestamp": self.timestamp,
            ":tags": json_text(&self.tags)?,
            ":scores": json_text(&self.scores)?,
            ":metrics": json_text(&self.metrics)?,
            ":cost": self.cost,
            ":total_items": self.total_items,
            ":status": self.status,
            ":duration_ms": self.duration_ms,
            ":avg_latency_ms": self.avg_latency_ms,
            ":total_tokens": self.total_tokens,
            ":judge_cost": self.judge_cost,
            ":user_cost": self.user_cost,
            ":passed_items": self.passed_items,
            ":low_items": self.low_items,
            ":failed_items": self.failed_items,
            ":eval_errors": self.eval_errors,
            ":git_commit": self.git_commit,
            ":git_dirty": self.git_dirty,
            ":git_branch": self.git_branch,
            ":dataset_hash": self.dataset_hash,
            ":dataset_items": self.dataset_items,
            ":replayed_items": self.replayed_items,
            ":redacted": self.redacted,
            ":file": self.file,
        })?;
        Ok(())
    }
}

pub fn read_json<T: DeserializeOwned>(row: &Row<'_>, column: &'static str) -> Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text = row.get_ref(index)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into()))
}

pub fn json_text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// A filter for runs.
#[derive(Clone, Debug)]
pub struct RunFilter {
    /// The name of the experiment, which selects the runs of all of its variants, or that of a variant's runs.
    pub experiment: Option<ExperimentName>,
    pub tag: Option<String>,
    pub branch: Option<String>,
    /// The earliest start, in the format of a run's timestamp.
    pub since: Option<String>,
    /// The maximum number of runs.
    pub limit: usize,
}

impl RunFilter {
    /// All runs.
    pub const ALL: Self = Self { experiment: None, tag: None, branch: None, since: None, limit: usize::MAX };
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMatches {
    /// The newest matching runs.
    pub runs: Vec<IndexedRun>,
    /// The number of matching runs.
    pub matching: usize,
    /// The number of all whole runs.
    pub known: usize,
    /// The number of partial runs.
    pub partial: usize,
}

pub fn query_runs(connection: &Connection, filter: &RunFilter) -> Result<RunMatches> {
    let names = filter.experiment.as_ref().map(|wanted| matching_names(connection, wanted)).transpose()?;
    let names = names.map(|names| json_text(&names)).transpose()?;
    let mut condition = vec!["TRUE"];
    // Only the conditions that there are: an index serves them then.
    condition.extend(filter.since.as_ref().map(|_| "timestamp >= :since"));
    condition
        .extend(filter.tag.as_ref().map(|_| "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :tag)"));
    condition.extend(filter.branch.as_ref().map(|_| "git_branch = :branch"));
    condition.extend(names.as_ref().map(|_| "name IN (SELECT value FROM json_each(:names))"));
    let condition = condition.join(" AND ");
    let given: Vec<(&str, &dyn ToSql)> = [
        filter.since.as_ref().map(|since| (":since", since as &dyn ToSql)),
        filter.tag.as_ref().map(|tag| (":tag", tag as &dyn ToSql)),
        filter.branch.as_ref().map(|branch| (":branch", branch as &dyn ToSql)),
        names.as_ref().map(|names| (":names", names as &dyn ToSql)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    let sql = format!("SELECT * FROM runs WHERE {condition} ORDER BY timestamp DESC, id LIMIT {limit}");
    let mut query = connection.prepare_cached(&sql)?;
    let runs = query.query_map(&*given, IndexedRun::from_row)?.collect::<Result<Vec<_>>>()?;
    let sql = format!("SELECT count(*) FROM runs WHERE {condition}");
    let matching: i64 = connection.prepare_cached(&sql)?.query_row(&*given, |row| row.get(0))?;
    let sql =
        "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM files WHERE partial_run IS NOT NULL)";
    let (known, partial): (i64, i64) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let count = |number| usize::try_from(number).unwrap_or(0);
    Ok(RunMatches { runs, matching: count(matching), known: count(known), partial: count(partial) })
}

/// The names of runs that the name of an experiment or of a variant selects.
fn matching_names(connection: &Connection, wanted: &ExperimentName) -> Result<Vec<String>> {
    let mut query = connection.prepare_cached("SELECT DISTINCT experiment, name FROM runs")?;
    let mut rows = query.query([])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        let (experiment, name) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        if wanted.matches(experiment) || wanted.matches(name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The partial runs, newest first, except those with a whole run of the same id.
pub fn query_partial_runs(connection: &Connection) -> Result<Vec<IndexedRun>> {
    let sql = "SELECT partial_run FROM files WHERE partial_run IS NOT NULL \
               AND partial_run ->> 'id' NOT IN (SELECT id FROM runs)";
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query([])?;
    let mut runs: BTreeMap<String, IndexedRun> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let run: IndexedRun = read_json(row, "partial_run")?;
        let is_shown =
            runs.get(&run.id).is_none_or(|other| run.takes_precedence(&other.file, &other.timestamp));
        if is_shown {
            runs.insert(run.id.clone(), run);
        }
    }
    let mut runs: Vec<_> = runs.into_values().collect();
    runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
    Ok(runs)
}

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("failed to list the results in `{}`: {source}; make the folder readable, or set COBALT_DIR to another one", .path.display())]
    Results { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is not a Cobalt index, and is left untouched; set COBALT_HISTORY_DB to another file, or remove this one",
        .path.display()
    )]
    Foreign { path: PathBuf },

    #[error("failed to index the results in memory: {0}")]
    Database(#[from] rusqlite::Error),
}

impl CommandError for IndexError {}
