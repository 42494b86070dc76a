//! `type = "contains"`.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::one_of::exactly_one;
#[cfg(feature = "schema")]
use super::one_of::one_of;
use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::names::QuantityName;
use crate::config::evaluators::typed::Settings;
use crate::config::model::at_least_one;
use crate::evaluators::{Contains, Evaluator};
use crate::settings::Text;
use crate::settings::Word;
use crate::settings::with_written;

text_table! {
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = one_of(&["field", "texts"]))))]
    ContainsTable {
        /// The field of the item that holds what to look for, a text or a list of texts, or a path to one.
        #[serde(skip_serializing_if = "Option::is_none")]
        field: Option<Word>,
        /// What to look for in all outputs.
        #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        texts: Option<Vec<Passage>>,
        /// How many of the texts the output is to contain; "all" unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        require: Option<QuantityName>,
        /// Whether `Paris` and `paris` differ; they do unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        case_sensitive: Option<bool>,
    }
}

/// A text to look for; white space at its ends counts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
struct Passage(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] String);

impl<'de> Deserialize<'de> for Passage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match text {
            "" => Err("the text is empty, which every output contains; leave it out".to_owned()),
            text => Ok(Self(text.to_owned())),
        };
        deserializer.deserialize_str(Text { expected: "a text in quotes", read })
    }
}

impl Settings for ContainsTable {
    const TYPE: &'static str = "contains";

    fn checked(self) -> Result<Self, toml::de::Error> {
        let keys = [("field", self.field.is_some()), ("texts", self.texts.is_some())];
        exactly_one("what to look for", &keys).map(|()| self)
    }

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let name = name_of!(written);
        let contains = match written.field {
            Some(Word(field)) => Contains::new(name, field),
            None => Contains::texts(name, written.texts.into_iter().flatten().map(|Passage(text)| text)),
        };
        let contains = with_written!(
            contains,
            quantity(written.require.map(|QuantityName(quantity)| quantity)),
            case_sensitive(written.case_sensitive),
        );
        Ok(Arc::new(with_common!(written, contains)))
    }
}
