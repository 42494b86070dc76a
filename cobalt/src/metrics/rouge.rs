//! ROUGE: the overlap of an output and a reference summary (Lin 2004), on lower-case words of a to z and digits.

use super::alignment::{ElementIds, SubsequenceMarker, common_subsequence_length};
use super::n_grams::{Overlap, common_n_grams};
use super::porter;

/// ROUGE-N: the word n-grams that output and reference share; each counts as often as in the text that contains it less often (Lin 2004,
/// section 2). Precision divides them by the n-grams of the output, recall by those of the reference.
///
/// Words are runs of the letters a to z and digits, in lower case. `stem` reduces words of more than three letters to their stems (Porter
/// 1980, as extended by NLTK). Results equal those of rouge-score 0.1.2. As there, letters of other alphabets separate words, so two
/// Russian texts share nothing. A text without n-grams scores 0, and so does `n` = 0.
///
/// ```
/// use cobalt::metrics::rouge_n;
///
/// let overlap = rouge_n("the ferry left", "The ferry left late.", 2, false);
/// assert_eq!((overlap.precision, overlap.recall), (1.0, 2.0 / 3.0));
/// assert_eq!(rouge_n("ferries leaving", "ferry leaves", 1, true).f1, 1.0);
/// ```
#[must_use]
pub fn rouge_n(output: &str, reference: &str, n: usize, stem: bool) -> Overlap {
    let [output, reference] = [output, reference].map(|text| RougeWords::of(text, stem));
    let sequences = |words: &RougeWords| (words.len() + 1).saturating_sub(n);
    if n == 0 || sequences(&output) == 0 || sequences(&reference) == 0 {
        return Overlap::default();
    }
    let [outputs, references] = [&output, &reference].map(|words| words.iter().collect::<Vec<_>>());
    let common = common_n_grams(&outputs, &references, n);
    Overlap::of_counts(common, sequences(&output), sequences(&reference))
}

/// ROUGE-L: the longest common subsequence of the words of output and reference (Lin 2004, section 3.1). Precision divides its length by
/// the words of the output, recall by those of the reference. Line breaks are ignored.
///
/// Words, `stem` and sources are as in [`rouge_n`]. Runs in time proportional to the product of both numbers of words.
///
/// ```
/// use cobalt::metrics::rouge_l;
///
/// assert_eq!(rouge_l("late the ferry left", "the ferry left late", false).f1, 0.75);
/// ```
#[must_use]
pub fn rouge_l(output: &str, reference: &str, stem: bool) -> Overlap {
    let texts = [output, reference].map(|text| RougeWords::of(text, stem));
    let mut numbers = ElementIds::new();
    let [output, reference] =
        texts.each_ref().map(|words| words.iter().map(|word| numbers.of(word)).collect::<Vec<_>>());
    let common = common_subsequence_length(&output, &reference, numbers.count());
    Overlap::of_counts(common, output.len(), reference.len())
}

/// ROUGE-Lsum: for each line of the reference, the words in a longest common subsequence with any line of the output
/// (the union of Lin 2004, section 3.2), each word counted no more often than the output has it. Precision divides their
/// number by the words of the output, recall by those of the reference.
///
/// A sentence is a line, separated by `\n`. Words, `stem` and sources are as in [`rouge_n`]. If two lines have several longest common
/// subsequences, the one that rouge-score finds is used. Runs in time proportional to the number of line pairs that share a word, and to
/// the product of their lengths.
///
/// ```
/// use cobalt::metrics::{rouge_l, rouge_lsum};
///
/// let (output, reference) = ("It rained.\nThe ferry left.", "The ferry left.\nIt rained.");
/// assert_eq!(rouge_lsum(output, reference, false).f1, 1.0);
/// assert!(rouge_l(output, reference, false).f1 < 1.0);
/// ```
#[must_use]
pub fn rouge_lsum(output: &str, reference: &str, stem: bool) -> Overlap {
    let texts = [output, reference].map(|text| Lines::of(text, stem));
    let mut numbers = ElementIds::new();
    let [outputs, references] =
        texts.each_ref().map(|lines| lines.words.iter().map(|word| numbers.of(word)).collect::<Vec<_>>());
    let mut left = vec![0_usize; numbers.count()];
    outputs.iter().for_each(|number| left[*number] += 1);
    let mut others = OutputLines::new(texts[0].of_numbers(&outputs), numbers.count());
    let mut common = 0;
    for line in texts[1].of_numbers(&references) {
        let marks = others.marks(line);
        for number in line.iter().zip(marks).filter_map(|(number, marked)| marked.then_some(*number)) {
            if left[number] > 0 {
                left[number] -= 1;
                common += 1;
            }
        }
    }
    Overlap::of_counts(common, outputs.len(), references.len())
}

/// The number of words that ROUGE counts in a text.
pub(crate) fn rouge_words(text: &str) -> usize {
    RougeWords::of(text, false).len()
}

/// The lines of an output, to be compared with each line of a reference.
struct OutputLines<'a> {
    lines: Vec<&'a [usize]>,
    /// The lines that contain each number, so that only lines that share a word are compared.
    lines_with: Vec<Vec<usize>>,
    /// The round in which each line was last compared. Each line of the reference is a round, counted from 1.
    compared: Vec<usize>,
    round: usize,
    subsequences: SubsequenceMarker,
    marks: Vec<bool>,
}

impl<'a> OutputLines<'a> {
    fn new(lines: impl Iterator<Item = &'a [usize]>, numbers: usize) -> Self {
        let lines: Vec<_> = lines.collect();
        let mut lines_with = vec![Vec::new(); numbers];
        for (index, line) in lines.iter().enumerate() {
            for number in *line {
                if lines_with[*number].last() != Some(&index) {
                    lines_with[*number].push(index);
                }
            }
        }
        let compared = vec![0; lines.len()];
        let subsequences = SubsequenceMarker::new(numbers);
        Self { lines, lines_with, compared, round: 0, subsequences, marks: Vec::new() }
    }

    /// Which words of a line are in a longest common subsequence with any of these.
    fn marks(&mut self, line: &[usize]) -> &[bool] {
        self.round += 1;
        self.subsequences.set(line);
        self.marks.clear();
        self.marks.resize(line.len(), false);
        for other in line.iter().flat_map(|number| &self.lines_with[*number]) {
            if std::mem::replace(&mut self.compared[*other], self.round) == self.round {
                continue;
            }
            self.subsequences.mark(self.lines[*other], &mut self.marks);
            if self.marks.iter().all(|marked| *marked) {
                break;
            }
        }
        &self.marks
    }
}

/// The words of a text, line by line.
struct Lines {
    words: RougeWords,
    /// The number of words up to the end of each non-empty line.
    ends: Vec<usize>,
}

impl Lines {
    fn of(text: &str, stem: bool) -> Self {
        let mut lines = Self { words: RougeWords::default(), ends: Vec::new() };
        for line in text.split('\n') {
            let before = lines.words.len();
            lines.words.add(line, stem);
            if lines.words.len() > before {
                lines.ends.push(lines.words.len());
            }
        }
        lines
    }

    /// The numbers of the words, line by line.
    fn of_numbers<'a>(&self, numbers: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
        let mut start = 0;
        self.ends.iter().map(move |end| &numbers[std::mem::replace(&mut start, *end)..*end])
    }
}

/// Words up to this length are not stemmed.
const MAX_UNSTEMMED_LENGTH: usize = 3;

/// The words of a text, concatenated in one buffer.
#[derive(Default)]
pub struct RougeWords {
    letters: Vec<u8>,
    /// Where each word ends.
    ends: Vec<usize>,
}

impl RougeWords {
    pub fn of(text: &str, stem: bool) -> Self {
        let mut words = Self { letters: Vec::with_capacity(text.len()), ends: Vec::new() };
        words.add(text, stem);
        words
    }

    /// Adds the words of a text. All other characters separate words, including letters of other alphabets.
    pub fn add(&mut self, text: &str, stem: bool) {
        for letter in text.chars() {
            if letter.is_ascii() {
                self.add_letter(letter.to_ascii_lowercase(), stem);
            } else {
                // The lower case of a few non-ASCII letters is ASCII, such as that of the kelvin sign.
                letter.to_lowercase().for_each(|letter| self.add_letter(letter, stem));
            }
        }
        self.end_word(stem);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
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
        if stem && length > MAX_UNSTEMMED_LENGTH {
            let length = porter::stem(&mut self.letters[start..]);
            self.letters.truncate(start + length);
        }
        self.ends.push(self.letters.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_counts_as_often_as_the_text_with_fewer_has_it() {
        let overlap = rouge_n("the the the the", "the cat the", 1, false);
        assert_eq!((overlap.precision, overlap.recall), (0.5, 2.0 / 3.0));
    }

    #[test]
    fn texts_without_words_or_sequences_share_nothing() {
        for (output, reference) in [("", ""), ("", "a"), ("...", "..."), ("река", "река")] {
            for overlap in [
                rouge_n(output, reference, 1, true),
                rouge_l(output, reference, true),
                rouge_lsum(output, reference, true),
            ] {
                assert_eq!(overlap, Overlap::default(), "{output:?} {reference:?}");
            }
        }
        assert_eq!(rouge_n("old mill", "old mill", 3, false), Overlap::default());
        assert_eq!(rouge_n("old mill", "old mill", 0, false), Overlap::default());
    }

    #[test]
    fn letters_whose_lower_case_is_in_ascii_are_those() {
        assert_eq!(rouge_n("3 \u{212a}", "3 k", 1, false).f1, 1.0);
        assert_eq!(rouge_n("\u{130}zmir", "i zmir", 2, false).f1, 1.0);
    }

    #[test]
    fn a_word_of_the_output_stands_for_one_of_the_reference() {
        let overlap = rouge_lsum("rain", "rain\nrain", false);
        assert_eq!((overlap.precision, overlap.recall), (1.0, 0.5));
    }

    #[test]
    fn many_short_lines_are_not_all_compared_with_each_other() {
        let lines = |words: std::ops::Range<usize>| -> String {
            words.map(|word| format!("w{} and\n", word % 20_000)).collect()
        };
        let overlap = rouge_lsum(&lines(0..40_000), &lines(30_000..70_000), false);
        assert_eq!((overlap.precision, overlap.recall), (1.0, 1.0));
    }

    #[test]
    fn words_up_to_three_letters_keep_their_ends() {
        assert_eq!(rouge_n("was", "wa", 1, true).f1, 0.0);
        assert_eq!(rouge_n("wash", "washes", 1, true).f1, 1.0);
    }
}
