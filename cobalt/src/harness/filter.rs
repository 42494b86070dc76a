//! Which experiments are meant, by their names and tags.

use crate::pattern::Pattern;

/// Patterns of which one must match; without any, everything does.
#[derive(Debug, Default)]
pub(super) struct Filter<'a>(pub(super) &'a [Pattern]);

impl Filter<'_> {
    pub(super) fn selects<'a>(&self, name: &'a str, tags: impl Iterator<Item = &'a str>) -> bool {
        let mut texts = std::iter::once(name).chain(tags);
        self.0.is_empty() || texts.any(|text| self.0.iter().any(|pattern| pattern.matches(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(patterns: &[&str], name: &str, tags: &[&str]) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        Filter(&patterns).selects(name, tags.iter().copied())
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
}
