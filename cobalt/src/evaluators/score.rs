//! A score from 0 to 1, with the reasons for it.

use std::fmt::Display;

use super::EvalError;

/// What an evaluator found: a number from 0 (bad) to 1 (good), and why.
///
/// ```
/// let score = cobalt::Score::new(0.5).reason("half of the words");
/// assert_eq!(score.value(), 0.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    value: f64,
    reason: Option<String>,
    chain_of_thought: Option<String>,
}

impl Score {
    /// A score without a reason. One that is no number from 0 to 1 becomes an error of the evaluator when it is used.
    #[must_use]
    pub fn new(value: f64) -> Self {
        Self { value, reason: None, chain_of_thought: None }
    }

    /// Says why.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Keeps the reasoning that led to the score.
    #[must_use]
    pub fn chain_of_thought(mut self, thoughts: impl Into<String>) -> Self {
        self.chain_of_thought = Some(thoughts.into());
        self
    }

    /// The number.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Why, where it was said.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub(crate) fn into_parts(self) -> (f64, Option<String>, Option<String>) {
        (self.value, self.reason, self.chain_of_thought)
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

/// What an evaluator function may return: a `bool`, a number from 0 to 1, a [`Score`], or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "an evaluator cannot return `{Self}`",
    label = "not a `bool`, a number, `cobalt::Score` or a `Result` of one",
    note = "return `bool` for pass or fail, a number from 0 to 1, `cobalt::Score` to add a reason, or a `Result` of one of these"
)]
pub trait IntoScore {
    /// Turns the returned value into a score.
    ///
    /// # Errors
    ///
    /// The evaluator's own error.
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

macro_rules! numbers_are_scores {
    ($($number:ty),*) => {$(
        impl IntoScore for $number {
            fn into_score(self) -> Result<Score, EvalError> {
                Ok(Score::new(f64::from(self)))
            }
        }
    )*};
}

numbers_are_scores!(f64, f32, i32, u32, u8);

impl<T: IntoScore, E: Display> IntoScore for Result<T, E> {
    fn into_score(self) -> Result<Score, EvalError> {
        self.map_err(|error| EvalError::new(format!("{error:#}")))?.into_score()
    }
}
