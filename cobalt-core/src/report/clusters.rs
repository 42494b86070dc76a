//! The clusters of items, which are not independent of each other.

use std::collections::HashMap;

use super::identity::cluster_name;
use super::item::ItemResult;

/// The number of each item's cluster, from 0.
#[must_use]
pub fn cluster_numbers(items: &[ItemResult]) -> Vec<usize> {
    let mut clusters = ClusterNumbering::default();
    items.iter().map(|item| clusters.of(item)).collect()
}

/// Numbers the clusters: items with the same field `cluster` share one, every other item has its own.
#[derive(Debug, Default)]
pub struct ClusterNumbering {
    named: HashMap<String, usize>,
    count: usize,
}

impl ClusterNumbering {
    pub fn of(&mut self, item: &ItemResult) -> usize {
        let new = self.count;
        let number = match cluster_name(&item.input) {
            Some(name) => *self.named.entry(name).or_insert(new),
            None => new,
        };
        self.count += usize::from(number == new);
        number
    }
}
