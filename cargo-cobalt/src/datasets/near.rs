//! Texts that are nearly the same, found without comparing each with each: an exact set similarity join.
//!
//! Two texts are as much alike as the sets of their shingles, runs of characters, by Jaccard's index. Which ones
//! can be alike at all is told by their rarest shingles ("prefix filtering": Chaudhuri, Ganti and Kaushik, "A primitive
//! operator for similarity joins in data cleaning", ICDE 2006), by their numbers of shingles, and by where the first one that
//! they share stands (Xiao, Wang, Lin and Yu, "Efficient similarity joins for near duplicate detection", WWW 2008).

use std::collections::HashMap;

use super::shingles::shingle_sets;

/// What a figure may be off by after a multiplication, so that no pair is lost that is alike by just as much as is asked for.
const ROUNDING: f64 = 1e-9;

/// A text, and later ones that are nearly the same as it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NearDuplicates {
    /// The index of the text that comes first.
    pub(super) first: usize,
    /// The indexes of the others, with their similarity to the first one.
    pub(super) others: Vec<(usize, f64)>,
}

/// Goes through the texts in their order. Each belongs to the first of the earlier ones that begins a group and is at least as
/// similar as `bound`, above 0 and up to 1; else it begins a group. Groups of one are left out, as are texts without any
/// character to be seen.
pub(super) fn near_duplicates(texts: &[String], bound: f64) -> Vec<NearDuplicates> {
    let sets = shingle_sets(texts);
    let mut groups: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
    let mut beginnings = Beginnings::new(&sets, bound);
    let mut seen = vec![usize::MAX; sets.len()];
    for index in (0..sets.len()).filter(|index| !sets[*index].is_empty()) {
        match beginnings.first_near(index, &mut seen) {
            Some((first, similarity)) => groups.entry(first).or_default().push((index, similarity)),
            None => beginnings.add(index),
        }
    }
    let mut groups: Vec<_> =
        groups.into_iter().map(|(first, others)| NearDuplicates { first, others }).collect();
    groups.sort_unstable_by_key(|group| group.first);
    groups
}

/// Where a shingle stands in the set of a text that begins a group.
#[derive(Clone, Copy)]
struct Posting {
    /// Which text it is, and how many shingles that has.
    index: u32,
    size: u32,
    place: u32,
}

/// The texts that begin groups, to be found by their rarest shingles.
struct Beginnings<'s> {
    sets: &'s [Vec<u32>],
    bound: f64,
    /// By as many shingles as tell a text from larger ones.
    smaller: HashMap<u32, Vec<Posting>>,
    /// By as many as tell it from those that are smaller.
    larger: HashMap<u32, Vec<Posting>>,
}

impl<'s> Beginnings<'s> {
    fn new(sets: &'s [Vec<u32>], bound: f64) -> Self {
        Self { sets, bound, smaller: HashMap::new(), larger: HashMap::new() }
    }

    fn add(&mut self, index: usize) {
        let set = &self.sets[index];
        let (to_larger, to_smaller) = (self.prefix_to_larger(set.len()), self.prefix_to_smaller(set.len()));
        for (postings, prefix) in [(&mut self.smaller, to_larger), (&mut self.larger, to_smaller)] {
            for (place, shingle) in set[..prefix].iter().enumerate() {
                let posting = Posting { index: index as u32, size: set.len() as u32, place: place as u32 };
                postings.entry(*shingle).or_default().push(posting);
            }
        }
    }

    /// The first text that is near enough to one, and how similar it is. `seen` has, by the index of each text, the one that it was
    /// looked at for last.
    fn first_near(&self, index: usize, seen: &mut [usize]) -> Option<(usize, f64)> {
        let set = &self.sets[index];
        let mut candidates = Vec::new();
        let mut find = |postings: &HashMap<u32, Vec<Posting>>, prefix: usize, is_smaller: bool| {
            for (place, shingle) in set[..prefix].iter().enumerate() {
                for posting in postings.get(shingle).into_iter().flatten() {
                    let other = posting.size as usize;
                    if (other <= set.len()) != is_smaller || seen[posting.index as usize] == index {
                        continue;
                    }
                    seen[posting.index as usize] = index;
                    // They share no shingle before this one.
                    let most = 1 + (set.len() - place - 1).min(other - posting.place as usize - 1);
                    if most >= self.least_overlap(set.len(), other) {
                        candidates.push(posting.index as usize);
                    }
                }
            }
        };
        find(&self.smaller, self.prefix_to_smaller(set.len()), true);
        find(&self.larger, self.prefix_to_larger(set.len()), false);
        candidates.sort_unstable();
        candidates.into_iter().find_map(|other| {
            let similarity = self.similarity(set, &self.sets[other])?;
            Some((other, similarity))
        })
    }

    /// Jaccard's index of two sets, where it is not below the bound.
    fn similarity(&self, one: &[u32], other: &[u32]) -> Option<f64> {
        let least = self.least_overlap(one.len(), other.len());
        let (mut left, mut right, mut shared) = (0, 0, 0);
        while left < one.len() && right < other.len() {
            if shared + (one.len() - left).min(other.len() - right) < least {
                return None;
            }
            let (a, b) = (one[left], other[right]);
            shared += usize::from(a == b);
            left += usize::from(a <= b);
            right += usize::from(b <= a);
        }
        let similarity = shared as f64 / (one.len() + other.len() - shared) as f64;
        (similarity >= self.bound).then_some(similarity)
    }

    /// How many shingles two sets of these sizes share at the least if they are near.
    fn least_overlap(&self, one: usize, other: usize) -> usize {
        at_least(self.bound / (1.0 + self.bound) * (one + other) as f64)
    }

    /// How many of a set's rarest shingles hold one that is shared with any near set that is smaller or as large.
    fn prefix_to_smaller(&self, size: usize) -> usize {
        size + 1 - at_least(self.bound * size as f64)
    }

    /// The same for near sets that are larger or as large: these share more, so that fewer are enough.
    fn prefix_to_larger(&self, size: usize) -> usize {
        size + 1 - at_least(2.0 * self.bound / (1.0 + self.bound) * size as f64)
    }
}

/// The smallest count, from 1, that is no smaller than a figure.
fn at_least(figure: f64) -> usize {
    ((figure - ROUNDING).ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(texts: &[&str], bound: f64) -> Vec<NearDuplicates> {
        near_duplicates(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), bound)
    }

    #[test]
    fn the_similarity_is_the_share_of_shingles_that_both_have() {
        // 10 shingles, 11, of which they share 10; and 10, of which the first shares 9 of 11.
        let texts = ["abcdefghijklmn", "abcdefghijklmno", "xbcdefghijklmn"];
        let others = vec![(1, 10.0 / 11.0), (2, 9.0 / 11.0)];
        assert_eq!(found(&texts, 0.8), [NearDuplicates { first: 0, others }]);
        assert_eq!(found(&texts, 0.9), [NearDuplicates { first: 0, others: vec![(1, 10.0 / 11.0)] }]);
    }

    #[test]
    fn texts_that_are_just_as_similar_as_is_asked_for_are_found() {
        // 9 shingles of 10.
        let texts = ["abcdefghijklmn", "abcdefghijklm"];
        assert_eq!(found(&texts, 0.9), [NearDuplicates { first: 0, others: vec![(1, 0.9)] }]);
        assert_eq!(found(&texts, 0.9001), []);
    }

    #[test]
    fn each_of_a_group_is_near_its_first_one() {
        let texts = ["abcdefghijklmn", "abcdefghijklmno", "abcdefghijklmnop"];
        let near = found(&texts, 0.9);
        assert_eq!(near, [NearDuplicates { first: 0, others: vec![(1, 10.0 / 11.0)] }]);
    }

    #[test]
    fn texts_with_nothing_to_be_seen_are_no_duplicates() {
        assert_eq!(found(&["", " ", "\n"], 0.5), []);
    }

    /// What comparing each text with each says, by the runs of characters themselves.
    fn by_comparing_all(texts: &[String], bound: f64) -> Vec<NearDuplicates> {
        let mut groups: Vec<NearDuplicates> = Vec::new();
        for (index, text) in texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let near = groups.iter_mut().find_map(|group| {
                let similarity = jaccard(&runs(&texts[group.first]), &runs(text));
                (similarity >= bound).then_some((group, similarity))
            });
            match near {
                Some((group, similarity)) => group.others.push((index, similarity)),
                None => groups.push(NearDuplicates { first: index, others: Vec::new() }),
            }
        }
        groups.retain(|group| !group.others.is_empty());
        groups
    }

    fn runs(text: &str) -> Vec<String> {
        let characters: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
        characters.windows(characters.len().min(5)).map(|run| run.iter().collect()).collect()
    }

    fn jaccard(one: &[String], other: &[String]) -> f64 {
        let mut left = other.to_vec();
        let is_shared = |run: &&String| {
            let place = left.iter().position(|other| other == *run);
            place.map(|place| left.swap_remove(place)).is_some()
        };
        let shared = one.iter().filter(is_shared).count();
        shared as f64 / (one.len() + other.len() - shared) as f64
    }

    proptest! {
        #[test]
        fn nothing_is_found_but_what_comparing_all_finds(
            texts in prop::collection::vec("[ab ]{0,14}|[a-d]{8,24}", 0..40),
            bound in prop::sample::select(vec![0.5, 0.6, 2.0 / 3.0, 0.75, 0.8, 0.9, 1.0]),
        ) {
            prop_assert_eq!(near_duplicates(&texts, bound), by_comparing_all(&texts, bound));
        }
    }
}
