//! The calls that an item expects.

use serde_json::Value;

use super::call::{ToolCall, ToolCallError};
use super::read::Reader;
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Setup};
use crate::metrics::tree_of;
use crate::suggest;

/// A field of the item with the expected calls.
#[derive(Clone, Debug)]
pub(super) struct ExpectedCalls(ItemField);

impl ExpectedCalls {
    pub(super) fn new(path: &str) -> Self {
        Self(ItemField::new(path))
    }

    pub(super) fn read(&self, item: &Item) -> Result<Vec<ToolCall>, EvalError> {
        let value = self.0.find(item)?;
        self.calls_of(value).map_err(|error| EvalError::new(format!("the item's {error}")))
    }

    fn calls_of(&self, value: &Value) -> Result<Vec<ToolCall>, ToolCallError> {
        // A text that is no JSON is the name of a tool, as in a cell of a CSV file.
        let name = value.as_str().filter(|text| !text.trim().is_empty() && tree_of(text).is_none());
        let alone = name.map(|name| Value::Array(vec![Value::from(name.trim())]));
        Reader::strict().read(alone.as_ref().unwrap_or(value), self.0.name())
    }

    /// An error where no item has the field, where what an item expects cannot be read, or where nothing that is expected
    /// is a call of the only tool that counts.
    pub(super) fn check(&self, setup: &Setup, tool: Option<&str>) -> Result<(), CheckError> {
        self.0.check(setup)?;
        let mut names = Vec::new();
        for (index, item) in setup.items().enumerate() {
            let Ok(value) = self.0.find(item) else { continue };
            let calls = self.calls_of(value);
            let calls = calls.map_err(|error| CheckError::new(format!("item {index} (from 0): {error}")))?;
            names.extend(calls.into_iter().map(|call| call.name));
        }
        names.sort_unstable();
        names.dedup();
        match tool.filter(|tool| !names.is_empty() && names.iter().all(|name| name != tool)) {
            None => Ok(()),
            Some(tool) => Err(CheckError::new(format!(
                "no item expects a call of `{tool}` in `{}`; {}",
                self.0.name(),
                suggest::instead(tool, names.iter().map(String::as_str))
            ))),
        }
    }
}
