//! Numbers in place of letters and words: equal ones have the same number, so that comparing them is cheap.

use std::collections::HashMap;
use std::hash::Hash;

/// Letters below this are their own number.
const ASCII: usize = 128;

/// Numbers for parts of type `T`, given as the parts come.
pub(crate) struct Numbers<T> {
    known: HashMap<T, usize>,
    first: usize,
}

impl<T: Eq + Hash> Numbers<T> {
    /// Numbers from 0 on.
    pub(crate) fn new() -> Self {
        Self { known: HashMap::new(), first: 0 }
    }

    pub(crate) fn of(&mut self, part: T) -> usize {
        let next = self.first + self.known.len();
        *self.known.entry(part).or_insert(next)
    }

    /// How many numbers there are: each is below this.
    pub(crate) fn count(&self) -> usize {
        self.first + self.known.len()
    }
}

impl Numbers<char> {
    /// The letters of two texts as numbers, and how many numbers there are. Those of ASCII need no look-up.
    pub(crate) fn of_letters(texts: [&str; 2]) -> ([Vec<usize>; 2], usize) {
        let mut numbers = Self { known: HashMap::new(), first: ASCII };
        let sequences = texts.map(|text| {
            let number = |letter: char| if letter.is_ascii() { letter as usize } else { numbers.of(letter) };
            text.chars().map(number).collect()
        });
        (sequences, numbers.count())
    }
}
