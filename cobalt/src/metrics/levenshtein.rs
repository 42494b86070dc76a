//! How alike two texts are by their letters.

/// Levenshtein similarity: `1 - distance / length of the longer text`, both in Unicode code points, where the distance is
/// the least number of letters to insert, delete or replace (Levenshtein 1966). Two empty texts are alike: 1.
///
/// Letters are compared as they are: case, white space and the normal form of accents count. Takes time in proportion to
/// the product of both lengths.
///
/// ```
/// assert_eq!(cobalt::metrics::levenshtein("meadow", "meadaw"), 1.0 - 1.0 / 6.0);
/// ```
#[must_use]
pub fn levenshtein(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let longer = a.chars().count().max(b.chars().count());
    1.0 - strsim::levenshtein(a, b) as f64 / longer as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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
