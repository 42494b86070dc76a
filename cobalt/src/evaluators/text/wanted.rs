//! What an evaluator asks of an output: the same for all items, or a field of each.

use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Setup};

/// Something that is asked of outputs.
#[derive(Clone, Debug)]
pub(super) enum Wanted<T> {
    /// Each item has its own.
    InItem(ItemField),
    /// All items have this.
    Given(T),
}

impl<T> Wanted<T> {
    /// The field, where each item has its own.
    pub(super) fn field(&self) -> Option<&ItemField> {
        match self {
            Self::InItem(field) => Some(field),
            Self::Given(_) => None,
        }
    }

    /// What each item asks, read of all items that have the field, so that a mistake is found before the first of them
    /// is run.
    pub(super) fn check_items<R>(
        &self,
        setup: &Setup,
        read: impl Fn(&ItemField, &Item) -> Result<R, EvalError>,
    ) -> Result<(), CheckError> {
        let Self::InItem(field) = self else { return Ok(()) };
        field.check(setup)?;
        let with_field = setup.items().enumerate().filter(|(_, item)| field.find(item).is_ok());
        for (index, item) in with_field {
            if let Err(problem) = read(field, item) {
                let key = &setup.dataset.case_keys()[index];
                return Err(CheckError::new(format!("item `{key}`: {problem}")));
            }
        }
        Ok(())
    }
}

/// The text of an item's field.
pub(super) fn text_in<'v>(field: &ItemField, item: &'v Item) -> Result<&'v str, EvalError> {
    match field.find(item)? {
        Value::String(text) => Ok(text),
        other => Err(EvalError::new(format!(
            "the item's `{}` is {}, which is no text",
            field.name(),
            super::shown(&other.to_string())
        ))),
    }
}
