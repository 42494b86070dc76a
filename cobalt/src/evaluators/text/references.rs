//! The texts and values that an item has for its output: references, of which one comes nearest, and what is asked of an output.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::template::to_text;

/// A field of the item with one right text, or a list of them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transparent))]
pub(crate) struct References(ItemField);

/// What the comparison with the nearest of several references gave.
pub(super) struct Nearest<T> {
    pub(super) found: T,
    /// Which reference it was, from 0, and of how many.
    index: usize,
    of: usize,
}

impl References {
    pub(super) fn new(path: impl AsRef<str>) -> Self {
        Self(ItemField::new(path.as_ref()))
    }

    pub(super) fn field(&self) -> &ItemField {
        &self.0
    }

    /// The references as templates show them: at least one.
    pub(super) fn texts<'v>(&self, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        let texts = texts_in(&self.0, item)?;
        if texts.is_empty() {
            let name = self.0.name();
            return Err(EvalError::new(format!(
                "the item's `{name}` is an empty list; write at least one text"
            )));
        }
        Ok(texts)
    }

    /// Compares with each reference, and takes the one with the highest score, the first of equal ones.
    pub(super) fn nearest<T>(
        &self,
        item: &Item,
        compare: impl Fn(&str) -> T,
        score: impl Fn(&T) -> f64,
    ) -> Result<Nearest<T>, EvalError> {
        let texts = self.texts(item)?;
        let of = texts.len();
        let compared =
            texts.iter().enumerate().map(|(index, text)| Nearest { found: compare(text), index, of });
        let better = |best: Nearest<T>, next: Nearest<T>| {
            if score(&next.found) > score(&best.found) { next } else { best }
        };
        Ok(compared.reduce(better).expect("there is at least one reference"))
    }
}

impl<T> Nearest<T> {
    /// Keeps beside a score which of several references it is for.
    pub(super) fn kept(&self, score: Score) -> Score {
        if self.of > 1 { score.metadata("reference", self.index) } else { score }
    }
}

/// The elements of a list, or the value itself, as templates show them. A list may be empty.
pub(super) fn texts_in<'v>(field: &ItemField, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
    let value = field.find(item)?;
    let Value::Array(elements) = value else { return Ok(vec![to_text(value)]) };
    if let Some(index) = elements.iter().position(Value::is_null) {
        return Err(EvalError::new(format!("the item's `{}[{index}]` is null; write a text", field.name())));
    }
    Ok(elements.iter().map(to_text).collect())
}

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
