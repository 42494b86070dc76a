//! The columns of items by name.

use std::borrow::Cow;
use std::sync::Arc;

use cobalt_core::wording;
use percent_encoding::percent_decode_str;

use crate::serve::error::ApiError;
use crate::serve::store::{Cell, ColumnValues, FileColumn, LoadedItem, LoadedRun, RunFileError, Store};

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Its values are in the file.
    File(FileColumn),
    /// The mean over the trials of a metric that the agent recorded.
    Metric(String),
    /// The attempts of all trials.
    Attempts,
    /// The mean score of the evaluator at this index.
    Score(usize),
    Status,
    Latency,
    Tokens,
    Cost,
    Key,
}

/// The names of columns, for messages.
pub const COLUMN_NAMES: &str = "`input.PATH`, `metadata.PATH`, `metric.NAME`, `score.NAME`, `reason.NAME`, `expected`, `turns`, `tool_calls`, \
                                `tool`, `model`, `attempts`, `status`, `latency`, `tokens`, `cost` or `key`";

impl Column {
    /// `None` if no column has this name.
    pub fn parse(run: &LoadedRun, name: &str) -> Result<Option<Self>, ApiError> {
        Ok(Some(match name {
            "expected" => Self::File(FileColumn::Expected),
            "turns" => Self::File(FileColumn::Turns),
            "tool_calls" => Self::File(FileColumn::ToolCalls),
            "tool" => Self::File(FileColumn::Tool),
            "model" => Self::File(FileColumn::Model),
            "attempts" => Self::Attempts,
            "status" => Self::Status,
            "latency" => Self::Latency,
            "tokens" => Self::Tokens,
            "cost" => Self::Cost,
            "key" => Self::Key,
            other => match other.split_once('.') {
                Some(("input", path)) if !path.is_empty() => Self::File(FileColumn::Input(path.to_owned())),
                Some(("metadata", path)) if !path.is_empty() => {
                    Self::File(FileColumn::Metadata(path.to_owned()))
                }
                Some(("metric", name)) if !name.is_empty() => Self::Metric(name.to_owned()),
                Some(("score", evaluator)) => Self::Score(evaluator_index(run, evaluator)?),
                Some(("reason", evaluator)) => {
                    evaluator_index(run, evaluator)?;
                    Self::File(FileColumn::Reason(evaluator.to_owned()))
                }
                _ => return Ok(None),
            },
        }))
    }

    /// The column with this name, or else what is expected.
    pub fn expect(run: &LoadedRun, name: &str) -> Result<Self, ApiError> {
        Self::parse(run, name)?
            .ok_or_else(|| ApiError::bad_request(format!("there is no column `{name}`; use {COLUMN_NAMES}")))
    }

    /// Whether all values are numbers, whatever the items are.
    pub fn is_numeric(&self) -> bool {
        match self {
            Self::File(column) => matches!(column, FileColumn::Turns | FileColumn::ToolCalls),
            Self::Metric(_) | Self::Attempts | Self::Score(_) | Self::Latency | Self::Tokens | Self::Cost => {
                true
            }
            Self::Status | Self::Key => false,
        }
    }

    /// The value of an item, unless it is in the file.
    pub fn computed(&self, item: &LoadedItem) -> Cell {
        let number = |number: Option<f64>| number.map_or(Cell::Missing, Cell::number);
        match self {
            Self::File(_) => Cell::Missing,
            Self::Metric(name) => number(item.metric(name)),
            Self::Attempts => Cell::number((item.trials() + item.retried()) as f64),
            Self::Score(evaluator) => number(item.scores.mean(*evaluator)),
            Self::Status => Cell::Text(item.status.name().into()),
            Self::Latency => Cell::number(item.latency_ms),
            Self::Tokens => number(item.tokens().map(|tokens| tokens as f64)),
            Self::Cost => number(item.cost()),
            Self::Key => Cell::Text(item.key.clone()),
        }
    }

    /// Reads the values of all items.
    pub fn load(self, store: &Store, run: &LoadedRun) -> Result<LoadedColumn, RunFileError> {
        let values = match &self {
            Self::File(column) => Some(store.column(run, column)?),
            _ => None,
        };
        Ok(LoadedColumn { column: self, values })
    }
}

/// A column with its values.
#[derive(Clone, Debug)]
pub struct LoadedColumn {
    pub column: Column,
    /// Absent if the items have them.
    pub values: Option<Arc<ColumnValues>>,
}

impl LoadedColumn {
    /// The value of the item at an index.
    pub fn cell(&self, run: &LoadedRun, place: usize) -> Cow<'_, Cell> {
        if let Some(values) = &self.values {
            return values.cells.get(place).map_or(Cow::Owned(Cell::Missing), Cow::Borrowed);
        }
        Cow::Owned(self.column.computed(&run.items[place]))
    }

    /// The hash of the value of the item at an index, if its text is cut.
    pub fn cut_hash(&self, place: usize) -> Option<u64> {
        self.values.as_ref()?.cut.get(&place).copied()
    }

    /// The length of the texts that are compared, in characters, if some are longer.
    pub fn cut_length(&self) -> Option<usize> {
        self.values.as_ref()?.cut_length()
    }
}

/// The columns of a list of names separated by commas, with their names. A name with a comma has `%2C` instead.
pub fn parse_columns(run: &LoadedRun, names: &str) -> Result<Vec<(String, Column)>, ApiError> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names = names.map(|name| percent_decode_str(name).decode_utf8_lossy().into_owned());
    names.map(|name| Column::expect(run, &name).map(|column| (name, column))).collect()
}

/// The error for a metric or a field that no item has.
pub fn no_values(store: &Store, run: &LoadedRun, name: &str) -> Result<ApiError, RunFileError> {
    let fields = store.item_fields(run)?;
    let names = fields.iter().map(|field| &*field.name);
    Ok(ApiError::bad_request(format!("no item has `{name}`; {}", wording::suggest_or_list(name, names))))
}

/// The index of the requested evaluator.
pub fn evaluator_index(run: &LoadedRun, name: &str) -> Result<usize, ApiError> {
    run.evaluator_index(name).ok_or_else(|| {
        let names = run.head.config.evaluators.iter().map(String::as_str);
        let id = &run.head.id;
        ApiError::bad_request(format!(
            "run `{id}` has no evaluator `{name}`; {}",
            wording::suggest_or_list(name, names)
        ))
    })
}
