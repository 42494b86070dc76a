//! The parameters of `/api/runs/ID/items`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::serve::api::respond::Order;

/// A selection of items, and their order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ItemsQuery {
    /// The maximum number of items to return: 100 by default, at most 1000.
    pub limit: Option<usize>,
    /// The number of items to skip.
    pub offset: usize,
    /// The sort key: `index` (default), `key`, `status`, `latency`, `tokens`, `cost`, `score:NAME` for an evaluator's mean score,
    /// `reason:NAME` for its reason, or a column as in `columns`. With `compare`, also `change` for the largest regression (or, with
    /// `order=desc`, improvement) in any run, and `change:NAME` for the change of a score in this run. Items without a value come last.
    pub sort: Option<String>,
    /// The sort direction; by default the smallest or worst first.
    pub order: Option<Order>,
    /// Only items with this text in their key, input, outputs, errors, reasons, tool calls, metadata or transcript, with `compare` in
    /// any of the runs; case-insensitive.
    pub search: Option<String>,
    /// Only items in this state.
    pub state: Option<ItemState>,
    /// Only items scored by this evaluator, from `minScore` to `maxScore`.
    pub evaluator: Option<String>,
    /// The minimum mean score, of `evaluator` or else of any evaluator.
    pub min_score: Option<f64>,
    /// The maximum mean score, of `evaluator` or else of any evaluator.
    pub max_score: Option<f64>,
    /// The columns to return in `values`, separated by commas: `input.PATH`, `metadata.PATH`, `expected`, `metric.NAME`, `turns`,
    /// `tool_calls`, `tool`, `model`, `attempts`, `score.NAME`, `reason.NAME`, `status`, `latency`, `tokens`, `cost` or `key`. `fields`
    /// in the response lists those that the items have besides those of every run. In a name, write `%2C` for a comma and `%25` for a
    /// percent sign.
    pub columns: Option<String>,
    /// Only items that meet this condition: a column, an operator and a value, such as `input.topic=billing`. Operators are `=`, `!=`,
    /// `<`, `<=`, `>`, `>=` and `~` (contains, in any case). Numbers are compared as numbers, anything else as text. Repeat it for
    /// several conditions.
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// The column to group items by. The largest group is listed first, items without a value last; more than 12 numbers become ranges.
    /// After the 1,000 largest groups, the others are joined.
    pub group: Option<String>,
    /// The ids of up to seven runs, separated by commas, to show each item's results in. The first is the reference, which this run
    /// and the others are compared with.
    pub compare: Option<String>,
    /// With `compare`, only items that changed in this way.
    pub only: Option<OnlyChanged>,
}

/// An item state to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
    /// At or above every pass mark, without an error.
    Passed,
    /// Below a pass mark, or in error.
    Failing,
    /// Below a pass mark, without an error.
    Low,
    /// The agent failed in a trial.
    Error,
    /// The agent timed out in a trial.
    Timeout,
    /// An evaluator gave no score.
    EvalError,
    /// The conversation with a model diverged from the recording in a trial.
    Diverged,
    /// An attempt at a trial failed with a transient error and was retried.
    Retried,
}

/// A change to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnlyChanged {
    /// Items that regressed in any run.
    Regressed,
    /// Items that improved in any run.
    Improved,
    /// Items that regressed or improved in any run.
    Changed,
}
