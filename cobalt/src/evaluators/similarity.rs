//! `Similarity`: the output is close to a field of the item, by their embeddings.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::choices::Distance;
use super::model_setters::model_setters;
use super::remap::Remap;
use super::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::dataset::Item;
use crate::llm::{Asking, ModelChoice};
use crate::metrics::{cosine, dot};
use crate::suggest;
use crate::template::Variable;

/// Compares the output with a field of the item by their embeddings.
///
/// The score is the similarity itself, or 1 and 0 on both sides of a [`threshold`](Self::threshold). Text is embedded
/// as it is, anything else as compact JSON. A text without a visible character is like nothing, and scores 0.
///
/// ```
/// use cobalt::{Provider, Similarity};
///
/// let close = Similarity::new("close", "expectedOutput").threshold(0.85);
/// // Compares letters, in this process: no key, no meaning.
/// let wording = Similarity::new("wording", "expectedOutput").provider(Provider::Local);
/// ```
#[derive(Clone, Debug)]
pub struct Similarity {
    name: String,
    field: Variable,
    distance: Distance,
    threshold: Option<f64>,
    choice: ModelChoice,
    remap: Option<Remap>,
    pass_mark: f64,
}

impl Similarity {
    /// Compares the output with the item's `field`, which may be a path such as `answers[0].text`, by the cosine of
    /// their embeddings.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self {
            name: name.into(),
            field: Variable::new(field.as_ref()),
            distance: Distance::default(),
            threshold: None,
            choice: ModelChoice::default(),
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
        }
    }

    /// How the embeddings are compared: by their cosine unless it is set. Both are clamped to 0..=1.
    #[must_use]
    pub fn distance(mut self, distance: Distance) -> Self {
        self.distance = distance;
        self
    }

    /// Scores 1 from this similarity on, 0 to 1, and 0 below it, instead of the similarity itself.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The embedding model to ask, instead of the configuration's.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.choice.model = Some(model.into());
        self
    }

    model_setters!();

    /// Changes what is compared, for example another output or item.
    ///
    /// ```
    /// use cobalt::{Output, Similarity};
    ///
    /// let close = Similarity::new("close", "expectedOutput")
    ///     .context(|cx| cx.with_output(Output::new(cx.output()["answer"].clone())));
    /// ```
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.remap = Some(Remap::new(remap));
        self
    }

    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    async fn compare(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Asking { models, meter } = cx.models()?;
        let remapped = self.remap.as_ref().map(|remap| remap.apply(cx));
        let cx = remapped.as_ref().unwrap_or(cx);
        let expected = match self.field.resolve(cx.item()) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => return Err(EvalError::new(self.missing(cx.item()))),
        };
        for (text, whose) in [(&*expected, self.field.name()), (cx.output_text(), "output")] {
            if text.trim().is_empty() {
                return Ok(self.score(0.0).reason(format!("`{whose}` is blank, which is like nothing")));
            }
        }
        let embeddings = models.embed(&self.choice, &[&expected, cx.output_text()], &meter).await?;
        let [a, b] = &embeddings[..] else {
            return Err(EvalError::new(format!("2 texts got {} embeddings", embeddings.len())));
        };
        let similarity = match self.distance {
            Distance::Cosine => cosine(a, b),
            Distance::Dot => dot(a, b),
        };
        similarity.map(|similarity| self.score(similarity)).map_err(|error| EvalError::new(error.to_string()))
    }

    /// The score for a similarity from 0 to 1.
    fn score(&self, similarity: f64) -> Score {
        let what = format!("{} {similarity:.3}", self.distance.in_words());
        let score = match self.threshold {
            None => Score::new(similarity).reason(what),
            Some(threshold) if similarity >= threshold => {
                Score::new(1.0).reason(format!("{what}, which reaches {threshold}"))
            }
            Some(threshold) => Score::new(0.0).reason(format!("{what}, which is below {threshold}")),
        };
        score.metadata("similarity", similarity)
    }

    fn missing(&self, item: &Item) -> String {
        let field = self.field.name();
        let fields = suggest::list(item.keys().map(String::as_str));
        format!("the item's `{field}` is missing or null; the item has {fields}")
    }

    fn check_field(&self, setup: &Setup) -> Result<(), CheckError> {
        let mut items = setup.items().peekable();
        if items.peek().is_none() || items.any(|item| self.field.resolve(item).is_some()) {
            return Ok(());
        }
        let fields: BTreeSet<_> = setup.items().flat_map(Item::keys).map(String::as_str).collect();
        let field = self.field.name();
        Err(CheckError::new(format!(
            "no item has `{field}` to compare with; {}",
            suggest::instead(field, fields)
        )))
    }
}

impl Evaluator for Similarity {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.compare(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        if self.remap.is_none() {
            self.check_field(setup)?;
        }
        if let Some(threshold) = self.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return Err(CheckError::new(format!("the threshold is {threshold}; it is a number from 0 to 1")));
        }
        setup.models.check_embedding(&self.choice)
    }

    /// Every call to a model has a limit of its own, waiting for a free place left out: a busy run is no error.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }
}
