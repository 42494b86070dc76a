//! The words of messages: what was meant by a misspelt name, what there is, and what lies between 0 and 1.

/// The known word that a misspelt one was most likely meant to be: at most a third of its letters differ.
pub(crate) fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // Two percentiles are always alike; neither is more likely to be the one that was meant.
    let percentile =
        word.strip_prefix('p').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if percentile {
        return None;
    }
    let word = word.to_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&word, &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= (word.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Names in one line: `` `a`, `b` and `c` ``.
pub(crate) fn listing(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `lie between 0 and 1, …`: the second half of a sentence about scores and marks.
pub(crate) fn not_from_zero_to_one(value: f64) -> String {
    if (2.0..=100.0).contains(&value) {
        return format!("lie between 0 and 1: for {value} percent write `{}`", value / 100.0);
    }
    format!("lie between 0 and 1, and {value} does not")
}
