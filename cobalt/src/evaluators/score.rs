//! `Score`: a number from 0 to 1 with its reason.

use cobalt_core::error_chain::IntoReason;
use cobalt_core::item::Item;
use cobalt_core::nesting::{drop_iteratively, is_too_deep, too_deep_message};
use cobalt_core::report::ScoredEvaluation;
use serde_json::Value;

use super::EvalError;

/// The result of an evaluator: a number from 0 (bad) to 1 (good), with a reason.
///
/// ```
/// let score = cobalt::Score::new(0.5).reason("half of the words");
/// assert_eq!(score.value(), 0.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Absent if the evaluator does not apply to the item.
    value: Option<f64>,
    reason: Option<String>,
    chain_of_thought: Option<String>,
    metadata: Item,
}

impl Score {
    /// Creates a score without a reason. A value that is not a number from 0 to 1 becomes an evaluator error when it is used.
    #[must_use]
    pub fn new(value: f64) -> Self {
        // Normalises -0, the sum of an empty list of floats.
        Self { value: Some(value + 0.0), reason: None, chain_of_thought: None, metadata: Item::new() }
    }

    /// Says that the evaluator does not apply to the item, and why. The item is left out of the evaluator's statistics and counted
    /// beside them; it is neither an error nor a score of 0.
    ///
    /// ```
    /// use cobalt::{EvalContext, Score};
    ///
    /// #[cobalt::evaluator]
    /// fn cites_a_source(cx: &EvalContext) -> Score {
    ///     if cx.item()["citation"] != true {
    ///         return Score::not_applicable("no citation asked");
    ///     }
    ///     Score::from(cx.output_text().contains("https://"))
    /// }
    /// ```
    #[must_use]
    pub fn not_applicable(reason: impl Into<String>) -> Self {
        Self::without_value(Some(reason.into()))
    }

    fn without_value(reason: Option<String>) -> Self {
        Self { value: None, reason, chain_of_thought: None, metadata: Item::new() }
    }

    /// Sets the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Stores the reasoning that led to the score.
    #[must_use]
    pub fn chain_of_thought(mut self, thoughts: impl Into<String>) -> Self {
        self.chain_of_thought = Some(thoughts.into());
        self
    }

    /// Stores an additional value with the score, such as its components.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The number; NaN if the evaluator [does not apply](Self::not_applicable).
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value.unwrap_or(f64::NAN)
    }

    /// Whether the evaluator applies to the item.
    #[must_use]
    pub fn is_applicable(&self) -> bool {
        self.value.is_some()
    }

    /// The reason, if any.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The metadata of the score.
    #[must_use]
    pub fn all_metadata(&self) -> &Item {
        &self.metadata
    }

    /// Converts it for storage. A value that is not a number from 0 to 1, or metadata that cannot be stored, gives an error
    /// instead of a score.
    pub(crate) fn into_evaluation(self) -> ScoredEvaluation {
        let Self { value, reason, chain_of_thought, mut metadata } = self;
        let error = if metadata.values().any(is_too_deep) {
            std::mem::take(&mut metadata).into_iter().for_each(|(_, value)| drop_iteratively(value));
            Some(too_deep_message("the score's metadata"))
        } else {
            let refused = value.filter(|value| !(0.0..=1.0).contains(value));
            refused.map(|value| format!("the score is {value}; it must be a number from 0 to 1"))
        };
        let score = value.filter(|_| error.is_none());
        let not_applicable = value.is_none() && error.is_none();
        ScoredEvaluation { score, reason, chain_of_thought, metadata, judge: None, error, not_applicable }
    }
}

impl From<bool> for Score {
    fn from(holds: bool) -> Self {
        Self::new(if holds { 1.0 } else { 0.0 })
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

/// Return types of evaluator functions: `bool`, a number from 0 to 1, [`Score`], or a `Result` or `Option` of one.
/// `None` says that the evaluator does not apply to the item, as [`Score::not_applicable`] does with a reason.
///
/// An error is stored with all its causes. The error types are the same as for [agents](crate::IntoOutput).
#[diagnostic::on_unimplemented(
    message = "an evaluator cannot return `{Self}`",
    label = "not a `bool`, a number, `cobalt::Score`, or a `Result` or `Option` of one",
    note = "return `bool` for pass or fail, a number from 0 to 1, `cobalt::Score` to add a reason, or a `Result` or `Option` of one of these"
)]
pub trait IntoScore {
    /// Converts the returned value into a score.
    ///
    /// # Errors
    ///
    /// Returns the error of the evaluator function.
    fn into_score(self) -> Result<Score, EvalError>;
}

impl IntoScore for Score {
    fn into_score(self) -> Result<Score, EvalError> {
        Ok(self)
    }
}

impl IntoScore for bool {
    fn into_score(self) -> Result<Score, EvalError> {
        Ok(self.into())
    }
}

macro_rules! impl_into_score_for_numbers {
    ($($number:ty),*) => {$(
        impl IntoScore for $number {
            fn into_score(self) -> Result<Score, EvalError> {
                Ok(Score::new(f64::from(self)))
            }
        }
    )*};
}

impl_into_score_for_numbers!(f64, f32, i32, u32, u8);

impl<T: IntoScore, E: IntoReason> IntoScore for Result<T, E> {
    fn into_score(self) -> Result<Score, EvalError> {
        self.map_err(|error| EvalError::new(error.into_reason()))?.into_score()
    }
}

impl<T: IntoScore> IntoScore for Option<T> {
    fn into_score(self) -> Result<Score, EvalError> {
        self.map_or_else(|| Ok(Score::without_value(None)), T::into_score)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_evaluator_does_not_apply_to_has_neither_a_score_nor_an_error() {
        for (score, reason) in
            [(None::<bool>.into_score().unwrap(), None), (Score::not_applicable("no list"), Some("no list"))]
        {
            let evaluation = score.into_evaluation();
            assert!(evaluation.not_applicable && !evaluation.is_error());
            assert_eq!((evaluation.score, evaluation.reason.as_deref()), (None, reason));
        }
        assert_eq!(Ok(Some(0.5)).map_err(|error: String| error).into_score().unwrap(), Score::new(0.5));
    }

    #[test]
    fn no_score_is_shown_as_minus_zero() {
        assert_eq!(Score::new(-0.0).value().to_string(), "0");
    }

    #[test]
    fn metadata_that_no_file_can_hold_leaves_no_score() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
        let kept = Score::new(1.0).metadata("parts", nested(100)).into_evaluation();
        assert_eq!((kept.score, kept.error), (Some(1.0), None));
        let text = serde_json::to_string(&json!([[[[[[[kept.metadata]]]]]]])).unwrap();
        serde_json::from_str::<Value>(&text).expect("it can be read as part of a report");
        for levels in [101, 100_000] {
            let refused = Score::new(1.0).reason("why").metadata("parts", nested(levels)).into_evaluation();
            assert_eq!((refused.score, refused.metadata), (None, Item::new()));
            assert!(
                refused
                    .error
                    .unwrap()
                    .starts_with("the score's metadata is nested more than 100 levels deep")
            );
        }
    }
}
