//! Plans of shards: the expected latencies of items, by which shards are balanced.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::measured_items::MeasuredItemRef;
use super::measurements::Measurements;
use super::shard::Shard;
use crate::hash::sha256_hex;

/// The number of digits of a plan's hash.
const HASH_DIGITS: usize = 16;

/// What an item costs besides its agent's latency, for starting, scoring and storing it. Without it, a shard would get all items of
/// an agent that takes no time.
const ITEM_COST: Microseconds = Microseconds(5_000);

/// The latencies that the items of an experiment are expected to have.
///
/// All shards of a run must use the same plan: which items a shard has depends only on the plan, the keys of all items, and the
/// number of shards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShardPlan {
    /// The run whose latencies these are, for messages.
    pub source: String,
    /// The mean latency of each item, by key.
    pub latencies: BTreeMap<String, Microseconds>,
}

/// A latency in whole microseconds, which add up to the same load on every machine. Files have it in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Microseconds(u64);

impl From<f64> for Microseconds {
    /// From milliseconds; negative ones and those that are no number count as 0.
    fn from(milliseconds: f64) -> Self {
        Self((milliseconds * 1000.0).round() as u64)
    }
}

impl From<Microseconds> for f64 {
    fn from(Microseconds(microseconds): Microseconds) -> Self {
        microseconds as Self / 1000.0
    }
}

impl ShardPlan {
    /// The plan that expects the latencies of an earlier run.
    #[must_use]
    pub fn of(source: String, run: &Measurements) -> Self {
        let latency = |item: MeasuredItemRef<'_>| (item.key().to_owned(), item.latency_ms().into());
        Self { source, latencies: run.items.iter().map(latency).collect() }
    }

    /// A hash of the latencies and the cost per item: shards with different plans do not belong together.
    #[must_use]
    pub fn hash(&self) -> String {
        let parts = self.latencies.iter().flat_map(|(key, latency)| [key.clone(), latency.0.to_string()]);
        let parts: Vec<_> = std::iter::once(ITEM_COST.0.to_string()).chain(parts).collect();
        sha256_hex(&parts)[..HASH_DIGITS].to_owned()
    }

    /// The indexes of the items in a shard, in order. `keys` are those of all items of the dataset.
    ///
    /// The item with the highest expected latency goes first, to the shard with the least expected work, which includes 5 ms for each
    /// item besides its latency. An item that the plan does not know counts as the median.
    #[must_use]
    pub fn items<K: AsRef<str>>(&self, shard: Shard, keys: &[K]) -> Vec<usize> {
        let shards = self.assign(shard.total(), keys);
        let own = shard.index() - 1;
        (0..keys.len()).filter(|index| shards[*index] == own).collect()
    }

    /// The items of a shard, slowest first: a slow item that starts last would run alone at the end.
    #[must_use]
    pub fn slowest_first<K: AsRef<str>>(&self, items: &[usize], keys: &[K]) -> Vec<usize> {
        let unknown = self.median();
        let latency = |index: &usize| self.latencies.get(keys[*index].as_ref()).copied().unwrap_or(unknown);
        let mut items = items.to_vec();
        items.sort_by_cached_key(|index| Reverse(latency(index)));
        items
    }

    /// The shard of each item, from 0.
    fn assign<K: AsRef<str>>(&self, total: u16, keys: &[K]) -> Vec<u16> {
        let unknown = self.median();
        let latency = |key: &K| self.latencies.get(key.as_ref()).copied().unwrap_or(unknown);
        let mut items: Vec<_> = keys.iter().map(latency).enumerate().collect();
        // Keys break ties, so that the order of the items does not matter.
        items.sort_by(|(one, a), (other, b)| {
            b.cmp(a).then_with(|| keys[*one].as_ref().cmp(keys[*other].as_ref())).then(one.cmp(other))
        });
        // Of equal loads, the shard with fewer items comes first.
        let mut loads: BinaryHeap<_> = (0..total).map(|shard| Reverse((0_u64, 0_usize, shard))).collect();
        let mut shards = vec![0; keys.len()];
        for (index, latency) in items {
            let Some(mut least) = loads.peek_mut() else { break };
            let Reverse((load, items, shard)) = &mut *least;
            shards[index] = *shard;
            *load = load.saturating_add(latency.0).saturating_add(ITEM_COST.0);
            *items += 1;
        }
        shards
    }

    fn median(&self) -> Microseconds {
        let mut known: Vec<_> = self.latencies.values().copied().collect();
        known.sort_unstable();
        known.get(known.len() / 2).copied().unwrap_or(Microseconds(0))
    }
}

/// The plans of several experiments, as the command passes them to test binaries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardPlans(pub BTreeMap<String, ShardPlan>);

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan of latencies in milliseconds.
    fn plan(latencies: impl IntoIterator<Item = (String, f64)>) -> ShardPlan {
        let latencies = latencies.into_iter().map(|(key, latency)| (key, latency.into()));
        ShardPlan { source: "run a".to_owned(), latencies: latencies.collect() }
    }

    fn shards(total: u16) -> impl Iterator<Item = Shard> {
        (1..=total).map(move |index| format!("{index}/{total}").parse().unwrap())
    }

    /// A source of random numbers with a standard normal distribution.
    struct Normal(fastrand::Rng);

    impl Normal {
        fn next(&mut self) -> f64 {
            // Box and Muller, 1958.
            let (radius, angle) = (1.0 - self.0.f64(), self.0.f64());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        }
    }

    /// Keys with latencies like those of models: lognormal with a median of 2 s.
    fn lognormal(items: usize, random: &mut Normal) -> Vec<(String, f64)> {
        let latency = |random: &mut Normal| 2_000.0 * (0.8 * random.next()).exp();
        (0..items).map(|item| (format!("item-{item}"), latency(random))).collect()
    }

    fn seeded(seed: u64) -> Normal {
        Normal(fastrand::Rng::with_seed(seed))
    }

    /// The time of the slowest shard by the mean over all shards, if each shard runs this many items at a time, in order.
    fn slowest_by_mean(
        latencies: &[(String, f64)],
        concurrency: usize,
        shards: impl Iterator<Item = Vec<usize>>,
    ) -> f64 {
        let time = |items: Vec<usize>| {
            let mut workers = vec![0.0; concurrency];
            for item in items {
                *workers.iter_mut().min_by(|a, b| f64::total_cmp(a, b)).unwrap() += latencies[item].1;
            }
            workers.into_iter().fold(0.0, f64::max)
        };
        let times: Vec<f64> = shards.map(time).collect();
        times.iter().copied().fold(0.0, f64::max) * times.len() as f64 / times.iter().sum::<f64>()
    }

    #[test]
    fn each_item_is_in_one_shard_whatever_their_order() {
        let latencies = lognormal(100, &mut seeded(1));
        let plan = plan(latencies[..80].to_vec());
        let keys: Vec<_> = latencies.iter().map(|(key, _)| key.clone()).collect();
        let reversed: Vec<_> = keys.iter().rev().cloned().collect();
        let mut all = Vec::new();
        for shard in shards(8) {
            let items = plan.items(shard, &keys);
            let other: Vec<_> =
                plan.items(shard, &reversed).into_iter().map(|index| 99 - index).rev().collect();
            assert_eq!(items, other);
            all.extend(items);
        }
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    /// The time of the slowest of eight shards by the mean, averaged over several samples of latencies, with shards that are balanced,
    /// and with shards by key. `noise`: how much latencies vary between the run of the plan and the one of the shards.
    fn balance(items: usize, noise: f64, concurrency: usize) -> [f64; 2] {
        const SAMPLES: u64 = 5;
        let mut ratios = [0.0; 2];
        for seed in 0..SAMPLES {
            let mut random = seeded(seed);
            let expected = lognormal(items, &mut random);
            let mut varied = |time: f64| time * (noise * random.next()).exp();
            let latencies: Vec<_> = expected.iter().map(|(key, time)| (key.clone(), varied(*time))).collect();
            let keys: Vec<_> = expected.iter().map(|(key, _)| key.clone()).collect();
            let plan = plan(expected);
            let balanced = shards(8).map(|shard| plan.slowest_first(&plan.items(shard, &keys), &keys));
            let by_key = shards(8)
                .map(|shard| (0..keys.len()).filter(|index| shard.contains(&keys[*index])).collect());
            ratios[0] += slowest_by_mean(&latencies, concurrency, balanced) / SAMPLES as f64;
            ratios[1] += slowest_by_mean(&latencies, concurrency, by_key) / SAMPLES as f64;
        }
        ratios
    }

    /// `cargo test -p cobalt-evals-core --lib shard_plan -- --nocapture` prints the table.
    #[test]
    fn the_slowest_of_eight_shards_takes_little_longer_than_the_mean() {
        println!("items  noise  at a time  slowest / mean: balanced  by key");
        for (items, noise, concurrency) in
            [(500, 0.0, 1), (500, 0.3, 1), (500, 0.3, 4), (2_000, 0.0, 10), (2_000, 0.3, 10)]
        {
            let [balanced, by_key] = balance(items, noise, concurrency);
            println!("{items:5}  {noise:5}  {concurrency:9}  {balanced:24.3}  {by_key:6.3}");
            assert!(
                balanced < 1.15 && balanced < by_key,
                "{items} {noise} {concurrency}: {balanced} {by_key}"
            );
        }
    }

    #[test]
    fn the_slowest_items_start_first() {
        let keys = ["a", "b", "c", "d"];
        let plan = plan([("a", 0.1), ("b", 0.7), ("d", 0.3)].map(|(key, time)| (key.to_owned(), time)));
        assert_eq!(plan.slowest_first(&[0, 1, 2, 3], &keys), [1, 2, 3, 0], "`c` counts as the median");
    }

    #[test]
    fn items_that_no_plan_knows_are_spread() {
        let keys: Vec<_> = (0..40).map(|item| format!("item-{item}")).collect();
        for shard in shards(4) {
            assert_eq!(ShardPlan::default().items(shard, &keys).len(), 10);
        }
    }

    /// The number of items in each of three shards of 45 items, of which the plan knows these latencies in milliseconds.
    fn sizes_of_three(latencies: impl Fn(usize) -> Option<f64>) -> Vec<usize> {
        let keys: Vec<_> = (0..45).map(|item| format!("item-{item}")).collect();
        let known = keys.iter().enumerate().filter_map(|(item, key)| Some((key.clone(), latencies(item)?)));
        let plan = plan(known);
        let mut sizes: Vec<_> = shards(3).map(|shard| plan.items(shard, &keys).len()).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn fast_items_are_spread_over_all_shards() {
        let spread = |sizes: &[usize]| sizes[0] >= 14 && sizes.iter().sum::<usize>() == 45;
        let slow = |item: usize, slow: f64, fast: f64| Some(if item < 2 { slow } else { fast });
        assert_eq!(sizes_of_three(|_| Some(0.0)), [15; 3]);
        assert!(spread(&sizes_of_three(|item| slow(item, 0.6, 0.4))));
        assert!(spread(&sizes_of_three(|item| slow(item, 1.2, 0.0))));
        assert!(spread(&sizes_of_three(|item| (item > 1).then_some(0.0))), "unknown latencies");
        assert!(spread(&sizes_of_three(|_| Some(f64::NAN))), "damaged latencies");
        let giant = sizes_of_three(|item| Some(if item == 7 { 60_000.0 } else { 0.2 }));
        assert_eq!(giant, [1, 22, 22]);
    }

    #[test]
    fn plans_with_other_latencies_have_other_hashes() {
        let latencies = lognormal(3, &mut seeded(1));
        let one = plan(latencies.clone());
        let renamed = ShardPlan { source: "run b".to_owned(), ..one.clone() };
        assert_eq!(one.hash(), renamed.hash());
        assert_ne!(one.hash(), plan(latencies[..2].to_vec()).hash());
        assert_eq!(one.hash().len(), HASH_DIGITS);
    }

    #[test]
    fn a_plan_survives_its_file() {
        let plans = ShardPlans(BTreeMap::from([("desk".to_owned(), plan(lognormal(3, &mut seeded(1))))]));
        let file = serde_json::to_string(&plans).unwrap();
        assert_eq!(serde_json::from_str::<ShardPlans>(&file).unwrap(), plans);
        let of_earlier_versions = r#"{"source":"run a","latencies":{"a":12}}"#;
        let read: ShardPlan = serde_json::from_str(of_earlier_versions).unwrap();
        assert_eq!(read, plan([("a".to_owned(), 12.0)]));
    }
}
