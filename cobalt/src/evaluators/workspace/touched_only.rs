//! `TouchedOnly`: checks that the agent changed nothing but some files.

use std::path::Path;
use std::sync::Arc;

use cobalt_core::wording::{count, group_thousands, join_quoted};
use serde::{Deserialize, Serialize};

use super::{changes, require_workspace};
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::settings::{NoSharedKeys, NonEmptyString};
use crate::workspace::Globs;

/// Scores 1 if every file that the agent added, changed or removed in its [workspace](crate::workspaces) matches a pattern, else 0.
///
/// ```
/// use cobalt::TouchedOnly;
///
/// let scope = TouchedOnly::new("scope", ["src/**", "Cargo.lock"]);
/// ```
///
/// A pattern without `/`, such as `*.md`, applies in all folders; others apply to the whole path. `*` does not match `/`, `**` matches any
/// folders.
#[derive(Clone)]
pub struct TouchedOnly(TouchedOnlyOptions);

fingerprint! { TouchedOnly as "TouchedOnly", it: name = it.name(), paths = it.patterns() }

/// The keys of `type = "touched-only"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TouchedOnlyOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: NonEmptyString,
    /// Patterns of the files that the agent may add, change or remove, such as "src/**".
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    paths: Vec<NonEmptyString>,
}

fn type_name() -> NonEmptyString {
    NonEmptyString("touched-only".to_owned())
}

impl Options for TouchedOnlyOptions {
    type Shared = NoSharedKeys;

    fn checked(self, _: &NoSharedKeys) -> Result<Self, String> {
        let evaluator = TouchedOnly(self);
        evaluator.globs()?;
        Ok(evaluator.0)
    }

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(TouchedOnly(self)))
    }
}

impl TouchedOnly {
    /// Allows changes of the files that match one of these patterns. An invalid pattern is an error before the run.
    pub fn new<T: Into<String>>(name: impl Into<String>, paths: impl IntoIterator<Item = T>) -> Self {
        let paths = paths.into_iter().map(|path| NonEmptyString(path.into())).collect();
        Self(TouchedOnlyOptions { name: NonEmptyString(name.into()), paths })
    }

    fn patterns(&self) -> Vec<&str> {
        self.0.paths.iter().map(|NonEmptyString(path)| &**path).collect()
    }

    fn globs(&self) -> Result<Globs, String> {
        match self.0.paths.is_empty() {
            true => Err("`paths` is empty; add the files that may be changed, such as \"src/**\"".to_owned()),
            false => Globs::parse(self.patterns()),
        }
    }

    fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let (changes, globs) = (changes(cx)?, self.globs().map_err(EvalError::new)?);
        let paths = changes.files.iter().map(|file| &*file.path);
        let others: Vec<_> = paths.filter(|path| !globs.contain(Path::new(path))).collect();
        if others.is_empty() && changes.omitted_files > 0 {
            return Err(EvalError::new(format!(
                "{} files were changed, of which only {} are known by name",
                group_thousands(changes.file_count() as u64),
                group_thousands(changes.files.len() as u64)
            )));
        }
        let reason = match others.len() {
            0 => format!("{} changed, all of them allowed", count(changes.file_count(), "file")),
            number => format!(
                "{number} of {} not allowed: {}",
                count(changes.file_count(), "changed file"),
                join_quoted(others.iter().copied())
            ),
        };
        Ok(Score::from(others.is_empty()).reason(reason).metadata("others", others.len()))
    }
}

impl Evaluator for TouchedOnly {
    fn name(&self) -> &str {
        &self.0.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.globs().map_err(CheckError::new)?;
        require_workspace(setup)
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::{Item, Output};
    use cobalt_core::report::{ChangedFile, FileChange, WorkspaceChanges};

    use super::*;

    fn context(paths: &[&str], omitted_files: usize) -> EvalContext {
        let file = |path: &&str| ChangedFile {
            path: (*path).to_owned(),
            change: FileChange::Changed,
            added_lines: 1,
            removed_lines: 0,
            bytes: 1,
            binary: false,
        };
        let files = paths.iter().map(file).collect();
        let changes = WorkspaceChanges { files, omitted_files, ..WorkspaceChanges::default() };
        EvalContext::new(Item::new(), Output::new("")).with_workspace(changes)
    }

    fn scored(patterns: &[&str], paths: &[&str]) -> (f64, String) {
        let score = TouchedOnly::new("scope", patterns.iter().copied()).score(&context(paths, 0)).unwrap();
        (score.value(), score.why().unwrap().to_owned())
    }

    #[test]
    fn every_file_must_match() {
        let allowed = scored(&["src/**", "*.md"], &["src/a/b.rs", "docs/x.md"]);
        assert_eq!(allowed, (1.0, "2 files changed, all of them allowed".to_owned()));
        let (score, reason) = scored(&["src/**"], &["src/a.rs", "tests/a.rs"]);
        assert_eq!((score, &*reason), (0.0, "1 of 2 changed files not allowed: `tests/a.rs`"));
        let many: Vec<_> = (1..=14).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(scored(&["src"], &many).1.ends_with("`12` and 2 more"));
        assert_eq!(scored(&["src"], &["src/a"]).0, 1.0, "a folder");
        assert_eq!(scored(&["src"], &[]).0, 1.0);
    }

    #[test]
    fn files_whose_names_are_unknown_are_no_score_unless_another_is_not_allowed() {
        let scope = TouchedOnly::new("scope", ["src/**"]);
        assert!(scope.score(&context(&["src/a"], 3)).is_err());
        assert_eq!(scope.score(&context(&["a"], 3)).unwrap().value(), 0.0);
    }
}
