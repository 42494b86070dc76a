//! Which of two comes first.

use std::cmp::Ordering;

/// By a figure: those without it come last, whichever way the others go.
pub(super) fn known_first(one: Option<f64>, two: Option<f64>, is_descending: bool) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) if is_descending => two.total_cmp(&one),
        (Some(one), Some(two)) => one.total_cmp(&two),
        (one, two) => two.is_some().cmp(&one.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_figure_comes_last_both_ways() {
        let sorted = |is_descending| {
            let mut figures = [None, Some(1.0), Some(3.0), None, Some(2.0)];
            figures.sort_by(|one, two| known_first(*one, *two, is_descending));
            figures
        };
        assert_eq!(sorted(false), [Some(1.0), Some(2.0), Some(3.0), None, None]);
        assert_eq!(sorted(true), [Some(3.0), Some(2.0), Some(1.0), None, None]);
    }
}
