//! The texts of an item's field: one, or a list of them.

use std::borrow::Cow;

use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::EvalError;
use crate::evaluators::places::ItemField;
use crate::template::to_text;

/// The elements of a list, or the value itself, as templates show them. A list may be empty.
pub(super) fn texts_in<'v>(field: &ItemField, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
    let value = field.find(item)?;
    let Value::Array(elements) = value else { return Ok(vec![to_text(value)]) };
    if let Some(index) = elements.iter().position(Value::is_null) {
        return Err(EvalError::new(format!("the item's `{}[{index}]` is null; write a text", field.name())));
    }
    Ok(elements.iter().map(to_text).collect())
}
