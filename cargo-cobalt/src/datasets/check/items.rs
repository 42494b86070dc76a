//! The items of a data set that can be read, with what tells one from another.

use cobalt::{Dataset, Item};
use serde_json::Value;

use super::finding::Place;

/// The items that can be read.
pub(super) struct Items<'d> {
    pub(super) items: Vec<&'d Item>,
    keys: Vec<String>,
    lines: Vec<Option<usize>>,
}

impl<'d> Items<'d> {
    pub(super) fn new(dataset: &'d Dataset, lines: Vec<Option<usize>>) -> Self {
        Self { items: dataset.iter().collect(), keys: dataset.keys(), lines }
    }

    pub(super) fn place(&self, index: usize, value: Option<&Value>) -> Place {
        let (key, line) = (self.keys[index].clone(), self.lines[index]);
        Place { index, key, line, value: value.cloned(), similarity: None }
    }

    pub(super) fn places(&self, indexes: &[usize]) -> Vec<Place> {
        indexes.iter().map(|index| self.place(*index, None)).collect()
    }

    /// The indexes of the items of which this is true.
    pub(super) fn those(&self, is_meant: impl Fn(&Item) -> bool) -> Vec<usize> {
        (0..self.items.len()).filter(|index| is_meant(self.items[*index])).collect()
    }
}
