//! `SquadExactMatch`: the output is the reference, but for case, punctuation and articles.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Common, TextEvaluator, TextOptions, text_evaluator};
use super::references::References;
use super::shown;
use crate::dataset::Item;
use crate::evaluators::options::Options;
use crate::evaluators::places::ItemField;
use crate::evaluators::{EvalError, Evaluator, Score};
use crate::metrics::{squad_exact_match, squad_normalize};
use crate::suggest;
use crate::template::to_text;

/// Scores 1 where the output is a reference, as SQuAD 1.1 compares short answers (Rajpurkar and others 2016), and 0
/// elsewhere.
///
/// Case, punctuation and the articles `a`, `an` and `the` are left out first, so that two texts match of which nothing is
/// left. One of a list of references is enough. [`ExactMatch`](crate::ExactMatch) compares texts as they are, and JSON.
///
/// ```
/// let right = cobalt::SquadExactMatch::new("right", "answers");
/// ```
#[derive(Clone, Debug)]
pub struct SquadExactMatch {
    common: Common,
    options: SquadExactMatchOptions,
}

/// The keys of `type = "squad-exact-match"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SquadExactMatchOptions {
    /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
    field: References,
}

impl Options for SquadExactMatchOptions {
    type Shared = TextOptions;

    fn make(self, shared: TextOptions) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(SquadExactMatch { common: shared.common("squad-exact-match"), options: self }))
    }
}

impl SquadExactMatch {
    /// Compares the output with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: Common::new(name), options: SquadExactMatchOptions { field: References::new(field) } }
    }
}

impl TextEvaluator for SquadExactMatch {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        Some(self.options.field.field())
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let references = self.options.field.texts(item)?;
        if references.iter().any(|reference| squad_exact_match(&output, reference)) {
            return Ok(Score::from(true));
        }
        let normal = |text: &str| shown(&squad_normalize(text)).into_owned();
        let expected: Vec<_> = references.iter().map(|reference| normal(reference)).collect();
        let expected = suggest::list(expected.iter().map(String::as_str));
        Ok(Score::from(false).reason(format!("expected {expected}, got `{}`", normal(&output))))
    }
}

text_evaluator!(SquadExactMatch);
