//! `Globs`: patterns of paths in a workspace.

use std::path::Path;

use glob::{MatchOptions, Pattern};

/// `*` does not match `/`; `**` does.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Patterns of paths relative to the workspace. One without `/` matches names in all folders.
#[derive(Clone, Debug, Default)]
pub struct Globs(Vec<Pattern>);

impl Globs {
    /// Parses patterns. The error names the invalid one.
    pub fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let parse = |text: &str| {
            // `src/` is the folder.
            Pattern::new(text.trim_end_matches('/'))
                .map_err(|error| format!("invalid pattern `{text}`: {}; see `glob::Pattern`", error.msg))
        };
        patterns.into_iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a pattern matches the path, or the name of the file.
    pub fn matches(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy());
        self.0.iter().any(|pattern| match pattern.as_str().contains('/') {
            true => pattern.matches_path_with(path, OPTIONS),
            false => name.as_ref().is_some_and(|name| pattern.matches_with(name, OPTIONS)),
        })
    }

    /// Whether a pattern matches the path or a folder that it is in.
    pub fn contain(&self, path: &Path) -> bool {
        path.ancestors().filter(|part| !part.as_os_str().is_empty()).any(|part| self.matches(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_matches_in_all_folders_and_a_path_from_the_root() {
        let globs = |patterns: &[&str]| Globs::parse(patterns.iter().copied()).unwrap();
        for (pattern, path, expected) in [
            ("target", "target", true),
            ("target", "a/target", true),
            ("target", "a/target/x", false),
            ("*.log", "a/b.log", true),
            ("src/*.rs", "src/lib.rs", true),
            ("src/*.rs", "src/a/lib.rs", false),
            ("src/**", "src/a/lib.rs", true),
            ("src/**", "src/lib.rs", true),
            ("src/**", "tests/lib.rs", false),
            ("**/tests/**", "a/tests/b.rs", true),
            ("src/lib.rs", "a/src/lib.rs", false),
        ] {
            assert_eq!(globs(&[pattern]).matches(Path::new(path)), expected, "{pattern} {path}");
        }
        assert!(globs(&["target"]).contain(Path::new("a/target/x")));
        assert!(globs(&["src/"]).contain(Path::new("src/x")));
        assert!(Globs::parse(["a***"]).unwrap_err().starts_with("invalid pattern `a***`"));
    }
}
