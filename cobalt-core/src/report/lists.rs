//! Many short lists in one allocation, by position: the columns of [`MeasuredItems`](super::MeasuredItems).

use std::collections::BTreeMap;
use std::ops::Range;

/// Consecutive ranges, by their ends. While all have the same length, only their number is kept.
#[derive(Clone, Debug, Default)]
struct Ranges {
    count: usize,
    /// The end of the last one.
    end: usize,
    /// Empty while all have the same length.
    ends: Vec<usize>,
}

impl Ranges {
    /// Adds a range of this length.
    fn push(&mut self, length: usize) {
        if self.ends.is_empty() && length * self.count != self.end {
            let each = self.end / self.count;
            self.ends = (1..=self.count).map(|number| number * each).collect();
        }
        self.count += 1;
        self.end += length;
        if !self.ends.is_empty() {
            self.ends.push(self.end);
        }
    }

    fn get(&self, at: usize) -> Range<usize> {
        if self.ends.is_empty() {
            let each = self.end / self.count;
            return at * each..(at + 1) * each;
        }
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }
}

/// Lists of values.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    ranges: Ranges,
    values: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { ranges: Ranges::default(), values: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// This many empty lists.
    fn empty(count: usize) -> Self {
        Self { ranges: Ranges { count, ..Ranges::default() }, values: Vec::new() }
    }

    fn len(&self) -> usize {
        self.ranges.count
    }

    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        let before = self.values.len();
        self.values.extend(list);
        self.ranges.push(self.values.len() - before);
    }

    pub fn get(&self, at: usize) -> &[T] {
        &self.values[self.ranges.get(at)]
    }
}

/// Texts.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    ranges: Ranges,
    text: String,
}

impl Texts {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ranges.push(text.len());
    }

    pub fn get(&self, at: usize) -> &str {
        &self.text[self.ranges.get(at)]
    }
}

/// At each position a list for every name; few names, and mostly the same at all positions.
#[derive(Clone, Debug)]
pub struct NamedLists<T> {
    columns: Vec<(Box<str>, Lists<T>)>,
}

impl<T> Default for NamedLists<T> {
    fn default() -> Self {
        Self { columns: Vec::new() }
    }
}

impl<T: Clone> NamedLists<T> {
    /// Adds the lists of the next position, which is `at`.
    pub fn push(&mut self, at: usize, lists: BTreeMap<String, Vec<T>>) {
        for (name, list) in lists {
            let known = self.columns.iter().position(|(known, _)| **known == *name);
            let column = known.unwrap_or_else(|| {
                self.columns.push((name.into(), Lists::empty(at)));
                self.columns.len() - 1
            });
            self.columns[column].1.push(list);
        }
        for (_, column) in self.columns.iter_mut().filter(|(_, column)| column.len() == at) {
            column.push([]);
        }
    }

    /// The list of a name; `None` if it is empty.
    pub fn get(&self, at: usize, name: &str) -> Option<&[T]> {
        let (_, column) = self.columns.iter().find(|(known, _)| **known == *name)?;
        Some(column.get(at)).filter(|list| !list.is_empty())
    }

    /// Whether the list of a name is not empty at some position.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, column)| **known == *name && !column.values.is_empty())
    }

    /// The lists at a position that are not empty.
    pub fn to_map(&self, at: usize) -> BTreeMap<String, Vec<T>> {
        let lists = self.columns.iter().map(|(name, column)| (name.to_string(), column.get(at).to_vec()));
        lists.filter(|(_, list)| !list.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_found_again() {
        let alike: &[&[u8]] = &[&[1, 2], &[3, 4], &[5, 6]];
        let empty: &[&[u8]] = &[&[], &[], &[]];
        let then_empty: &[&[u8]] = &[&[1], &[2], &[], &[3]];
        let at_last: &[&[u8]] = &[&[], &[], &[1, 2], &[]];
        for (wanted, is_uniform) in [(alike, true), (empty, true), (then_empty, false), (at_last, false)] {
            let mut lists = Lists::default();
            wanted.iter().for_each(|list| lists.push(list.iter().copied()));
            assert_eq!((0..wanted.len()).map(|at| lists.get(at)).collect::<Vec<_>>(), wanted);
            assert_eq!(lists.ranges.ends.is_empty(), is_uniform);
        }
        let mut texts = Texts::default();
        ["a", "b", "", "für"].iter().for_each(|text| texts.push(text));
        assert_eq!([0, 1, 2, 3].map(|at| texts.get(at)), ["a", "b", "", "für"]);
    }

    #[test]
    fn a_name_may_come_late_and_be_left_out() {
        let mut lists = NamedLists::default();
        let list = |name: &str, values: &[f64]| (name.to_owned(), values.to_vec());
        let rows = [
            BTreeMap::from([list("a", &[1.0])]),
            BTreeMap::new(),
            BTreeMap::from([list("a", &[2.0]), list("b", &[3.0, 4.0])]),
        ];
        rows.iter().enumerate().for_each(|(at, row)| lists.push(at, row.clone()));
        assert_eq!([0, 1, 2].map(|at| lists.to_map(at)), rows);
        assert_eq!((lists.get(2, "b"), lists.get(1, "b")), (Some(&[3.0, 4.0][..]), None));
        assert_eq!(lists.get(0, "c"), None);
    }
}
