//! Questions to the index.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, named_params};

use super::run::{Run, json};
use crate::cli::ExperimentName;

/// Which runs.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) experiment: Option<ExperimentName>,
    pub(crate) tag: Option<String>,
    /// The earliest start, as a run's timestamp is written.
    pub(crate) since: Option<String>,
    /// The most runs to answer with.
    pub(crate) limit: usize,
}

impl Filter {
    /// All runs.
    pub(crate) const ALL: Self = Self { experiment: None, tag: None, since: None, limit: usize::MAX };
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The newest of the runs that match.
    pub(crate) runs: Vec<Run>,
    /// How many match.
    pub(crate) matching: usize,
    /// How many there are.
    pub(crate) known: usize,
    /// How many partial runs there are beside them.
    pub(crate) partial: usize,
}

pub(super) fn runs(connection: &Connection, filter: &Filter) -> Result<Found> {
    let sql = "SELECT * FROM runs WHERE (:since IS NULL OR timestamp >= :since) \
               AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :tag)) \
               ORDER BY timestamp DESC, id";
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query(named_params! { ":since": filter.since, ":tag": filter.tag })?;
    let (mut runs, mut matching) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let name = row.get_ref("name")?.as_str()?;
        if filter.experiment.as_ref().is_some_and(|experiment| !experiment.matches(name)) {
            continue;
        }
        matching += 1;
        if runs.len() < filter.limit {
            runs.push(Run::from_row(row)?);
        }
    }
    let sql =
        "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM files WHERE partial_run IS NOT NULL)";
    let (known, partial): (i64, i64) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let count = |number| usize::try_from(number).unwrap_or(0);
    Ok(Found { runs, matching, known: count(known), partial: count(partial) })
}

/// The partial runs, the newest first; none of which the whole run is there under the same id.
pub(super) fn partial_runs(connection: &Connection) -> Result<Vec<Run>> {
    let sql = "SELECT partial_run FROM files WHERE partial_run IS NOT NULL \
               AND partial_run ->> 'id' NOT IN (SELECT id FROM runs)";
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query([])?;
    let mut runs: BTreeMap<String, Run> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let run: Run = json(row, "partial_run")?;
        let is_shown = runs.get(&run.id).is_none_or(|other| run.goes_before(&other.file, &other.timestamp));
        if is_shown {
            runs.insert(run.id.clone(), run);
        }
    }
    let mut runs: Vec<_> = runs.into_values().collect();
    runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
    Ok(runs)
}
