//! Sets of items of a run, by position: a bit for each item.

/// A set of items. Of a run of a million items, it takes 125 kB.
#[derive(Debug, PartialEq, Eq)]
pub struct ItemSet(Box<[u64]>);

/// What selects the items of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// They contain this lower-case text.
    Search(String),
    /// They meet this condition.
    Condition(String),
}

impl FromIterator<bool> for ItemSet {
    /// From whether the set has each item, in order.
    fn from_iter<I: IntoIterator<Item = bool>>(items: I) -> Self {
        let mut words = Vec::new();
        for (position, is_in) in items.into_iter().enumerate() {
            if position.is_multiple_of(64) {
                words.push(0);
            }
            words[position / 64] |= u64::from(is_in) << (position % 64);
        }
        Self(words.into())
    }
}

impl ItemSet {
    pub fn contains(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    /// The memory use of a cached set in bytes.
    pub fn size(&self, selection: &Selection) -> usize {
        /// The entry of the cache.
        const ENTRY: usize = 256;
        let (Selection::Search(text) | Selection::Condition(text)) = selection;
        ENTRY + size_of_val(&*self.0) + text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_items_that_were_put_in() {
        let is_in = |position: usize| position.is_multiple_of(3) || position == 64;
        let set: ItemSet = (0..200).map(is_in).collect();
        assert!((0..200).all(|position| set.contains(position) == is_in(position)));
        assert!(!set.contains(200) && !set.contains(usize::MAX));
    }
}
