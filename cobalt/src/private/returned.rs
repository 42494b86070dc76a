//! Converts the error of a function with one of the attributes to text with all its causes. Whether it is transient is kept.
//!
//! The attributes know the concrete return type, so they can select a conversion by its error type (autoref specialization): each trait
//! here is implemented for one more reference than the next, and method calls try them in this order. Any other value is passed
//! unchanged to [`IntoOutput`](crate::IntoOutput) or [`IntoScore`](crate::IntoScore).

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Display};
use std::ops::Deref;

use cobalt_core::error_chain::IntoReason;

use crate::experiment::AgentError;

/// A returned value, converted by the first trait that applies.
pub struct Returned<R>(Cell<Option<R>>);

impl<R> fmt::Debug for Returned<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Returned")
    }
}

impl<R> Returned<R> {
    /// The value.
    pub fn new(returned: R) -> Self {
        Self(Cell::new(Some(returned)))
    }

    fn take(&self) -> R {
        self.0.take().expect("the attributes take it once")
    }
}

/// A `Result` whose error is text or any error that is `Send` and `Sync`.
pub trait Sendable {
    /// The returned value.
    type Value;
    /// Converts the error to text with its causes.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, AgentError>;
}

impl<T, E: IntoReason> Sendable for &&&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, AgentError> {
        self.take().map_err(|error| AgentError::from_dyn(&*error.into_boxed()))
    }
}

/// A `Result` whose error is a pointer to an error, such as `Box<dyn Error>`.
pub trait Pointed {
    /// The returned value.
    type Value;
    /// Converts the error to text with its causes.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, AgentError>;
}

impl<T, E: Deref<Target = dyn Error>> Pointed for &&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, AgentError> {
        self.take().map_err(|error| AgentError::from_dyn(&*error))
    }
}

/// A `Result` whose error only implements `Display`.
pub trait Shown {
    /// The returned value.
    type Value;
    /// Its error as displayed.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, AgentError>;
}

impl<T, E: Display> Shown for &Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, AgentError> {
        self.take().map_err(|error| AgentError::new(format!("{error:#}")))
    }
}

/// Any other value.
pub trait Whatever {
    /// The returned value.
    type Value;
    /// The unchanged value.
    fn with_causes(&self) -> Self::Value;
}

impl<R> Whatever for Returned<R> {
    type Value = R;
    fn with_causes(&self) -> R {
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoxError;

    fn busy() -> AgentError {
        AgentError::transient("the model is busy")
    }

    #[test]
    #[expect(clippy::needless_borrow, reason = "the attributes write as many for every type")]
    fn a_transient_error_stays_one_in_every_type_that_has_causes() {
        let own: Result<(), AgentError> = Err(busy());
        assert_eq!((&&&&Returned::new(own)).with_causes(), Err(busy()));
        let sendable: Result<(), BoxError> = Err(busy().into());
        assert_eq!((&&&&Returned::new(sendable)).with_causes(), Err(busy()));
        let boxed: Result<(), Box<dyn Error>> = Err(busy().into());
        assert_eq!((&&&&Returned::new(boxed)).with_causes(), Err(busy()));
        let text: Result<(), String> = Err(busy().to_string());
        assert_eq!((&&&&Returned::new(text)).with_causes(), Err(AgentError::new("the model is busy")));
    }
}
