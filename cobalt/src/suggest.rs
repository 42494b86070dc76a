//! Names as an error lists them, and the one that was probably meant.

/// How many letters of a name tell which one is meant.
const SHORTEST_BEGINNING: usize = 4;

/// Names in backticks, at most twelve of them.
#[must_use]
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

/// The candidate that differs from `wanted` in style or in few letters, or begins with it, if there is one.
#[must_use]
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(wanted);
    let length = wanted.chars().count();
    let near = |candidate| {
        let folded = folded(candidate);
        let distance = strsim::damerau_levenshtein(&wanted, &folded);
        let is_near = distance <= length / 3 || (length >= SHORTEST_BEGINNING && folded.starts_with(&wanted));
        is_near.then_some((distance, candidate))
    };
    candidates
        .into_iter()
        .filter_map(near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What was probably meant, and what there is: "did you mean `input`? there are `id`, `input`".
#[must_use]
pub fn instead<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let meant = closest(wanted, names.clone()).map(|meant| format!("did you mean `{meant}`? "));
    format!("{}there are {}", meant.unwrap_or_default(), list(names))
}

/// The letters and digits in lower case: the same for `expectedOutput`, `expected_output` and `Expected Output`.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Says that a name is unknown, and which was meant or which there are.
pub(crate) fn unknown_name(noun: &str, plural: &str, name: &str, known: &[&str]) -> String {
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("unknown {noun} `{name}`; did you mean `{meant}`?"),
        None => {
            format!("unknown {noun} `{name}`; the {plural} here are {}", list(known.iter().copied()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_style_of_the_same_name_is_the_closest() {
        let candidates = ["expected", "expectedOutput", "output"];
        assert_eq!(closest("expected_output", candidates), Some("expectedOutput"));
        assert_eq!(closest("inptu", ["id", "input"]), Some("input"));
    }

    #[test]
    fn a_name_that_is_begun_is_the_shortest_that_begins_so() {
        assert_eq!(closest("Factual", ["ValidJSON", "Factuality"]), Some("Factuality"));
        assert_eq!(closest("api-key", ["name", "api-key-env"]), Some("api-key-env"));
        assert_eq!(closest("context", ["ContextPrecision", "ContextRecall"]), Some("ContextRecall"));
        assert_eq!(closest("in", ["input"]), None);
    }

    #[test]
    fn nothing_is_suggested_where_nothing_is_near() {
        assert_eq!(closest("answer", ["input", "id"]), None);
        assert_eq!(closest("id", ["n"]), None);
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<_> = (0..14).map(|number| number.to_string()).collect();
        let list = list(names.iter().map(String::as_str));
        assert!(list.ends_with("`10`, `11` and 2 more"), "{list}");
    }
}
