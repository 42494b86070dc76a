//! Plans of shards: the expected latencies of items, by which shards are balanced.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::measurements::Measurements;
use super::shard::Shard;
use crate::hash::sha256_hex;

/// The number of digits of a plan's hash.
const HASH_DIGITS: usize = 16;

/// The latencies that the items of an experiment are expected to have.
///
/// All shards of a run must use the same plan: which items a shard has depends only on the plan, the keys of all items, and the
/// number of shards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShardPlan {
    /// The run whose latencies these are, for messages.
    pub source: String,
    /// The latency of each item over all of its trials in milliseconds, by key.
    pub latencies: BTreeMap<String, f64>,
}

impl ShardPlan {
    /// The plan that expects the latencies of an earlier run.
    #[must_use]
    pub fn of(source: String, run: &Measurements) -> Self {
        let latency = |latency: f64| latency.is_finite().then(|| latency.max(0.0));
        let latencies = run.items.iter().filter_map(|item| Some((item.key.clone(), latency(item.latency_ms)?)));
        Self { source, latencies: latencies.collect() }
    }

    /// A hash of the latencies: shards with different plans do not belong together.
    #[must_use]
    pub fn hash(&self) -> String {
        let parts = self.latencies.iter().flat_map(|(key, latency)| [key.clone(), latency.to_bits().to_string()]);
        sha256_hex(&parts.collect::<Vec<_>>())[..HASH_DIGITS].to_owned()
    }

    /// The indexes of the items in a shard, in order. `keys` are those of all items of the dataset.
    ///
    /// The item with the highest expected latency goes first, to the shard with the least expected work. An item that the plan does not
    /// know counts as the median.
    #[must_use]
    pub fn items<K: AsRef<str>>(&self, shard: Shard, keys: &[K]) -> Vec<usize> {
        let shards = self.assign(shard.total(), keys);
        let own = shard.index() - 1;
        (0..keys.len()).filter(|index| shards[*index] == own).collect()
    }

    /// The shard of each item, from 0.
    fn assign<K: AsRef<str>>(&self, total: u16, keys: &[K]) -> Vec<u16> {
        let unknown = self.median();
        let weight = |key: &str| self.latencies.get(key).copied().unwrap_or(unknown);
        let mut items: Vec<_> = keys.iter().map(|key| Weight(weight(key.as_ref()))).enumerate().collect();
        // Keys break ties, so that the order of the items does not matter.
        items.sort_by(|(one, a), (other, b)| {
            b.cmp(a).then_with(|| keys[*one].as_ref().cmp(keys[*other].as_ref())).then(one.cmp(other))
        });
        let mut loads: BinaryHeap<_> = (0..total).map(|shard| Reverse((Weight(0.0), 0_usize, shard))).collect();
        let mut shards = vec![0; keys.len()];
        for (index, Weight(weight)) in items {
            let Some(Reverse((Weight(load), items, shard))) = loads.pop() else { break };
            shards[index] = shard;
            loads.push(Reverse((Weight(load + weight), items + 1, shard)));
        }
        shards
    }

    fn median(&self) -> f64 {
        let mut known: Vec<_> = self.latencies.values().copied().collect();
        known.sort_by(f64::total_cmp);
        known.get(known.len() / 2).copied().unwrap_or(1.0)
    }
}

/// An expected latency with a total order.
#[derive(Clone, Copy, Debug)]
struct Weight(f64);

impl PartialEq for Weight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The plans of several experiments, as the command passes them to test binaries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardPlans(pub BTreeMap<String, ShardPlan>);

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(latencies: impl IntoIterator<Item = (String, f64)>) -> ShardPlan {
        ShardPlan { source: "run a".to_owned(), latencies: latencies.into_iter().collect() }
    }

    fn shards(total: u16) -> impl Iterator<Item = Shard> {
        (1..=total).map(move |index| format!("{index}/{total}").parse().unwrap())
    }

    /// Keys with latencies like those of models: lognormal, with a long tail.
    fn lognormal(items: usize) -> Vec<(String, f64)> {
        let mut random = fastrand::Rng::with_seed(7);
        let mut normal = || -> f64 { (0..12).map(|_| random.f64()).sum::<f64>() - 6.0 };
        (0..items).map(|item| (format!("item-{item}"), (7.0 + normal()).exp())).collect()
    }

    /// The time of the slowest shard by the mean over all shards.
    fn slowest(latencies: &[(String, f64)], shards: impl Iterator<Item = Vec<usize>>) -> f64 {
        let times: Vec<f64> =
            shards.map(|items| items.into_iter().map(|item| latencies[item].1).sum()).collect();
        times.iter().copied().fold(0.0, f64::max) * times.len() as f64 / times.iter().sum::<f64>()
    }

    #[test]
    fn each_item_is_in_one_shard_whatever_their_order() {
        let latencies = lognormal(100);
        let plan = plan(latencies[..80].to_vec());
        let keys: Vec<_> = latencies.iter().map(|(key, _)| key.clone()).collect();
        let reversed: Vec<_> = keys.iter().rev().cloned().collect();
        let mut all = Vec::new();
        for shard in shards(8) {
            let items = plan.items(shard, &keys);
            let other: Vec<_> = plan.items(shard, &reversed).into_iter().map(|index| 99 - index).rev().collect();
            assert_eq!(items, other);
            all.extend(items);
        }
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_slowest_shard_takes_little_longer_than_the_mean() {
        let latencies = lognormal(400);
        let plan = plan(latencies.clone());
        let keys: Vec<_> = latencies.iter().map(|(key, _)| key.clone()).collect();
        let balanced = slowest(&latencies, shards(8).map(|shard| plan.items(shard, &keys)));
        let by_hash = slowest(
            &latencies,
            shards(8).map(|shard| (0..keys.len()).filter(|index| shard.contains(&keys[*index])).collect()),
        );
        assert!(balanced < 1.15, "{balanced}");
        assert!(by_hash > balanced, "{by_hash}");
    }

    #[test]
    fn items_that_no_plan_knows_are_spread() {
        let keys: Vec<_> = (0..40).map(|item| format!("item-{item}")).collect();
        for shard in shards(4) {
            assert_eq!(ShardPlan::default().items(shard, &keys).len(), 10);
        }
    }

    #[test]
    fn latencies_of_zero_do_not_put_all_items_into_one_shard() {
        let keys: Vec<_> = (0..40).map(|item| format!("item-{item}")).collect();
        let plan = plan(keys.iter().map(|key| (key.clone(), 0.0)));
        assert!(shards(4).all(|shard| plan.items(shard, &keys).len() == 10));
    }

    #[test]
    fn plans_with_other_latencies_have_other_hashes() {
        let latencies = lognormal(3);
        let one = plan(latencies.clone());
        let renamed = ShardPlan { source: "run b".to_owned(), ..one.clone() };
        assert_eq!(one.hash(), renamed.hash());
        assert_ne!(one.hash(), plan(latencies[..2].to_vec()).hash());
        assert_eq!(one.hash().len(), HASH_DIGITS);
    }

    #[test]
    fn a_plan_survives_its_file() {
        let plans = ShardPlans(BTreeMap::from([("desk".to_owned(), plan(lognormal(3)))]));
        let file = serde_json::to_string(&plans).unwrap();
        assert_eq!(serde_json::from_str::<ShardPlans>(&file).unwrap(), plans);
    }
}
