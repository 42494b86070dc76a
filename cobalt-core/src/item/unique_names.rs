//! Unique names of many items in little memory: one text for all of them, and only the names that had to change.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::Item;
use super::identity::{natural_key, slug_or_index, unredacted_id};
use crate::redact::redacted;

/// Texts in order, stored one after another.
#[derive(Clone, Debug, Default)]
struct TextList {
    text: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl TextList {
    /// Adds a text.
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut list = Self::default();
        texts.into_iter().for_each(|text| list.push(text.as_ref()));
        list
    }
}

/// What the keys and the test case names of items are made of. IDs are as written, and may contain secrets.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// Each item's key, which may not be unique.
    keys: TextList,
    /// Whether the key is the item's `id`.
    are_ids: Vec<bool>,
}

impl Identities {
    /// Adds the next item.
    pub fn push(&mut self, item: &Item) {
        let id = unredacted_id(item);
        self.are_ids.push(id.is_some());
        self.keys.push(&id.unwrap_or_else(|| natural_key(item).into()));
    }

    /// Those of the items at these indexes.
    #[must_use]
    pub fn select(&self, indexes: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self::default();
        for index in indexes {
            selected.are_ids.push(self.are_ids[index]);
            selected.keys.push(self.natural_key(index));
        }
        selected
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.are_ids.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.are_ids.is_empty()
    }

    /// The same without secrets.
    fn redacted(self: Arc<Self>) -> Arc<Self> {
        let is_clean = |index| self.id(index).is_none_or(|id| matches!(redacted(id), Cow::Borrowed(_)));
        if (0..self.len()).all(is_clean) {
            return self;
        }
        let keys =
            (0..self.len()).map(|index| self.id(index).map_or(self.natural_key(index).into(), redacted));
        Arc::new(Self { keys: keys.collect(), are_ids: self.are_ids.clone() })
    }

    /// Frees what was reserved for more items.
    pub fn shrink(&mut self) {
        self.keys.shrink();
        self.are_ids.shrink_to_fit();
    }

    fn natural_key(&self, index: usize) -> &str {
        self.keys.get(index).unwrap_or_default()
    }

    fn id(&self, index: usize) -> Option<&str> {
        self.are_ids[index].then(|| self.natural_key(index))
    }

    /// The items that share an ID, by the first of them; each ID with its items.
    #[must_use]
    pub fn shared_ids(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut shared: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let names = Names::of(self.len(), |index| self.id(index).unwrap_or_default().into());
        for index in names.repeated() {
            if let Some(id) = self.id(index) {
                shared.entry(id).or_default().push(index);
            }
        }
        shared.values_mut().for_each(|items| items.sort_unstable());
        shared
    }
}

/// The unique keys of items.
#[derive(Clone, Debug, Default)]
pub struct ItemKeys {
    identities: Arc<Identities>,
    renamed: BTreeMap<usize, String>,
}

impl ItemKeys {
    /// The keys of these items.
    #[must_use]
    pub fn new(identities: Arc<Identities>) -> Self {
        let identities = identities.redacted();
        let renamed = renamed(identities.len(), |index| identities.natural_key(index).into());
        Self { identities, renamed }
    }

    /// The key of the item at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let natural = self.identities.keys.get(index)?;
        Some(self.renamed.get(&index).map_or(natural, String::as_str))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.identities.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// The keys, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| &self[index])
    }
}

impl std::ops::Index<usize> for ItemKeys {
    type Output = str;

    fn index(&self, index: usize) -> &str {
        self.get(index).expect("an item of the dataset")
    }
}

/// Keys that are known already.
impl<T: AsRef<str>> FromIterator<T> for ItemKeys {
    fn from_iter<I: IntoIterator<Item = T>>(keys: I) -> Self {
        let keys: TextList = keys.into_iter().collect();
        let are_ids = vec![true; keys.len()];
        Self { identities: Identities { keys, are_ids }.into(), renamed: BTreeMap::new() }
    }
}

/// The unique names of items in test cases.
#[derive(Clone, Debug, Default)]
pub struct CaseNames {
    identities: Arc<Identities>,
    renamed: BTreeMap<usize, String>,
}

impl CaseNames {
    /// The names of these items.
    #[must_use]
    pub fn new(identities: Arc<Identities>) -> Self {
        let identities = identities.redacted();
        let renamed = renamed(identities.len(), |index| slug_or_index(identities.id(index), index).into());
        Self { identities, renamed }
    }

    /// The name of the item at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> String {
        let known = self.renamed.get(&index).cloned();
        known.unwrap_or_else(|| slug_or_index(self.identities.id(index), index))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.identities.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }
}

/// Makes names unique by numbering repeated ones, avoiding clashes with names that already end with a number.
#[must_use]
pub fn make_unique(mut names: Vec<String>) -> Vec<String> {
    let renamed = renamed(names.len(), |index| names[index].as_str().into());
    renamed.into_iter().for_each(|(index, name)| names[index] = name);
    names
}

/// The names that must change to be unique.
fn renamed<'n>(number: usize, name: impl Fn(usize) -> Cow<'n, str>) -> BTreeMap<usize, String> {
    let names = Names::of(number, name);
    let mut repeated = names.repeated();
    repeated.sort_unstable();
    let (mut uses, mut renamed) = (HashMap::<Cow<'n, str>, usize>::new(), BTreeMap::new());
    for index in repeated {
        let name = (names.name)(index);
        let mut number = uses.get(&name).copied().unwrap_or_default() + 1;
        while number > 1 {
            let key = format!("{name}-{number}");
            if !names.contains(&key) {
                renamed.insert(index, key);
                break;
            }
            number += 1;
        }
        uses.insert(name, number);
    }
    renamed
}

/// Names by their hashes, to find repeated ones.
struct Names<F> {
    name: F,
    /// The hash and the index of each name, sorted.
    hashes: Vec<(u64, u32)>,
}

impl<'n, F: Fn(usize) -> Cow<'n, str>> Names<F> {
    fn of(number: usize, name: F) -> Self {
        let index = |index: usize| u32::try_from(index).expect("a dataset has fewer than 2^32 items");
        let mut hashes: Vec<_> = (0..number).map(|place| (hash(&name(place)), index(place))).collect();
        hashes.sort_unstable();
        Self { name, hashes }
    }

    /// The indexes of the names that are not unique.
    fn repeated(&self) -> Vec<usize> {
        let alike = self.hashes.chunk_by(|(one, _), (other, _)| one == other).filter(|alike| alike.len() > 1);
        let mut repeated = Vec::new();
        for alike in alike {
            let mut by_name = BTreeMap::<_, Vec<usize>>::new();
            for (_, index) in alike {
                by_name.entry((self.name)(*index as usize)).or_default().push(*index as usize);
            }
            repeated.extend(by_name.into_values().filter(|indexes| indexes.len() > 1).flatten());
        }
        repeated
    }

    fn contains(&self, name: &str) -> bool {
        let wanted = hash(name);
        let start = self.hashes.partition_point(|(hash, _)| *hash < wanted);
        let mut alike = self.hashes[start..].iter().take_while(|(hash, _)| *hash == wanted);
        alike.any(|(_, index)| (self.name)(*index as usize) == name)
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::into_item;

    #[test]
    fn texts_are_found_again_by_their_index() {
        let list: TextList = ["a", "", "é", "bcd"].into_iter().collect();
        let texts: Vec<_> = (0..5).map(|index| list.get(index)).collect();
        assert_eq!(texts, [Some("a"), Some(""), Some("é"), Some("bcd"), None]);
    }

    #[test]
    fn repeated_names_are_numbered_around_those_that_there_are() {
        let unique = |names: &[&str]| make_unique(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(unique(&["a", "a", "a-2", "a", "a-2"]), ["a", "a-3", "a-2", "a-4", "a-2-2"]);
        assert_eq!(unique(&["b", "a"]), ["b", "a"]);
    }

    fn identities(items: &[serde_json::Value]) -> Identities {
        let mut identities = Identities::default();
        items.iter().for_each(|item| identities.push(&into_item(item.clone()).unwrap()));
        identities
    }

    #[test]
    fn selected_items_are_named_as_if_there_were_no_others() {
        let all = identities(&[json!({ "id": "a b" }), json!({ "input": 1 }), json!({ "id": "a b" })]);
        let some = all.select([2, 1].into_iter());
        let (keys, names) = (ItemKeys::new(some.clone().into()), CaseNames::new(some.into()));
        assert_eq!((&keys[0], &*names.get(0)), ("a b", "a-b"));
        assert_eq!((keys[1].len(), &*names.get(1)), (16, "0001"));
        let (keys, names) = (ItemKeys::new(all.clone().into()), CaseNames::new(all.clone().into()));
        assert_eq!((&keys[2], &*names.get(2)), ("a b-2", "a-b-2"));
        assert_eq!(all.shared_ids(), BTreeMap::from([("a b", vec![0, 2])]));
    }
}
