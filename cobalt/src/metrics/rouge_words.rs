//! The words that ROUGE compares: runs of the letters a to z and of digits, in lower case.

use super::porter;

/// Words up to this length, in letters, are not stemmed.
const LONGEST_WITHOUT_STEM: usize = 3;

/// The words of a text, one after another in one buffer.
#[derive(Default)]
pub(super) struct RougeWords {
    letters: Vec<u8>,
    /// Where each word ends.
    ends: Vec<usize>,
}

impl RougeWords {
    pub(super) fn of(text: &str, stem: bool) -> Self {
        let mut words = Self { letters: Vec::with_capacity(text.len()), ends: Vec::new() };
        words.add(text, stem);
        words
    }

    /// Adds the words of a text. All else parts words, letters of other alphabets too.
    pub(super) fn add(&mut self, text: &str, stem: bool) {
        for letter in text.chars() {
            if letter.is_ascii() {
                self.add_letter(letter.to_ascii_lowercase(), stem);
            } else {
                // The lower case of a few letters is in ASCII, such as that of the sign for kelvin.
                letter.to_lowercase().for_each(|letter| self.add_letter(letter, stem));
            }
        }
        self.end_word(stem);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| &self.letters[std::mem::replace(&mut start, *end)..*end])
    }

    fn add_letter(&mut self, letter: char, stem: bool) {
        match u8::try_from(letter) {
            Ok(letter @ (b'a'..=b'z' | b'0'..=b'9')) => self.letters.push(letter),
            _ => self.end_word(stem),
        }
    }

    fn end_word(&mut self, stem: bool) {
        let start = self.ends.last().copied().unwrap_or(0);
        let length = self.letters.len() - start;
        if length == 0 {
            return;
        }
        if stem && length > LONGEST_WITHOUT_STEM {
            let length = porter::stem(&mut self.letters[start..]);
            self.letters.truncate(start + length);
        }
        self.ends.push(self.letters.len());
    }
}
