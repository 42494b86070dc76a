//! Paths to the inputs of evaluators: into the item, or into the agent's output and metadata.

use std::collections::BTreeSet;
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CheckError, EvalContext, EvalError, Setup};
use crate::settings::NonEmptyString;
use crate::template::Variable;

/// The root of paths into the agent's output.
pub const OUTPUT: &str = "output";
/// The root of paths into the agent's metadata.
pub const METADATA: &str = "metadata";

/// A field of the item, or a path into it such as `answers[0].text`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(from = "NonEmptyString", into = "NonEmptyString")]
pub(super) struct ItemField(Variable);

impl ItemField {
    pub(super) fn new(path: &str) -> Self {
        Self(Variable::new(path))
    }

    pub(super) fn name(&self) -> &str {
        self.0.name()
    }

    /// Resolves the field; missing or `null` is an error.
    pub(super) fn resolve<'v>(&self, item: &'v Item) -> Result<&'v Value, EvalError> {
        self.0.resolve(item).ok_or_else(|| {
            let fields = wording::join_quoted(item.keys().map(String::as_str));
            EvalError::new(format!("the item's `{}` is missing or null; the item has {fields}", self.name()))
        })
    }

    /// Fails if there are items, but none has the field.
    pub(super) fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        let mut items = setup.items().peekable();
        if items.peek().is_none() || items.any(|item| self.0.resolve(&item).is_some()) {
            return Ok(());
        }
        let fields = field_names(setup.items());
        Err(CheckError::new(format!(
            "no item has `{}` to compare with; {}",
            self.name(),
            wording::suggest_or_list(self.name(), fields.iter().map(String::as_str))
        )))
    }
}

/// The names of the fields of items.
pub fn field_names(items: impl Iterator<Item = Arc<Item>>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in items {
        for name in item.keys() {
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
    }
    names
}

/// A part of the agent's result: `output`, or a path such as `output.answer` or `metadata.answer`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(from = "NonEmptyString", into = "NonEmptyString")]
pub(super) struct AgentField(Variable);

impl AgentField {
    pub(super) fn new(path: &str) -> Self {
        Self(Variable::new(path))
    }

    pub(super) fn name(&self) -> &str {
        self.0.name()
    }

    /// Resolves the part; missing or `null` is an error.
    pub(super) fn resolve<'v>(&self, cx: &'v EvalContext) -> Result<&'v Value, EvalError> {
        self.get(cx)
            .ok_or_else(|| EvalError::new(format!("the agent's `{}` is missing or null", self.name())))
    }

    /// Resolves the part; `None` if it is missing or `null`.
    pub(super) fn get<'v>(&self, cx: &'v EvalContext) -> Option<&'v Value> {
        match self.0.root() {
            OUTPUT => self.0.resolve_in(cx.output()),
            METADATA => self.0.resolve_below(cx.metadata()),
            _ => None,
        }
    }

    /// Fails if the path starts neither at the output nor within the metadata.
    pub(super) fn check(&self) -> Result<(), CheckError> {
        if self.0.root() == OUTPUT || (self.0.root() == METADATA && self.name() != METADATA) {
            return Ok(());
        }
        Err(CheckError::new(format!(
            "`{}` is not part of the agent's result; use `output`, or a path such as `output.answer` or `metadata.answer`",
            self.name()
        )))
    }
}

impl From<NonEmptyString> for ItemField {
    fn from(NonEmptyString(path): NonEmptyString) -> Self {
        Self::new(&path)
    }
}

impl From<ItemField> for NonEmptyString {
    fn from(path: ItemField) -> Self {
        Self(path.name().to_owned())
    }
}

impl From<NonEmptyString> for AgentField {
    fn from(NonEmptyString(path): NonEmptyString) -> Self {
        Self::new(&path)
    }
}

impl From<AgentField> for NonEmptyString {
    fn from(path: AgentField) -> Self {
        Self(path.name().to_owned())
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    ItemField: { "type": "string", "pattern": "\\S" },
    AgentField: { "type": "string", "pattern": "\\S" },
}
