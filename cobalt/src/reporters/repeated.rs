//! Errors that are the same for many items, and are shown once.

use std::collections::HashMap;

use super::event::FailedItem;
use crate::report::{ItemResult, RunConfig};

/// The most items named beside the one whose error is shown.
const MOST_NAMED: usize = 3;

/// What equal errors have in common: the text without places in lists, such as the `3` of `messages[3]`.
fn pattern(error: &str) -> String {
    let mut pattern = String::with_capacity(error.len());
    let mut rest = error;
    while let Some(start) = rest.find('[') {
        let (before, list) = rest.split_at(start + 1);
        let digits = list.len() - list.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        pattern.push_str(before);
        rest = if list[digits..].starts_with(']') { &list[digits..] } else { list };
    }
    pattern + rest
}

/// Puts items with equal errors together, in the order of the first of each.
pub(super) fn fold(items: impl IntoIterator<Item = FailedItem>) -> Vec<FailedItem> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut folded: Vec<FailedItem> = Vec::new();
    for item in items {
        match places.get(&pattern(&item.error)) {
            Some(place) => {
                let first = &mut folded[*place];
                first.more += 1;
                if first.also.len() < MOST_NAMED {
                    first.also.push(item.item);
                }
            }
            None => {
                places.insert(pattern(&item.error), folded.len());
                folded.push(item);
            }
        }
    }
    folded
}

/// The evaluators' errors that were shown so far, each with the first item that had it.
#[derive(Debug, Default)]
pub(crate) struct Repeated(HashMap<String, String>);

impl Repeated {
    /// The earlier item with the same evaluators' errors, where these are all that is wrong with an item. `name` is the item's
    /// name in test cases.
    pub(crate) fn earlier(&mut self, item: &ItemResult, name: &str, config: &RunConfig) -> Option<&str> {
        let error = evaluation_errors(item);
        if error.is_empty() || item.error().is_some() || config.low_scores(item).next().is_some() {
            return None;
        }
        let first = self.0.entry(pattern(&error)).or_insert_with(|| name.to_owned());
        (first != name).then_some(first)
    }
}

fn evaluation_errors(item: &ItemResult) -> String {
    let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
    let errors = evaluations.filter(|(_, evaluation)| evaluation.score.is_none());
    errors.map(|(name, it)| format!("{name}: {}\n", it.error.as_deref().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(item: &str, error: &str) -> FailedItem {
        FailedItem { item: item.to_owned(), error: error.to_owned(), more: 0, also: Vec::new() }
    }

    #[test]
    fn equal_errors_are_one_with_a_count_whatever_place_they_name() {
        let items = (0..60).map(|index| failed(&format!("e{index}"), &format!("`messages[{index}]` is odd")));
        let folded = fold(items.chain([failed("other", "`messages[a]` is odd"), failed("last", "odd [")]));
        assert_eq!(folded.len(), 3);
        assert_eq!((&*folded[0].item, folded[0].more, folded[0].also.len()), ("e0", 59, MOST_NAMED));
        assert_eq!(folded[0].error, "`messages[0]` is odd");
        assert_eq!((&*folded[1].item, &*folded[2].item), ("other", "last"));
    }

    #[test]
    fn errors_that_differ_in_more_than_a_place_stay_apart() {
        assert_eq!(fold([failed("a", "waited 2 s"), failed("b", "waited 3 s")]).len(), 2);
    }
}
