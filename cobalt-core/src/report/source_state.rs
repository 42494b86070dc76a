//! The parts of the hash of a run's sources: the code, other files that the agent may read, and variables.

/// The parts of [`Report::sources`](super::Report::sources): hashes joined by `+`. Only `cargo cobalt run` knows all of them; earlier
/// versions wrote only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceState<'a> {
    /// The hash of the Rust sources.
    pub code: &'a str,
    /// The hash of other files of the package.
    pub files: Option<&'a str>,
    /// The hash of environment variables.
    pub variables: Option<&'a str>,
}

impl<'a> SourceState<'a> {
    /// Splits the hash of a run's sources.
    #[must_use]
    pub fn parse(sources: &'a str) -> Self {
        let mut parts = sources.split('+');
        Self { code: parts.next().unwrap_or_default(), files: parts.next(), variables: parts.next() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_hashes_are_of_code_alone() {
        let SourceState { code, files, variables } = SourceState::parse("a+b+c");
        assert_eq!((code, files, variables), ("a", Some("b"), Some("c")));
        assert_eq!(SourceState::parse("a"), SourceState { code: "a", files: None, variables: None });
    }
}
