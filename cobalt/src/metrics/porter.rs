//! The Porter stemmer for English ("An algorithm for suffix stripping", Program 14 (3), 1980), with NLTK's extensions, as used by
//! rouge-score.
//!
//! A letter is a vowel (`a e i o u`, and `y` after a consonant) or a consonant; digits count as consonants. The measure of a
//! word is how often a consonant follows a vowel in it.

/// Stems a word in place and returns the length of the stem, which is never longer than the word. The word has at least three letters, all
/// `a` to `z` or digits.
pub fn stem(letters: &mut [u8]) -> usize {
    let length = letters.len();
    let mut word = Word { letters, length };
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| form.as_bytes() == word.as_bytes()) {
        word.replace(length, stem);
        return word.length;
    }
    word.drop_plural();
    word.drop_past_or_ing();
    word.change_final_y();
    word.apply_step_2();
    word.apply(STEP_3, 0);
    word.apply_step_4();
    word.drop_final_e();
    word.drop_double_l();
    word.length
}

/// A word whose suffixes are being removed.
struct Word<'a> {
    letters: &'a mut [u8],
    length: usize,
}

impl Word<'_> {
    fn as_bytes(&self) -> &[u8] {
        &self.letters[..self.length]
    }

    #[inline]
    fn ends_with(&self, ending: &str) -> bool {
        // Most suffixes differ in their last letter.
        self.as_bytes().last() == ending.as_bytes().last() && self.as_bytes().ends_with(ending.as_bytes())
    }

    /// The word without this many letters at its end.
    fn without(&self, letters: usize) -> &[u8] {
        &self.letters[..self.length - letters]
    }

    /// Replaces this many letters at the end with `ending`.
    fn replace(&mut self, letters: usize, ending: &str) {
        let start = self.length - letters;
        self.length = start + ending.len();
        self.letters[start..self.length].copy_from_slice(ending.as_bytes());
    }

    /// Applies the first rule whose suffix the word has, if the measure of the rest is above `measure_above`.
    fn apply(&mut self, rules: &Rules, measure_above: usize) {
        let rule = rules.iter().find(|(ending, _)| self.ends_with(ending));
        if let Some((ending, stem)) = rule
            && measure(self.without(ending.len())) > measure_above
        {
            self.replace(ending.len(), stem);
        }
    }

    /// Step 1a.
    fn drop_plural(&mut self) {
        if self.ends_with("ies") {
            // In NLTK, `dies` becomes `die`.
            self.length -= if self.length == 4 { 1 } else { 2 };
        } else if self.ends_with("sses") {
            self.length -= 2;
        } else if self.ends_with("s") && !self.ends_with("ss") {
            self.length -= 1;
        }
    }

    /// Step 1b.
    fn drop_past_or_ing(&mut self) {
        if self.ends_with("ied") {
            // In NLTK, `died` becomes `die`.
            self.length -= if self.length == 4 { 1 } else { 2 };
        } else if self.ends_with("eed") {
            if measure(self.without(3)) > 0 {
                self.length -= 1;
            }
        } else if let Some(ending) = ["ed", "ing"].into_iter().find(|ending| self.ends_with(ending))
            && vowels(self.without(ending.len())).any(|vowel| vowel)
        {
            self.length -= ending.len();
            self.restore_ending();
        }
    }

    /// Restores the end of a word after `ed` or `ing` was removed.
    fn restore_ending(&mut self) {
        if ["at", "bl", "iz"].into_iter().any(|ending| self.ends_with(ending)) {
            self.replace(0, "e");
        } else if let [.., before, last] = *self.as_bytes()
            && before == last
            && !last_vowels(self.as_bytes())[2]
        {
            if !b"lsz".contains(&last) {
                self.length -= 1;
            }
        } else if measure(self.as_bytes()) == 1 && ends_with_short_syllable(self.as_bytes()) {
            self.replace(0, "e");
        }
    }

    /// Step 1c, by NLTK: after a consonant that is not the first letter.
    fn change_final_y(&mut self) {
        if self.ends_with("y") && self.length > 2 && !last_vowels(self.without(1))[2] {
            self.replace(1, "i");
        }
    }

    fn apply_step_2(&mut self) {
        // In NLTK, before all other rules, which then apply to the rest.
        if self.ends_with("alli") && measure(self.without(4)) > 0 {
            self.replace(4, "al");
        }
        // In NLTK, the `l` counts as part of the rest, so `geologi` becomes `geolog`.
        if self.ends_with("logi") && measure(self.without(3)) > 0 {
            self.length -= 1;
        }
        self.apply(STEP_2, 0);
    }

    fn apply_step_4(&mut self) {
        if let [rest @ .., b's' | b't', b'i', b'o', b'n'] = self.as_bytes() {
            let rest = rest.len() + 1;
            if measure(&self.letters[..rest]) > 1 {
                self.length = rest;
            }
        } else {
            self.apply(STEP_4, 1);
        }
    }

    /// Step 5a.
    fn drop_final_e(&mut self) {
        if self.ends_with("e") {
            let rest = self.without(1);
            let measure = measure(rest);
            if measure > 1 || measure == 1 && !ends_with_short_syllable(rest) {
                self.length -= 1;
            }
        }
    }

    /// Step 5b.
    fn drop_double_l(&mut self) {
        if self.ends_with("ll") && measure(self.without(1)) > 1 {
            self.length -= 1;
        }
    }
}

/// Whether each letter is a vowel.
fn vowels(letters: &[u8]) -> impl Iterator<Item = bool> {
    // A `y` at the start is a consonant, as if after a vowel.
    letters.iter().scan(true, |vowel, letter| {
        *vowel = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => !*vowel,
            _ => false,
        };
        Some(*vowel)
    })
}

/// Whether the last three letters are vowels; missing ones count as `true`.
fn last_vowels(letters: &[u8]) -> [bool; 3] {
    vowels(letters).fold([true; 3], |[_, second, third], vowel| [second, third, vowel])
}

/// How often a consonant follows a vowel.
fn measure(letters: &[u8]) -> usize {
    let mut before = false;
    vowels(letters).filter(|vowel| std::mem::replace(&mut before, *vowel) && !vowel).count()
}

/// Whether a word ends with consonant, vowel and consonant, where the last is not `w`, `x` or `y`; in NLTK, also a word of one vowel and
/// one consonant.
fn ends_with_short_syllable(letters: &[u8]) -> bool {
    match (letters.len(), last_vowels(letters), letters.last()) {
        (2, [_, true, false], _) => true,
        (3.., [false, true, false], Some(last)) => !b"wxy".contains(last),
        _ => false,
    }
}

/// Words with irregular stems.
pub const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("inning", "inning"),
    ("innings", "inning"),
    ("outing", "outing"),
    ("outings", "outing"),
    ("canning", "canning"),
    ("cannings", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Suffixes and their replacements. The first match decides, even if the rest of the word does not allow the replacement.
pub type Rules = [(&'static str, &'static str)];

pub const STEP_2: &Rules = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

pub const STEP_3: &Rules = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

pub const STEP_4: &Rules = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stem_of(word: &str) -> String {
        let mut letters = word.as_bytes().to_vec();
        let length = stem(&mut letters);
        String::from_utf8(letters[..length].to_vec()).unwrap()
    }

    #[test]
    fn words_have_the_stems_of_nltk() {
        for (word, stem) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("dies", "die"),
            ("died", "die"),
            ("agreed", "agre"),
            ("feed", "feed"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("using", "use"),
            ("conflated", "conflat"),
            ("happy", "happi"),
            ("enjoy", "enjoy"),
            ("relational", "relat"),
            ("rationally", "ration"),
            ("geology", "geolog"),
            ("hopefully", "hope"),
            ("electrical", "electr"),
            ("adoption", "adopt"),
            ("replacement", "replac"),
            ("controlling", "control"),
            ("cease", "ceas"),
            ("skies", "sky"),
            ("dying", "die"),
        ] {
            assert_eq!(stem_of(word), stem, "{word}");
        }
    }
}
