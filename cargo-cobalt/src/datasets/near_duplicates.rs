//! Finds near-duplicate texts without comparing every pair: an exact set similarity join.
//!
//! The similarity of two texts is the Jaccard index of their sets of shingles (character n-grams). Candidate pairs are found by
//! their rarest shingles ("prefix filtering": Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data
//! cleaning", ICDE 2006), by their numbers of shingles, and by the position of the first shared one (Xiao, Wang, Lin and Yu,
//! "Efficient similarity joins for near duplicate detection", WWW 2008).

use std::collections::HashMap;

/// The rounding error that a product may have: keeps pairs whose similarity is exactly the bound.
const ROUNDING_ERROR: f64 = 1e-9;

/// A text and its later near-duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct NearDuplicates {
    /// The index of the first text.
    pub first: usize,
    /// The indexes of the others, with their similarity to the first.
    pub others: Vec<(usize, f64)>,
}

/// Groups the texts in order. Each joins the first group whose leading text has a similarity of at least `bound` (above 0, up to 1);
/// otherwise it starts a group. Groups of one and texts without visible characters are left out.
pub fn near_duplicates(texts: &[String], bound: f64) -> Vec<NearDuplicates> {
    let sets = shingle_sets(texts);
    let mut groups: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
    let mut beginnings = GroupLeaders::new(&sets, bound);
    let mut seen = vec![usize::MAX; sets.len()];
    for index in (0..sets.len()).filter(|index| !sets[*index].is_empty()) {
        match beginnings.find_leader(index, &mut seen) {
            Some((first, similarity)) => groups.entry(first).or_default().push((index, similarity)),
            None => beginnings.add(index),
        }
    }
    let mut groups: Vec<_> =
        groups.into_iter().map(|(first, others)| NearDuplicates { first, others }).collect();
    groups.sort_unstable_by_key(|group| group.first);
    groups
}

/// The position of a shingle in the set of a group's leading text.
#[derive(Clone, Copy)]
struct Posting {
    /// The index of the text, and its number of shingles.
    index: u32,
    size: u32,
    place: u32,
}

/// An index of the leading texts of groups by their rarest shingles.
struct GroupLeaders<'s> {
    sets: &'s [Vec<u32>],
    bound: f64,
    /// By the prefix needed to match larger texts.
    smaller: HashMap<u32, Vec<Posting>>,
    /// By the prefix needed to match smaller texts.
    larger: HashMap<u32, Vec<Posting>>,
}

impl<'s> GroupLeaders<'s> {
    fn new(sets: &'s [Vec<u32>], bound: f64) -> Self {
        Self { sets, bound, smaller: HashMap::new(), larger: HashMap::new() }
    }

    fn add(&mut self, index: usize) {
        let set = &self.sets[index];
        let (to_larger, to_smaller) =
            (self.prefix_len_for_larger(set.len()), self.prefix_len_for_smaller(set.len()));
        for (postings, prefix) in [(&mut self.smaller, to_larger), (&mut self.larger, to_smaller)] {
            for (place, shingle) in set[..prefix].iter().enumerate() {
                let posting = Posting { index: index as u32, size: set.len() as u32, place: place as u32 };
                postings.entry(*shingle).or_default().push(posting);
            }
        }
    }

    /// The first text that is similar enough, and its similarity. `seen` maps each text to the one it was last considered for.
    fn find_leader(&self, index: usize, seen: &mut [usize]) -> Option<(usize, f64)> {
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
                    // They share no earlier shingle.
                    let most = 1 + (set.len() - place - 1).min(other - posting.place as usize - 1);
                    if most >= self.min_overlap(set.len(), other) {
                        candidates.push(posting.index as usize);
                    }
                }
            }
        };
        find(&self.smaller, self.prefix_len_for_smaller(set.len()), true);
        find(&self.larger, self.prefix_len_for_larger(set.len()), false);
        candidates.sort_unstable();
        candidates.into_iter().find_map(|other| {
            let similarity = self.similarity(set, &self.sets[other])?;
            Some((other, similarity))
        })
    }

    /// The Jaccard index of two sets, if it is not below the bound.
    fn similarity(&self, one: &[u32], other: &[u32]) -> Option<f64> {
        let least = self.min_overlap(one.len(), other.len());
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

    /// The minimum number of shingles that two similar sets of these sizes share.
    fn min_overlap(&self, one: usize, other: usize) -> usize {
        min_count(self.bound / (1.0 + self.bound) * (one + other) as f64)
    }

    /// How many of a set's rarest shingles must contain one shared with any similar set that is smaller or equal in size.
    fn prefix_len_for_smaller(&self, size: usize) -> usize {
        size + 1 - min_count(self.bound * size as f64)
    }

    /// The same for similar sets that are larger or equal in size: these share more, so fewer are enough.
    fn prefix_len_for_larger(&self, size: usize) -> usize {
        size + 1 - min_count(2.0 * self.bound / (1.0 + self.bound) * size as f64)
    }
}

/// A number rounded up to a count of at least 1.
fn min_count(figure: f64) -> usize {
    ((figure - ROUNDING_ERROR).ceil() as usize).max(1)
}

/// The length of a shingle in characters. With five, a wrong letter in a text of a hundred leaves nine tenths the same. With fewer,
/// texts of one language share so much that the search becomes slow.
const SHINGLE_LENGTH: usize = 5;

/// The number of bits per character.
const BITS_PER_CHARACTER: u32 = 21;

/// Each text's shingles as ascending numbers, the globally rarest first.
///
/// Case and the kind and amount of whitespace are ignored. A repeated shingle counts as a different one, so the sets represent
/// multisets and long texts are not all alike. A text shorter than a shingle is one shingle; an empty text has none.
pub fn shingle_sets(texts: &[String]) -> Vec<Vec<u32>> {
    let mut numbers: HashMap<(u128, u32), u32> = HashMap::new();
    let mut frequencies: Vec<u32> = Vec::new();
    let mut number = |shingle| {
        let number = *numbers.entry(shingle).or_insert_with(|| {
            frequencies.push(0);
            frequencies.len() as u32 - 1
        });
        frequencies[number as usize] += 1;
        number
    };
    let mut sets: Vec<Vec<u32>> =
        texts.iter().map(|text| shingles(text).into_iter().map(&mut number).collect()).collect();
    let mut by_rarity: Vec<u32> = (0..frequencies.len() as u32).collect();
    by_rarity.sort_unstable_by_key(|number| (frequencies[*number as usize], *number));
    let mut ranks = vec![0; by_rarity.len()];
    for (rank, number) in by_rarity.into_iter().enumerate() {
        ranks[number as usize] = rank as u32;
    }
    for set in &mut sets {
        set.iter_mut().for_each(|number| *number = ranks[*number as usize]);
        set.sort_unstable();
    }
    sets
}

/// The shingles of a text, each with the number of its earlier occurrences.
fn shingles(text: &str) -> Vec<(u128, u32)> {
    let folded = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let characters: Vec<char> = folded.chars().collect();
    if characters.is_empty() {
        return Vec::new();
    }
    let mut shingles: Vec<_> =
        characters.windows(SHINGLE_LENGTH.min(characters.len())).map(|shingle| (pack(shingle), 0)).collect();
    shingles.sort_unstable();
    for index in 1..shingles.len() {
        let (before, occurrence) = shingles[index - 1];
        if shingles[index].0 == before {
            shingles[index].1 = occurrence + 1;
        }
    }
    shingles
}

/// The characters packed into one number, with a leading bit that distinguishes shorter sequences.
fn pack(characters: &[char]) -> u128 {
    characters
        .iter()
        .fold(1, |packed, character| packed << BITS_PER_CHARACTER | u128::from(u32::from(*character)))
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

    /// The result of comparing every pair directly.
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

    /// The number of shingles of two texts, and of the shared ones.
    fn compared(one: &str, other: &str) -> (usize, usize, usize) {
        let sets = shingle_sets(&[one.to_owned(), other.to_owned()]);
        let shared = sets[0].iter().filter(|shingle| sets[1].contains(shingle)).count();
        (sets[0].len(), sets[1].len(), shared)
    }

    #[test]
    fn texts_share_the_runs_of_five_characters_that_both_have() {
        assert_eq!(compared("abcdef", "abcdeg"), (2, 2, 1));
        assert_eq!(compared("質問とその答え", "質問とその答"), (3, 2, 2));
    }

    #[test]
    fn a_run_that_occurs_again_counts_again() {
        assert_eq!(compared("aaaaaa", "aaaaaaa"), (2, 3, 2));
    }

    #[test]
    fn case_and_white_space_make_no_difference() {
        assert_eq!(compared(" Two\tWORDS\n", "two  words"), (5, 5, 5));
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        assert_eq!(compared("abcd", "abcde"), (1, 1, 0));
        assert_eq!(compared("ab", "AB"), (1, 1, 1));
        assert_eq!(compared(" \n", "a"), (0, 1, 0));
    }

    #[test]
    fn the_rarest_shingles_come_first() {
        let sets = shingle_sets(&["abcdex", "abcde", "abcded"].map(str::to_owned));
        assert_eq!(sets, [vec![0, 2], vec![2], vec![1, 2]]);
    }
}
