//! What a function with one of the attributes returned, with its error as text that has all causes.
//!
//! The attributes know the type that is returned, so that they can choose by what its error is, which a trait cannot: each
//! trait here is implemented for one more reference than the next, and method calls try them in this order. Anything else
//! stays as it is, for [`IntoOutput`](crate::IntoOutput) or [`IntoScore`](crate::IntoScore) to judge.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Display};
use std::ops::Deref;

use cobalt_core::causes::{IntoReason, with_causes};

/// A returned value; taken by the first of the traits that applies.
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

/// A `Result` of any error that can be sent, and of text.
pub trait Sendable {
    /// What was returned.
    type Value;
    /// Its error with its causes.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: IntoReason> Sendable for &&&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(IntoReason::into_reason)
    }
}

/// A `Result` of a pointer to an error, such as `Box<dyn Error>`.
pub trait Pointed {
    /// What was returned.
    type Value;
    /// Its error with its causes.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: Deref<Target = dyn Error>> Pointed for &&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(|error| with_causes(&*error))
    }
}

/// A `Result` of an error that can only be shown.
pub trait Shown {
    /// What was returned.
    type Value;
    /// Its error as it is shown.
    ///
    /// # Errors
    ///
    /// Those of the function.
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: Display> Shown for &Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(|error| format!("{error:#}"))
    }
}

/// Anything else.
pub trait Whatever {
    /// What was returned.
    type Value;
    /// The value as it is.
    fn with_causes(&self) -> Self::Value;
}

impl<R> Whatever for Returned<R> {
    type Value = R;
    fn with_causes(&self) -> R {
        self.take()
    }
}
