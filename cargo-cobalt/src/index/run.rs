//! A row of the index: what is worth knowing of a run without opening its file.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Result, Row, named_params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A run, whole or partial. Counts are as SQLite holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) id: String,
    /// The experiment's.
    pub(crate) name: String,
    /// The start, ISO 8601 in UTC with milliseconds: the order of the texts is that of the times.
    pub(crate) timestamp: String,
    pub(crate) tags: Vec<String>,
    /// Each evaluator's mean; one that gave no score is absent.
    pub(crate) scores: BTreeMap<String, f64>,
    /// The agent's, in USD; absent where it is not known.
    pub(crate) cost: Option<f64>,
    pub(crate) total_items: i64,
    pub(crate) status: RunStatus,
    pub(crate) duration_ms: i64,
    pub(crate) avg_latency_ms: f64,
    pub(crate) total_tokens: Option<i64>,
    /// The judges', in USD.
    pub(crate) judge_cost: Option<f64>,
    /// Items at or above every pass mark, without an error.
    pub(crate) passed_items: i64,
    /// Items below a pass mark, without an error.
    pub(crate) low_items: i64,
    /// Items whose agent failed or timed out in some run.
    pub(crate) failed_items: i64,
    /// Evaluations without a score.
    pub(crate) eval_errors: i64,
    pub(crate) git_commit: Option<String>,
    /// Whether tracked files differed from the commit.
    pub(crate) git_dirty: Option<bool>,
    pub(crate) dataset_hash: Option<String>,
    /// The name of the result file.
    pub(crate) file: String,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RunStatus {
    Passed,
    /// The thresholds were not evaluated, as only some of the items were run; nothing failed.
    NotEvaluated,
    /// A threshold or, in a strict experiment, an item missed.
    Failed,
    /// An item or an evaluator was in error.
    Error,
}

impl RunStatus {
    pub(crate) fn as_str(self) -> &'static str {
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

impl Run {
    /// Reads a row that has all columns.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            name: row.get("name")?,
            timestamp: row.get("timestamp")?,
            tags: json(row, "tags")?,
            scores: json(row, "scores")?,
            cost: row.get("cost")?,
            total_items: row.get("total_items")?,
            status: row.get("status")?,
            duration_ms: row.get("duration_ms")?,
            avg_latency_ms: row.get("avg_latency_ms")?,
            total_tokens: row.get("total_tokens")?,
            judge_cost: row.get("judge_cost")?,
            passed_items: row.get("passed_items")?,
            low_items: row.get("low_items")?,
            failed_items: row.get("failed_items")?,
            eval_errors: row.get("eval_errors")?,
            git_commit: row.get("git_commit")?,
            git_dirty: row.get("git_dirty")?,
            dataset_hash: row.get("dataset_hash")?,
            file: row.get("file")?,
        })
    }

    /// Whether it stands for its id rather than a run of the same id in another file: the one whose file still has the name that
    /// it was written under, then the one of the later start, then the first by name.
    pub(super) fn goes_before(&self, file: &str, timestamp: &str) -> bool {
        let ending = format!("_{}.json", self.id);
        let mine = (self.file.ends_with(&ending), &*self.timestamp);
        let other = (file.ends_with(&ending), timestamp);
        mine > other || (mine == other && &*self.file < file)
    }

    /// Writes the run, in place of another one of its id.
    pub(super) fn replace(&self, connection: &Connection) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO runs (id, name, timestamp, tags, scores, cost, total_items, status, \
                   duration_ms, avg_latency_ms, total_tokens, judge_cost, passed_items, low_items, failed_items, eval_errors, \
                   git_commit, git_dirty, dataset_hash, file) VALUES (:id, :name, :timestamp, :tags, :scores, :cost, :total_items, \
                   :status, :duration_ms, :avg_latency_ms, :total_tokens, :judge_cost, :passed_items, :low_items, \
                   :failed_items, :eval_errors, :git_commit, :git_dirty, :dataset_hash, :file)";
        connection.prepare_cached(sql)?.execute(named_params! {
            ":id": self.id,
            ":name": self.name,
            ":timestamp": self.timestamp,
            ":tags": json_text(&self.tags)?,
            ":scores": json_text(&self.scores)?,
            ":cost": self.cost,
            ":total_items": self.total_items,
            ":status": self.status,
            ":duration_ms": self.duration_ms,
            ":avg_latency_ms": self.avg_latency_ms,
            ":total_tokens": self.total_tokens,
            ":judge_cost": self.judge_cost,
            ":passed_items": self.passed_items,
            ":low_items": self.low_items,
            ":failed_items": self.failed_items,
            ":eval_errors": self.eval_errors,
            ":git_commit": self.git_commit,
            ":git_dirty": self.git_dirty,
            ":dataset_hash": self.dataset_hash,
            ":file": self.file,
        })?;
        Ok(())
    }
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &'static str) -> Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text = row.get_ref(index)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into()))
}

pub(super) fn json_text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
