//! Texts as sets of short runs of characters, by which they are compared.

use std::collections::HashMap;

/// How many characters a shingle has. With five, a wrong letter in a text of a hundred leaves nine tenths the same; with fewer, texts
/// of one language have so much in common that it takes long to find those that are alike.
const SHINGLE: usize = 5;

/// How many bits a character takes.
const CHARACTER: u32 = 21;

/// Each text's shingles as numbers in ascending order, the rarest among all texts first.
///
/// Case and the kind and length of white space make no difference. A shingle that occurs again in a text counts as another one
/// (so that the sets stand for bags, and a long text is not like every other long one). A text that is shorter than a shingle
/// is one; an empty one has none.
pub(super) fn shingle_sets(texts: &[String]) -> Vec<Vec<u32>> {
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

/// The shingles of a text, each with a number that tells how often it has occurred before.
fn shingles(text: &str) -> Vec<(u128, u32)> {
    let folded = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let characters: Vec<char> = folded.chars().collect();
    if characters.is_empty() {
        return Vec::new();
    }
    let mut shingles: Vec<_> =
        characters.windows(SHINGLE.min(characters.len())).map(|shingle| (packed(shingle), 0)).collect();
    shingles.sort_unstable();
    for index in 1..shingles.len() {
        let (before, occurrence) = shingles[index - 1];
        if shingles[index].0 == before {
            shingles[index].1 = occurrence + 1;
        }
    }
    shingles
}

/// The characters in one number, with a bit before them by which shorter runs are others.
fn packed(characters: &[char]) -> u128 {
    characters.iter().fold(1, |packed, character| packed << CHARACTER | u128::from(u32::from(*character)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many shingles two texts have, and how many of them both have.
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
