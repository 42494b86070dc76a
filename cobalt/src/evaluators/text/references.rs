//! The right texts that an item has for its output, and the one of them that comes nearest.

use std::borrow::Cow;

use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{EvalError, Score};

use super::texts::texts_in;

/// A field of the item with one right text, or a list of them.
#[derive(Clone, Debug)]
pub(super) struct References(ItemField);

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
