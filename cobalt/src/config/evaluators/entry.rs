//! One element of the list of evaluators.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize as _, Serialize};
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use super::function::{Named, registered};
use super::placed::Placed;
use super::typed::Typed;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::Evaluator;

const EXPECTED: &str =
    "an evaluator is the name of a function with `#[cobalt::evaluator]`, or a table with a `type`";

/// An evaluator: the name of a function with `#[cobalt::evaluator]`, or a table with a `type`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Evaluator"))]
// For what is written only: it is read by hand, for the sake of the errors.
#[serde(untagged)]
pub(in crate::config) enum Entry {
    /// The name of a function with `#[cobalt::evaluator]`.
    Registered(String),
    /// The same with a pass mark.
    Named(Named),
    /// An evaluator with settings.
    Typed(Box<Typed>),
}

impl Entry {
    /// Reads one element of the list.
    pub(in crate::config) fn read(element: Spanned<DeValue<'_>>) -> Result<Self, toml::de::Error> {
        let span = element.span();
        match element.into_inner() {
            DeValue::String(name) => Ok(Self::Registered(name.into_owned())),
            DeValue::Table(table) if Named::is(&table) => {
                let table = ValueDeserializer::from(Spanned::new(span, DeValue::Table(table)));
                Named::deserialize(table).map(Self::Named)
            }
            DeValue::Table(table) => Typed::read(span, table).map(Box::new).map(Self::Typed),
            _ => Err(toml::de::Error::custom(EXPECTED)),
        }
    }

    /// Makes the evaluator. `place` is where it stands in the file.
    pub(in crate::config) fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        match self {
            Self::Registered(name) => Ok(Arc::new(registered(name, place)?)),
            Self::Named(named) => named.make(place),
            Self::Typed(typed) => {
                Ok(Arc::new(Placed { evaluator: typed.make(place)?, place: place.clone() }))
            }
        }
    }
}
