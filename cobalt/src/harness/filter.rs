//! Which experiments are meant, by their names and tags.

use crate::name;
use crate::pattern::Pattern;

/// Which experiments are meant: those that both lists select.
#[derive(Debug, Default)]
pub(super) struct Filter<'a> {
    /// Patterns of which one must match the name or a tag; without any, everything does.
    pub(super) patterns: &'a [Pattern],
    /// Whole names, in either form, of which one is the experiment's; without any, every experiment is meant.
    pub(super) names: &'a [String],
}

impl Filter<'_> {
    pub(super) fn selects<'a>(&self, name: &'a str, mut tags: impl Iterator<Item = &'a str>) -> bool {
        let is_named = self.names.is_empty() || self.names.iter().any(|one| name::is_name_of(one, name));
        let has_tag = |tag| self.patterns.iter().any(|pattern| pattern.matches(tag));
        let matches_name = || self.patterns.iter().any(|pattern| name::matches(pattern, name));
        is_named && (self.patterns.is_empty() || matches_name() || tags.any(has_tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(patterns: &[&str], name: &str, tags: &[&str]) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        Filter { patterns: &patterns, names: &[] }.selects(name, tags.iter().copied())
    }

    #[test]
    fn a_name_or_a_tag_is_matched_by_a_part_or_by_a_glob() {
        assert!(selects(&[], "desk", &[]));
        assert!(selects(&["esk"], "desk", &[]));
        assert!(selects(&["smoke"], "desk", &["v1", "smoke"]));
        assert!(selects(&["d*k"], "desk", &[]));
        assert!(selects(&["none", "v?"], "desk", &["v1"]));
        assert!(!selects(&["d*s"], "desk", &[]), "a glob matches the whole");
        assert!(!selects(&["Desk"], "desk", &["smoke"]));
    }

    #[test]
    fn either_form_of_a_name_selects_the_experiment() {
        for pattern in ["traveller/gpt", "traveller-gpt", "traveller-gpt-4o-*", "*/gpt-4o-mini"] {
            assert!(selects(&[pattern], "traveller/gpt-4o-mini", &[]), "{pattern}");
        }
        for name in ["traveller/gpt-4o-mini", "traveller-gpt-4o-mini"] {
            let filter = Filter { patterns: &[], names: &[name.to_owned()] };
            assert!(filter.selects("traveller/gpt-4o-mini", [].into_iter()), "{name}");
            assert!(!filter.selects("traveller/gpt-4o", [].into_iter()), "{name}");
        }
        assert!(!selects(&["v-1"], "desk", &["v/1"]), "a tag has one form");
    }

    #[test]
    fn a_whole_name_is_no_pattern_and_no_tag_and_narrows_what_patterns_match() {
        let (patterns, names) = (["des".parse().unwrap()], ["desk*".to_owned()]);
        let filter = Filter { patterns: &patterns, names: &names };
        assert!(filter.selects("desk*", [].into_iter()));
        assert!(!filter.selects("desks", ["desk*"].into_iter()));
        let names = ["other".to_owned()];
        assert!(!Filter { patterns: &patterns, names: &names }.selects("other", [].into_iter()));
    }
}
