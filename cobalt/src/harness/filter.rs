//! Which experiments are meant, by their names and tags.

use crate::pattern::Pattern;

/// Which experiments are meant: those that both lists select.
#[derive(Debug, Default)]
pub(super) struct Filter<'a> {
    /// Patterns of which one must match the name or a tag; without any, everything does.
    pub(super) patterns: &'a [Pattern],
    /// Whole names of which one is the experiment's; without any, everyone's is.
    pub(super) names: &'a [String],
}

impl Filter<'_> {
    pub(super) fn selects<'a>(&self, name: &'a str, tags: impl Iterator<Item = &'a str>) -> bool {
        let mut texts = std::iter::once(name).chain(tags);
        let is_named = self.names.is_empty() || self.names.iter().any(|one| one == name);
        let is_match = |text| self.patterns.iter().any(|pattern| pattern.matches(text));
        is_named && (self.patterns.is_empty() || texts.any(is_match))
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
    fn a_whole_name_is_no_pattern_and_no_tag_and_narrows_what_patterns_match() {
        let (patterns, names) = (["des".parse().unwrap()], ["desk*".to_owned()]);
        let filter = Filter { patterns: &patterns, names: &names };
        assert!(filter.selects("desk*", [].into_iter()));
        assert!(!filter.selects("desks", ["desk*"].into_iter()));
        let names = ["other".to_owned()];
        assert!(!Filter { patterns: &patterns, names: &names }.selects("other", [].into_iter()));
    }
}
