//! Word and character error rates, and the underlying edit distance.

use std::iter::Sum;

use super::alignment::{Edit, ElementIds, ROWS, RowIndex, align};
use super::n_grams::{is_whitespace, words};

/// The minimal edits between the words of an output (or its characters, with [`character_errors`]) and those of a reference.
///
/// Rates are as in jiwer 4.0, whose names are in brackets. To measure several texts together, add their counts with `sum()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordErrors {
    /// Correct words.
    pub hits: usize,
    /// Words of the reference that the output replaces with others.
    pub substitutions: usize,
    /// Words of the reference that are missing in the output.
    pub deletions: usize,
    /// Additional words in the output.
    pub insertions: usize,
}

impl WordErrors {
    /// The error rate (`wer`, `cer`): `(substitutions + deletions + insertions) / words of the reference`. At least 0, and above 1 if the
    /// output is longer and wrong. With an empty reference it is the number of insertions, as if the reference had one word: 0 for an
    /// empty output.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.errors() as f64 / self.reference_words().max(1) as f64
    }

    /// The match error rate (`mer`): `errors / (errors + hits)`, from 0 to 1; 0 for two empty texts (Morris et al. 2004).
    #[must_use]
    pub fn match_error_rate(&self) -> f64 {
        self.errors() as f64 / (self.errors() + self.hits).max(1) as f64
    }

    /// The word information preserved (`wip`): `hits / words of the reference · hits / words of the output`, from 0 to 1; 1 for two empty
    /// texts (Morris et al. 2004). Its complement `1 - wip` is the word information lost (`wil`).
    #[must_use]
    pub fn information_preserved(&self) -> f64 {
        let (reference, output) = (self.reference_words(), self.hits + self.substitutions + self.insertions);
        if reference == 0 && output == 0 {
            return 1.0;
        }
        (self.hits as f64 / reference.max(1) as f64) * (self.hits as f64 / output.max(1) as f64)
    }

    /// The words of the reference.
    #[must_use]
    pub fn reference_words(&self) -> usize {
        self.hits + self.substitutions + self.deletions
    }

    fn errors(&self) -> usize {
        self.substitutions + self.deletions + self.insertions
    }

    fn of(output: &[usize], reference: &[usize], numbers: usize) -> Self {
        let mut errors = Self::default();
        align(reference, output, numbers, |edit| match edit {
            Edit::Hit => errors.hits += 1,
            Edit::Substitution => errors.substitutions += 1,
            Edit::Deletion => errors.deletions += 1,
            Edit::Insertion => errors.insertions += 1,
        });
        errors
    }
}

impl Sum for WordErrors {
    fn sum<I: Iterator<Item = Self>>(errors: I) -> Self {
        errors.fold(Self::default(), |sum, next| Self {
            hits: sum.hits + next.hits,
            substitutions: sum.substitutions + next.substitutions,
            deletions: sum.deletions + next.deletions,
            insertions: sum.insertions + next.insertions,
        })
    }
}

/// Aligns the words of an output with those of a reference with as few edits as possible (Levenshtein 1966).
///
/// Words are separated by whitespace. Case and punctuation count. Counts equal those of jiwer 4.0 with its default transforms, with one
/// difference: in jiwer, a single line break, tab or other whitespace than ` ` does not separate words, so that words can span lines;
/// here it does. If several alignments need equally few edits, the rate is the same but the counts differ: then jiwer's choice is used.
///
/// Runs in time proportional to the product of both word counts, divided by 64, with little memory.
///
/// ```
/// use cobalt::metrics::word_errors;
///
/// let errors = word_errors("the ferry left", "the old ferry has left");
/// assert_eq!((errors.hits, errors.deletions), (3, 2));
/// assert_eq!(errors.rate(), 2.0 / 5.0);
/// ```
#[must_use]
pub fn word_errors(output: &str, reference: &str) -> WordErrors {
    let mut numbers = ElementIds::new();
    let [output, reference] =
        [output, reference].map(|text| words(text).map(|word| numbers.of(word)).collect::<Vec<_>>());
    WordErrors::of(&output, &reference, numbers.count())
}

/// Aligns the characters of an output with those of a reference with as few edits as possible.
///
/// A character is a Unicode code point. Whitespace counts, except at both ends. Counts equal those of jiwer 4.0 with its default
/// transforms. Runs in time proportional to the product of both lengths, divided by 64.
///
/// ```
/// assert_eq!(cobalt::metrics::character_errors("meadaw", " meadow").substitutions, 1);
/// ```
#[must_use]
pub fn character_errors(output: &str, reference: &str) -> WordErrors {
    let texts = [output, reference].map(|text| text.trim_matches(is_whitespace));
    let ([output, reference], numbers) = ElementIds::of_letters(texts);
    WordErrors::of(&output, &reference, numbers)
}

/// Word error rate: the [`rate`](WordErrors::rate) of [`word_errors`]. 0 is best; it can exceed 1.
///
/// ```
/// assert_eq!(cobalt::metrics::wer("the ferry left", "the ferry left early"), 0.25);
/// assert_eq!(cobalt::metrics::wer("three words here", ""), 3.0);
/// ```
#[must_use]
pub fn wer(output: &str, reference: &str) -> f64 {
    word_errors(output, reference).rate()
}

/// Character error rate: the [`rate`](WordErrors::rate) of [`character_errors`]. 0 is best; it can exceed 1.
///
/// ```
/// assert_eq!(cobalt::metrics::cer("meadaw", "meadow"), 1.0 / 6.0);
/// ```
#[must_use]
pub fn cer(output: &str, reference: &str) -> f64 {
    character_errors(output, reference).rate()
}

/// The numbers of outputs and references differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{outputs} outputs cannot be compared with {references} references: give one reference for each output"
)]
#[non_exhaustive]
pub struct LengthMismatch {
    /// The number of outputs.
    pub outputs: usize,
    /// The number of references.
    pub references: usize,
}

/// Word error rate of a corpus: the rate of all [`word_errors`] together, as in jiwer for lists of texts. Longer texts have more weight.
///
/// # Errors
///
/// There are more outputs than references, or fewer.
///
/// ```
/// use cobalt::metrics::corpus_wer;
///
/// let outputs = ["the ferry left", "one"];
/// assert_eq!(corpus_wer(&outputs, &["the ferry left early", "one"])?, 0.2);
/// assert_eq!(
///     corpus_wer(&outputs, &["the ferry left early"]).unwrap_err().to_string(),
///     "2 outputs cannot be compared with 1 references: give one reference for each output"
/// );
/// # Ok::<(), cobalt::metrics::LengthMismatch>(())
/// ```
pub fn corpus_wer(
    outputs: &[impl AsRef<str>],
    references: &[impl AsRef<str>],
) -> Result<f64, LengthMismatch> {
    Ok(over_corpus(word_errors, outputs, references)?.rate())
}

/// Character error rate of a corpus: like [`corpus_wer`], with [`character_errors`].
///
/// # Errors
///
/// There are more outputs than references, or fewer.
pub fn corpus_cer(
    outputs: &[impl AsRef<str>],
    references: &[impl AsRef<str>],
) -> Result<f64, LengthMismatch> {
    Ok(over_corpus(character_errors, outputs, references)?.rate())
}

fn over_corpus(
    errors: fn(&str, &str) -> WordErrors,
    outputs: &[impl AsRef<str>],
    references: &[impl AsRef<str>],
) -> Result<WordErrors, LengthMismatch> {
    if outputs.len() != references.len() {
        return Err(LengthMismatch { outputs: outputs.len(), references: references.len() });
    }
    let pairs = outputs.iter().zip(references);
    Ok(pairs.map(|(output, reference)| errors(output.as_ref(), reference.as_ref())).sum())
}

/// The minimum number of insertions, deletions and substitutions between two sequences. All numbers are below `numbers`. Runs in time
/// proportional to the product of both lengths, divided by 64.
pub fn edit_distance(a: &[usize], b: &[usize], numbers: usize) -> usize {
    let (rows, columns) = strip_common_ends(a, b);
    if rows.is_empty() || columns.is_empty() {
        return rows.len().max(columns.len());
    }
    let places = RowIndex::of_rows(rows, numbers);
    let mut blocks = first_column(&places);
    for number in columns {
        next_column(&mut blocks, places.of(*number));
    }
    // From the top of the last column, where the distance is the number of columns, to its last row.
    let inside = |index: usize| match rows.len() - index * ROWS {
        rows if rows < ROWS => (1 << rows) - 1,
        _ => u64::MAX,
    };
    blocks.iter().enumerate().fold(columns.len(), |distance, (index, block)| {
        let [rises, falls] =
            [block.rises, block.falls].map(|rows| (rows & inside(index)).count_ones() as usize);
        distance + rises - falls
    })
}

/// Two sequences without their common prefix and suffix, which need no edits.
pub fn strip_common_ends<'a>(mut a: &'a [usize], mut b: &'a [usize]) -> (&'a [usize], &'a [usize]) {
    while let ([first, rest_a @ ..], [other, rest_b @ ..]) = (a, b)
        && first == other
    {
        (a, b) = (rest_a, rest_b);
    }
    while let ([rest_a @ .., last], [rest_b @ .., other]) = (a, b)
        && last == other
    {
        (a, b) = (rest_a, rest_b);
    }
    (a, b)
}

/// The column before the first: the distance grows by 1 per row.
pub fn first_column(places: &RowIndex) -> Vec<Block> {
    vec![Block { rises: u64::MAX, falls: 0 }; places.blocks()]
}

/// Advances to the next column, in which `same` are the rows with its number.
#[inline]
pub fn next_column(column: &mut [Block], same: impl Iterator<Item = u64>) {
    // In the row above the first one, the distance grows by 1 from column to column.
    let mut above = Step { rises: 1, falls: 0 };
    for (block, same) in column.iter_mut().zip(same) {
        above = block.advance(same, above);
    }
}

/// Whether the distance is higher or lower by 1 than in the previous column, in one row: each 1 or 0.
#[derive(Clone, Copy)]
struct Step {
    rises: u64,
    falls: u64,
}

/// The difference of the distance from the row above, in 64 rows of one column.
#[derive(Clone)]
pub struct Block {
    rises: u64,
    falls: u64,
}

impl Block {
    /// Whether the distance is higher by 1 than in the row above a row of this block.
    pub fn rises_at(&self, row: usize) -> bool {
        self.rises & 1 << (row % ROWS) != 0
    }

    /// Whether the distance is lower by 1 than in the row above a row of this block.
    pub fn falls_at(&self, row: usize) -> bool {
        self.falls & 1 << (row % ROWS) != 0
    }

    /// Advances to the next column, in which `same` are the rows with its number. Returns the step in the last of the 64 rows.
    #[inline]
    fn advance(&mut self, same: u64, above: Step) -> Step {
        let Self { rises, falls } = *self;
        let vertical = same | falls;
        let same = same | above.falls;
        let horizontal = ((same & rises).wrapping_add(rises) ^ rises) | same;
        let (up, down) = (falls | !(horizontal | rises), rises & horizontal);
        let below = Step { rises: up >> (ROWS - 1), falls: down >> (ROWS - 1) };
        let (up, down) = (up << 1 | above.rises, down << 1 | above.falls);
        *self = Self { rises: down | !(vertical | up), falls: up & vertical };
        below
    }
}

/// Levenshtein similarity: `1 - distance / length of the longer text`, in Unicode code points. The distance is the minimum number of
/// insertions, deletions and substitutions (Levenshtein 1966). Two empty texts score 1.
///
/// Characters are compared exactly: case, whitespace and the Unicode normalisation of accents count. Runs in time proportional to the
/// product of both lengths: for two texts of 200,000 characters, seconds.
///
/// ```
/// assert_eq!(cobalt::metrics::levenshtein("meadow", "meadaw"), 1.0 - 1.0 / 6.0);
/// ```
#[must_use]
pub fn levenshtein(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let ([a, b], letters) = ElementIds::of_letters([a, b]);
    1.0 - edit_distance(&a, &b, letters) as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_no_special_case_of_infinity() {
        assert_eq!((wer("", ""), cer(" ", "\n")), (0.0, 0.0));
        assert_eq!((wer("", "two words"), cer("", "letters")), (1.0, 1.0));
        assert_eq!((wer("two words", ""), cer("two words", "")), (2.0, 9.0));
        assert_eq!(word_errors("", "").information_preserved(), 1.0);
        assert_eq!(word_errors("a", "").information_preserved(), 0.0);
        assert_eq!(word_errors("a", "").match_error_rate(), 1.0);
    }

    #[test]
    fn a_line_break_parts_words() {
        assert_eq!(wer("first\r\nsecond\u{1d}third", "first second\tthird"), 0.0);
    }

    #[test]
    fn white_space_inside_a_text_has_letters() {
        assert_eq!(character_errors("a \n b", "a b").insertions, 2);
        assert_eq!(cer("\u{a0}a b\u{1f}", "a b"), 0.0);
    }

    #[test]
    fn counts_of_several_texts_add_up_to_one_rate() {
        let texts = [("a", "a"), ("b", "c d")];
        let errors: WordErrors = texts.iter().map(|(output, reference)| word_errors(output, reference)).sum();
        assert_eq!((errors.reference_words(), errors.rate()), (3, 2.0 / 3.0));
    }

    /// The textbook algorithm, row by row.
    fn plainly(a: &[usize], b: &[usize]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (index, letter) in a.iter().enumerate() {
            let mut before = std::mem::replace(&mut row[0], index + 1);
            for (column, other) in b.iter().enumerate() {
                let replaced = before + usize::from(letter != other);
                before = row[column + 1];
                row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
            }
        }
        row[b.len()]
    }

    #[test]
    fn texts_of_all_lengths_have_the_distance_of_the_textbook() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..600 {
            let mut text = |most: usize| -> Vec<usize> {
                (0..random.usize(0..most)).map(|_| random.usize(0..4)).collect()
            };
            let (a, b) = (text(1 + round % 200), text(1 + round % 150));
            assert_eq!(edit_distance(&a, &b, 4), plainly(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_ends_of_a_block_are_no_special_case() {
        for length in [63, 64, 65, 127, 128, 129] {
            let a = vec![0; length];
            let b = vec![1; length];
            assert_eq!(edit_distance(&a, &b, 4), length);
            assert_eq!(edit_distance(&a, &[&b[..], &[3], &a[..]].concat(), 4), length + 1);
        }
    }

    #[test]
    fn a_letter_is_a_code_point() {
        assert_eq!(levenshtein("😀", "😁"), 0.0);
        assert_eq!(levenshtein("good 👍 job", "good job"), 0.8);
        assert_eq!(levenshtein("質問", "質疑"), 0.5);
    }

    #[test]
    fn empty_texts_are_alike() {
        assert_eq!(levenshtein("", ""), 1.0);
        assert_eq!(levenshtein("", "a"), 0.0);
    }
}
