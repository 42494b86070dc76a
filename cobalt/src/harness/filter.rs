//! Which experiments are meant, by their names and tags.

use glob::Pattern;

/// Patterns of which one must match; without any, everything does.
#[derive(Debug, Default)]
pub(super) struct Filter(Vec<Part>);

#[derive(Debug)]
enum Part {
    Substring(String),
    Glob(Pattern),
}

impl Filter {
    /// A pattern with `*`, `?` or `[` is a glob, which has to match the whole; any other is a part of what it matches.
    pub(super) fn new(patterns: &[String]) -> Result<Self, String> {
        let part = |pattern: &String| {
            if !pattern.contains(['*', '?', '[']) {
                return Ok(Part::Substring(pattern.clone()));
            }
            let refused = |error| format!("`{pattern}` is no pattern: {error}");
            Pattern::new(pattern).map(Part::Glob).map_err(refused)
        };
        patterns.iter().map(part).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn selects<'a>(&self, name: &'a str, mut tags: impl Iterator<Item = &'a str>) -> bool {
        self.0.is_empty() || self.matches(name) || tags.any(|tag| self.matches(tag))
    }

    fn matches(&self, text: &str) -> bool {
        self.0.iter().any(|part| match part {
            Part::Substring(part) => text.contains(&**part),
            Part::Glob(pattern) => pattern.matches(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(patterns: &[&str], name: &str, tags: &[&str]) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Filter::new(&patterns).unwrap().selects(name, tags.iter().copied())
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
    fn a_pattern_that_is_not_closed_is_named() {
        let error = Filter::new(&["[a".to_owned()]).unwrap_err();
        assert!(error.starts_with("`[a` is no pattern"), "{error}");
    }
}
