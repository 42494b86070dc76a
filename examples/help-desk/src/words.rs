//! Tokenization for the search: lower-case stems without stop words.

/// Stop words.
const STOP_WORDS: [&str; 62] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do", "does",
    "for", "from", "has", "have", "he", "how", "i", "if", "in", "is", "it", "its", "may", "me", "much",
    "must", "my", "no", "not", "of", "on", "one", "or", "our", "should", "so", "than", "that", "the", "then",
    "there", "this", "to", "us", "want", "was", "we", "what", "when", "where", "which", "while", "who",
    "will", "with", "you",
];

/// The stems of a text's words, in order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !STOP_WORDS.contains(&&**word)).map(|word| stem(&word)).collect()
}

/// A word without its ending. The stem need not be a word, only the same for all forms.
fn stem(word: &str) -> String {
    const ENDINGS: [(&str, &str); 6] =
        [("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")];
    const SHORTEST: usize = 3;
    if word.ends_with("ss") {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    for (ending, instead) in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= SHORTEST
        {
            stem = format!("{rest}{instead}");
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= SHORTEST => rest.to_owned(),
        _ => stem,
    }
}

/// Whether two words differ by one inserted, deleted or replaced letter.
pub(crate) fn is_one_edit_apart(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => same < long.len() && short[same + 1..] == long[same + 1..],
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        for forms in [&["ride", "rides", "riding"][..], &["pass", "passes"], &["close", "closed", "closing"]]
        {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
    }

    #[test]
    fn common_words_are_left_out() {
        assert_eq!(stems("How do I cancel it?"), ["cancel"]);
    }

    #[test]
    fn a_slip_is_one_letter_more_or_less_or_another() {
        assert!(is_one_edit_apart("helmt", "helmet"));
        assert!(is_one_edit_apart("reservve", "reserve"));
        assert!(is_one_edit_apart("insurence", "insurance"));
        assert!(!is_one_edit_apart("reciept", "receipt"), "two letters are swapped");
        assert!(!is_one_edit_apart("helmet", "helmet"));
    }
}
