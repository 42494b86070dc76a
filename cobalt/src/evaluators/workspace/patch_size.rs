//! `PatchSize`: checks that the agent changed few lines.

use std::sync::Arc;

use cobalt_core::wording::count;
use serde::{Deserialize, Serialize};

use super::{changes, require_workspace};
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::settings::{NoSharedKeys, NonEmptyString, NonNegativeInt, ScoreValue};

/// Scores 1 if the agent added and removed at most so many lines in its [workspace](crate::workspaces); with more, the maximum divided by
/// their number.
///
/// By default an output passes only with a full score. A changed line counts twice: it is removed and added. Binary files have no lines.
///
/// ```
/// use cobalt::PatchSize;
///
/// let small = PatchSize::new("small", 40);
/// ```
#[derive(Clone)]
pub struct PatchSize(PatchSizeOptions);

fingerprint! {
    PatchSize as "PatchSize", it: name = it.name(), max_lines = it.0.max_lines.0, pass_mark = Evaluator::pass_mark(it)
}

/// The keys of `type = "patch-size"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PatchSizeOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: NonEmptyString,
    /// The maximum number of lines added and removed.
    max_lines: NonNegativeInt,
    /// Minimum score for an output to pass. Default: 1.
    pass_mark: Option<ScoreValue>,
}

fn type_name() -> NonEmptyString {
    NonEmptyString("patch-size".to_owned())
}

impl Options for PatchSizeOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(PatchSize(self)))
    }
}

impl PatchSize {
    /// Allows this many lines to be added and removed.
    pub fn new(name: impl Into<String>, max_lines: usize) -> Self {
        let (name, max_lines) = (NonEmptyString(name.into()), NonNegativeInt(max_lines));
        Self(PatchSizeOptions { name, max_lines, pass_mark: None })
    }

    /// Sets the minimum score for an output to pass. Default: 1.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(ScoreValue(mark));
        self
    }

    fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let (changes, NonNegativeInt(most)) = (changes(cx)?, self.0.max_lines);
        let lines = changes.changed_lines();
        let score = if lines <= most { 1.0 } else { most as f64 / lines as f64 };
        let reason = format!("{} changed, at most {most}", count(lines, "line"));
        Ok(Score::new(score)
            .reason(reason)
            .metadata("addedLines", changes.added_lines)
            .metadata("removedLines", changes.removed_lines))
    }
}

impl Evaluator for PatchSize {
    fn name(&self) -> &str {
        &self.0.name.0
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |ScoreValue(mark)| mark)
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        require_workspace(setup)
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::{Item, Output};
    use cobalt_core::report::WorkspaceChanges;

    use super::*;

    fn scored(most: usize, added_lines: usize, removed_lines: usize) -> (f64, String) {
        let changes = WorkspaceChanges { added_lines, removed_lines, ..WorkspaceChanges::default() };
        let cx = EvalContext::new(Item::new(), Output::new("")).with_workspace(changes);
        let score = PatchSize::new("small", most).score(&cx).unwrap();
        (score.value(), score.why().unwrap().to_owned())
    }

    #[test]
    fn lines_over_the_maximum_lower_the_score() {
        assert_eq!(scored(4, 3, 1), (1.0, "4 lines changed, at most 4".to_owned()));
        assert_eq!(scored(4, 5, 3), (0.5, "8 lines changed, at most 4".to_owned()));
        assert_eq!(scored(0, 0, 0), (1.0, "0 lines changed, at most 0".to_owned()));
        assert_eq!(scored(0, 1, 0).0, 0.0);
    }

    #[test]
    fn without_a_workspace_there_is_no_score() {
        let cx = EvalContext::new(Item::new(), Output::new(""));
        let error = PatchSize::new("small", 4).score(&cx).unwrap_err().to_string();
        assert!(error.starts_with("the experiment has no workspace"), "{error}");
    }
}
