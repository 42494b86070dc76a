//! [`Dataset`]: an immutable list of items, shared between clones.

use std::iter::FusedIterator;
use std::mem;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::{Arc, OnceLock};

use cobalt_core::item::{Identities, type_name};
use cobalt_core::nesting::is_too_deep;
use cobalt_core::report::{DatasetSummary, Fetch};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::on_disk::ItemsOnDisk;
#[cfg(test)]
use super::on_disk::SourceFile;
use super::{DatasetError, Item, decode};

/// The seed of [`Dataset::sample`].
pub const SAMPLE_SEED: u64 = 42;

/// An ordered, immutable list of items.
///
/// Clones share the items. `map`, `filter`, `sample` and `slice` consume the dataset and return a new one; an item is
/// copied only if it is changed while another clone uses it.
///
/// ```
/// use cobalt::{Dataset, item};
///
/// let all = Dataset::from_items([
///     item! { "input": "2 + 2", "level": 1 },
///     item! { "input": "12 * 12", "level": 2 },
///     item! { "input": "7 * 8", "level": 2 },
/// ]);
/// let hard = all.clone().filter(|item| item["level"] == 2).map(|mut item| {
///     item.insert("hint".into(), "use a table".into());
///     item
/// });
/// assert_eq!((all.len(), hard.len()), (3, 2));
/// assert!(hard.iter().all(|item| item.contains_key("hint")));
/// assert!(!all.iter().any(|item| item.contains_key("hint")));
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    content: Arc<Content>,
}

#[derive(Clone, Debug)]
struct Content {
    source: String,
    fetched: Option<Fetch>,
    items: Items,
    /// The hash of the items, computed on first use.
    hash: OnceLock<String>,
    /// What the items' keys are made of, computed on first use.
    identities: OnceLock<Arc<Identities>>,
}

#[derive(Clone, Debug)]
enum Items {
    InMemory(Vec<Arc<Item>>),
    OnDisk(ItemsOnDisk),
}

impl Content {
    fn new(source: String, fetched: Option<Fetch>, items: Items) -> Arc<Self> {
        Arc::new(Self { source, fetched, items, hash: OnceLock::new(), identities: OnceLock::new() })
    }
}

impl Dataset {
    /// A dataset of items created in code, see [`item!`](crate::item!).
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let dataset = Dataset::from_items((1..=3).map(|n| item! { "input": n, "expectedOutput": n * n }));
    /// assert_eq!(dataset.get(2).unwrap()["expectedOutput"], 9);
    /// ```
    pub fn from_items(items: impl IntoIterator<Item = impl Into<Item>>) -> Dataset {
        Dataset::new("inline", items.into_iter().map(Into::into))
    }

    /// Serializes values as items.
    pub(crate) fn from_values(
        values: impl IntoIterator<Item = impl Serialize>,
    ) -> Result<Dataset, DatasetError> {
        let items: Result<Vec<_>, DatasetError> = values
            .into_iter()
            .enumerate()
            .map(|(index, value)| match serde_json::to_value(value) {
                Ok(Value::Object(item)) => Ok(item),
                Ok(other) => Err(DatasetError::NotAnObject { index, found: type_name(&other) }),
                Err(cause) => Err(DatasetError::Serialize { index, cause }),
            })
            .collect();
        Ok(Dataset::new("inline", items?))
    }

    pub(super) fn new(source: impl Into<String>, items: impl IntoIterator<Item = Item>) -> Dataset {
        let items = Items::InMemory(items.into_iter().map(Arc::new).collect());
        Dataset { content: Content::new(source.into(), None, items) }
    }

    /// A dataset of items that are shared with others.
    pub(crate) fn from_shared(source: &str, items: Vec<Arc<Item>>) -> Dataset {
        Dataset { content: Content::new(source.to_owned(), None, Items::InMemory(items)) }
    }

    /// A dataset of items that stay on disk.
    pub(super) fn on_disk(source: String, items: ItemsOnDisk) -> Dataset {
        Dataset { content: Content::new(source, None, Items::OnDisk(items)) }
    }

    /// The items of a JSONL file, however small it is, that stay on disk.
    #[cfg(test)]
    pub(crate) fn from_lines_on_disk(path: &std::path::Path) -> Result<Dataset, DatasetError> {
        let (path, name) = (path.to_owned(), path.display().to_string());
        let items = ItemsOnDisk::index(vec![SourceFile { path, name: name.clone() }], 1)?;
        Ok(Self::on_disk(name, items))
    }

    #[cfg(feature = "remote")]
    pub(super) fn from_fetch(source: &str, items: Vec<Item>, fetch: Fetch) -> Dataset {
        let items = Items::InMemory(items.into_iter().map(Arc::new).collect());
        Dataset { content: Content::new(source.to_owned(), Some(fetch), items) }
    }

    /// When the items were fetched, and their version; `None` for items from a file or from code.
    pub fn fetch(&self) -> Option<&Fetch> {
        self.content.fetched.as_ref()
    }

    /// Where the items come from: the path of the file as given, the source they were fetched from, or `inline`.
    pub fn source(&self) -> &str {
        &self.content.source
    }

    /// The description in results.
    pub(crate) fn summary(&self) -> DatasetSummary {
        DatasetSummary {
            source: self.source().to_owned(),
            items: self.len(),
            hash: self.hash(),
            fetched: self.fetch().cloned(),
        }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        match &self.content.items {
            Items::InMemory(items) => items.len(),
            Items::OnDisk(items) => items.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index, counted from 0.
    ///
    /// # Panics
    ///
    /// If the item is on disk, and its file was changed.
    pub fn get(&self, index: usize) -> Option<Arc<Item>> {
        (index < self.len()).then(|| self.shared(index))
    }

    /// The items, in order.
    ///
    /// # Panics
    ///
    /// If an item is on disk, and its file was changed.
    pub fn iter(&self) -> Iter<'_> {
        Iter { dataset: self, indexes: 0..self.len() }
    }

    /// The item at an index, shared without a copy.
    pub(crate) fn shared(&self, index: usize) -> Arc<Item> {
        self.read(index).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The item at an index, which may have to be read.
    pub(crate) fn read(&self, index: usize) -> Result<Arc<Item>, DatasetError> {
        match &self.content.items {
            Items::InMemory(items) => Ok(Arc::clone(&items[index])),
            Items::OnDisk(items) => items.read(index).map(Arc::new),
        }
    }

    /// The first item that is nested too deeply to be kept.
    pub(crate) fn first_too_deep(&self) -> Option<usize> {
        match &self.content.items {
            Items::InMemory(items) => items.iter().position(|item| item.values().any(is_too_deep)),
            Items::OnDisk(items) => items.first_too_deep(),
        }
    }

    /// Applies a function to each item.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let dataset = Dataset::from_items([item! { "question": "2 + 2", "answer": "4" }])
    ///     .map(|item| item! { "input": item["question"], "expectedOutput": item["answer"] });
    /// assert_eq!(dataset.get(0).unwrap()["input"], "2 + 2");
    /// ```
    #[must_use]
    pub fn map(self, mut change: impl FnMut(Item) -> Item) -> Dataset {
        let Ok(dataset) = self.try_map(|item| Ok::<_, std::convert::Infallible>(change(item)));
        dataset
    }

    /// Applies a function to each item and its index, from 0.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let dataset = Dataset::from_items([item! { "input": "one" }, item! { "input": "two" }])
    ///     .map_indexed(|index, mut item| {
    ///         item.insert("id".to_owned(), format!("case-{index}").into());
    ///         item
    ///     });
    /// assert_eq!(dataset.keys(), ["case-0", "case-1"]);
    /// ```
    #[must_use]
    pub fn map_indexed(self, mut change: impl FnMut(usize, Item) -> Item) -> Dataset {
        let mut index = 0..;
        self.map(|item| change(index.next().unwrap_or_default(), item))
    }

    /// Applies a fallible function to each item.
    ///
    /// # Errors
    ///
    /// The first error that the function returns.
    pub fn try_map<E>(self, mut change: impl FnMut(Item) -> Result<Item, E>) -> Result<Dataset, E> {
        let mut content = self.into_mutable();
        match &mut content.items {
            Items::InMemory(items) => {
                for item in items {
                    let item = Arc::make_mut(item);
                    *item = change(mem::take(item))?;
                }
            }
            Items::OnDisk(items) => {
                let changed = (0..items.len()).map(|index| {
                    let item = items.read(index).unwrap_or_else(|error| panic!("{error}"));
                    change(item)
                });
                *items = ItemsOnDisk::write(&content.source, changed)?;
            }
        }
        Ok(Dataset { content: Arc::new(content) })
    }

    /// Keeps the items for which a function returns true, in order.
    #[must_use]
    pub fn filter(self, mut keep: impl FnMut(&Item) -> bool) -> Dataset {
        let kept: Vec<_> = self.iter().map(|item| keep(&item)).collect();
        self.filter_indexes(|index| kept[index])
    }

    /// Keeps the items whose indexes are wanted, in order.
    pub(crate) fn filter_indexes(self, keep: impl Fn(usize) -> bool) -> Dataset {
        fn retain<T>(items: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
            let mut indexes = 0..;
            items.retain(|_| indexes.next().is_some_and(&keep));
        }
        let mut content = self.into_mutable();
        content.items = match content.items {
            Items::InMemory(mut items) => {
                retain(&mut items, keep);
                Items::InMemory(items)
            }
            Items::OnDisk(items) => Items::OnDisk(items.change(|rows| retain(rows, keep))),
        };
        Dataset { content: Arc::new(content) }
    }

    /// `n` items drawn at random without replacement, in random order. If there are no more than `n` items, all of them,
    /// shuffled.
    ///
    /// The sample depends only on [`SAMPLE_SEED`], `n` and the number of items. Listing the tests and running them therefore
    /// agree, and so do two runs. A smaller sample is a prefix of a larger one.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let all = Dataset::from_items((0..1000).map(|n| item! { "input": n }));
    /// let some = all.clone().sample(10);
    /// assert_eq!(some.len(), 10);
    /// assert_eq!(some.keys(), all.sample(20).slice(..10).keys());
    /// ```
    #[must_use]
    pub fn sample(self, n: usize) -> Dataset {
        self.sample_with_seed(n, SAMPLE_SEED)
    }

    /// Like [`sample`](Dataset::sample), with your own seed.
    #[must_use]
    pub fn sample_with_seed(self, n: usize, seed: u64) -> Dataset {
        fn draw<T>(items: &mut Vec<T>, n: usize, seed: u64) {
            let n = n.min(items.len());
            let mut random = fastrand::Rng::with_seed(seed);
            // The first n steps of a Fisher-Yates shuffle; u64 gives the same sample on every platform.
            for place in 0..n {
                let drawn = random.u64(place as u64..items.len() as u64) as usize;
                items.swap(place, drawn);
            }
            items.truncate(n);
        }
        let mut content = self.into_mutable();
        content.items = match content.items {
            Items::InMemory(mut items) => {
                draw(&mut items, n, seed);
                Items::InMemory(items)
            }
            Items::OnDisk(items) => Items::OnDisk(items.change(|rows| draw(rows, n, seed))),
        };
        Dataset { content: Arc::new(content) }
    }

    /// The items in a range of indices, counted from 0. Indices beyond the end are ignored: `slice(..50)` is at most 50
    /// items. A range that ends before it starts is empty.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let all = Dataset::from_items((0..10).map(|n| item! { "input": n }));
    /// assert_eq!(all.clone().slice(2..5).len(), 3);
    /// assert_eq!(all.clone().slice(8..).len(), 2);
    /// assert_eq!(all.clone().slice(..50).len(), 10);
    /// assert_eq!(all.slice(20..).len(), 0);
    /// ```
    #[must_use]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Dataset {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(end) => end.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => usize::MAX,
        };
        self.filter_indexes(|index| (start..end).contains(&index))
    }

    /// All items as your own type, see [`decode`].
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// #[derive(Debug, serde::Deserialize)]
    /// struct Question {
    ///     input: String,
    /// }
    ///
    /// let dataset = Dataset::from_items([item! { "input": "2 + 2" }, item! { "id": "b", "input": 4 }]);
    /// let error = dataset.typed::<Question>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "inline: items[1] (key `b`): field `input`: expected a string, found integer `4`"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// The first item that does not match: its index and key, the field, what was expected and what was found.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<Vec<T>, DatasetError> {
        (0..self.len())
            .map(|index| {
                decode(&*self.read(index)?).map_err(|cause| DatasetError::Decode {
                    dataset: self.source().to_owned(),
                    index,
                    key: self.keys().swap_remove(index),
                    cause,
                })
            })
            .collect()
    }

    /// The content for a change of its items, without what depends on them.
    fn into_mutable(self) -> Content {
        let (hash, identities) = (OnceLock::new(), OnceLock::new());
        Content { hash, identities, ..Arc::unwrap_or_clone(self.content) }
    }

    /// The hash of the items, computed once by this function.
    pub(super) fn hash_or_init(&self, hash: impl FnOnce() -> String) -> &str {
        match &self.content.items {
            Items::OnDisk(items) if let Some(known) = items.hash() => known,
            _ => self.content.hash.get_or_init(hash),
        }
    }

    /// What the items' keys are made of.
    pub(super) fn identities(&self) -> &Arc<Identities> {
        self.content.identities.get_or_init(|| match &self.content.items {
            Items::InMemory(items) => {
                let mut identities = Identities::default();
                items.iter().for_each(|item| identities.push(item));
                Arc::new(identities)
            }
            Items::OnDisk(items) => items.identities(),
        })
    }
}

impl FromIterator<Item> for Dataset {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Dataset {
        Dataset::from_items(items)
    }
}

impl<'d> IntoIterator for &'d Dataset {
    type Item = Arc<Item>;
    type IntoIter = Iter<'d>;

    fn into_iter(self) -> Iter<'d> {
        self.iter()
    }
}

/// Iterates over the items of a [`Dataset`] in order.
#[derive(Clone, Debug)]
pub struct Iter<'d> {
    dataset: &'d Dataset,
    indexes: Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = Arc<Item>;

    fn next(&mut self) -> Option<Arc<Item>> {
        self.indexes.next().map(|index| self.dataset.shared(index))
    }

    fn nth(&mut self, n: usize) -> Option<Arc<Item>> {
        self.indexes.nth(n).map(|index| self.dataset.shared(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indexes.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Arc<Item>> {
        self.indexes.next_back().map(|index| self.dataset.shared(index))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn numbers(count: u64) -> Dataset {
        (0..count).map(|n| item! { "n": n }).collect()
    }

    fn read(dataset: &Dataset) -> Vec<u64> {
        dataset.iter().map(|item| item["n"].as_u64().unwrap()).collect()
    }

    #[test]
    fn a_clone_shares_its_items() {
        let dataset = numbers(3);
        let other = dataset.clone().slice(1..);
        assert!(Arc::ptr_eq(&dataset.shared(1), &other.shared(0)));
    }

    #[test]
    fn map_leaves_the_items_of_other_clones_alone() {
        let dataset = numbers(2);
        let changed = dataset.clone().map(|_| item! { "n": 9 });
        assert_eq!((read(&dataset), read(&changed)), (vec![0, 1], vec![9, 9]));
    }

    #[test]
    fn map_does_not_copy_items_that_nobody_else_holds() {
        let dataset = numbers(1);
        let address = Arc::as_ptr(&dataset.shared(0));
        assert_eq!(Arc::as_ptr(&dataset.map(|item| item).shared(0)), address);
    }

    #[test]
    fn try_map_gives_the_first_error() {
        let odd = |item: Item| if item["n"] == 1 { Err("odd") } else { Ok(item) };
        assert_eq!(numbers(3).try_map(odd).unwrap_err(), "odd");
        assert_eq!(numbers(1).try_map(odd).unwrap().len(), 1);
    }

    #[test]
    fn filter_keeps_the_order() {
        assert_eq!(read(&numbers(6).filter(|item| item["n"].as_u64().unwrap() % 2 == 1)), [1, 3, 5]);
    }

    #[test]
    fn slice_takes_every_kind_of_range() {
        let all = numbers(5);
        assert_eq!(read(&all.clone().slice(1..=2)), [1, 2]);
        assert_eq!(read(&all.clone().slice(..)), [0, 1, 2, 3, 4]);
        assert_eq!(read(&all.clone().slice((Bound::Excluded(2), Bound::Unbounded))), [3, 4]);
        assert_eq!(read(&all.clone().slice(0..=usize::MAX)).len(), 5);
        #[expect(clippy::reversed_empty_ranges, reason = "tested on purpose")]
        let reversed = all.slice(4..2);
        assert!(reversed.is_empty());
    }

    #[test]
    fn a_sample_is_the_same_on_every_platform_and_in_every_version() {
        assert_eq!(read(&numbers(100).sample(8)), [79, 49, 80, 6, 56, 48, 90, 43]);
    }

    #[test]
    fn a_sample_larger_than_the_data_set_is_all_of_it() {
        let mut sampled = read(&numbers(20).sample(50));
        assert_ne!(sampled, read(&numbers(20)));
        sampled.sort_unstable();
        assert_eq!(sampled, read(&numbers(20)));
        assert!(numbers(0).sample(5).is_empty());
    }

    #[test]
    fn another_seed_draws_another_sample() {
        assert_ne!(read(&numbers(100).sample_with_seed(10, 1)), read(&numbers(100).sample_with_seed(10, 2)));
    }

    #[test]
    fn a_value_that_is_no_object_is_refused_with_its_index() {
        let error = Dataset::from_serialize([Some(item! {}), None]).unwrap_err();
        assert_eq!(error.to_string(), "items[1]: expected a struct or a map (a JSON object), found null");
        let error = Dataset::from_serialize([std::collections::HashMap::from([((), 1)])]).unwrap_err();
        assert_eq!(error.to_string(), "items[0] cannot be serialized as JSON: key must be a string");
    }

    #[test]
    fn iteration_knows_its_length_and_both_ends() {
        let dataset = numbers(3);
        assert_eq!(dataset.iter().len(), 3);
        assert_eq!(dataset.iter().next_back().unwrap()["n"], 2);
        let mut seen = 0;
        for item in &dataset {
            assert_eq!(item["n"], seen);
            seen += 1;
        }
        assert_eq!(seen, 3);
    }
}
