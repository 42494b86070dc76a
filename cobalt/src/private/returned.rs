//! Converts the error of a function with one of the attributes to text with all its causes.
//!
//! The attributes know the concrete return type, so they can select a conversion by its error type (autoref specialization): each trait
//! here is implemented for one more reference than the next, and method calls try them in this order. Any other value is passed
//! unchanged to [`IntoOutput`](crate::IntoOutput) or [`IntoScore`](crate::IntoScore).

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Display};
use std::ops::Deref;

use cobalt_core::error_chain::{IntoReason, format_with_causes};

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
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: IntoReason> Sendable for &&&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(IntoReason::into_reason)
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
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: Deref<Target = dyn Error>> Pointed for &&Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(|error| format_with_causes(&*error))
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
    fn with_causes(&self) -> Result<Self::Value, String>;
}

impl<T, E: Display> Shown for &Returned<Result<T, E>> {
    type Value = T;
    fn with_causes(&self) -> Result<T, String> {
        self.take().map_err(|error| format!("{error:#}"))
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
