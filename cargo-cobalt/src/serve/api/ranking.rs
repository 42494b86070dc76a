//! `/api/ranking`: ranks two to eight runs; and `/api/groups/GROUP`: ranks the variants that were run together.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::ranking::Ranking;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Conditional, PathParams, StrictQuery, cached_json};
use crate::serve::error::ApiError;
use crate::serve::live::LiveRun;
use crate::serve::store::{LoadedRun, Store};

/// The numbers of runs that can be ranked.
const RANKED_RUNS: std::ops::RangeInclusive<usize> = 2..=8;

/// The runs to rank.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RankingQuery {
    /// The ids of two to eight runs, separated by commas.
    pub runs: String,
}

/// The variants that were run together.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariantGroup {
    /// The id that their runs share.
    pub group: String,
    /// The finished runs in the order of their variants, ranked.
    pub ranking: Ranking,
    /// The unfinished runs of the group.
    pub live: Vec<LiveRun>,
}

pub async fn ranking(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<RankingQuery>,
) -> Result<Response, ApiError> {
    let ids = parse_ids(&query.runs)?;
    let of = ids.clone();
    let state = move |store: &Store| store.states(&of);
    cached_json(store, conditional, state, move |store| rank_runs(store, &ids)).await
}

pub async fn group(
    State(store): State<Arc<Store>>,
    PathParams(group): PathParams<String>,
    conditional: Conditional,
) -> Result<Response, ApiError> {
    cached_json(store, conditional, Store::list_state, move |store| load_group(store, group)).await
}

fn load_group(store: &Store, group: String) -> Result<VariantGroup, ApiError> {
    let mut live = store.live().runs();
    live.retain(|run| run.variant.as_ref().is_some_and(|variant| variant.group == group));
    let ids = group_ids(store, &group)?;
    if ids.is_empty() && live.is_empty() {
        return Err(unknown_group(&group));
    }
    let ranking = if ids.is_empty() { Ranking::default() } else { rank_runs(store, &ids)? };
    Ok(VariantGroup { group, ranking, live })
}

fn rank_runs(store: &Store, ids: &[String]) -> Result<Ranking, ApiError> {
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    store.with_runs(&ids, |runs| {
        let mut runs = runs.to_vec();
        if is_group(&runs) {
            runs.sort_by_key(|run| run.head.variant.as_ref().map(|variant| variant.position));
        }
        Ok((*store.ranking(&runs)).clone())
    })
}

/// Whether all runs are variants that were run together.
fn is_group(runs: &[Arc<LoadedRun>]) -> bool {
    let mut groups = runs.iter().map(|run| run.head.variant.as_ref().map(|variant| &variant.group));
    let first = groups.next().flatten();
    first.is_some() && groups.all(|group| group == first)
}

/// The ids of two to eight different runs.
pub fn parse_ids(list: &str) -> Result<Vec<String>, ApiError> {
    let ids: Vec<_> = list.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
    let different: HashSet<_> = ids.iter().collect();
    if RANKED_RUNS.contains(&ids.len()) && different.len() == ids.len() {
        return Ok(ids.into_iter().map(str::to_owned).collect());
    }
    Err(ApiError::bad_request(format!(
        "invalid `runs={list}`: expected the ids of two to eight different runs, separated by commas"
    )))
}

/// The ids of the finished runs of a group.
pub fn group_ids(store: &Store, group: &str) -> Result<Vec<String>, ApiError> {
    Ok(store.known()?.runs_of_group(group).into_iter().map(|run| run.id.clone()).collect())
}

/// The error for a group without runs.
pub fn unknown_group(group: &str) -> ApiError {
    ApiError::not_found(format!(
        "no run belongs to the group {group}; its runs may have been deleted, or the link is incomplete"
    ))
}

#[cfg(test)]
mod tests {
    use super::parse_ids;

    #[test]
    fn two_to_eight_different_runs_are_ranked() {
        assert_eq!(parse_ids("a, b,").unwrap(), ["a", "b"]);
        assert_eq!(parse_ids("a,b,c,d,e,f,g,h").unwrap().len(), 8);
        for list in ["", "a", "a,a", "a,b,c,d,e,f,g,h,i"] {
            assert!(parse_ids(list).is_err(), "{list}");
        }
    }
}
