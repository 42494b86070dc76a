//! `type = "regex"`.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::one_of::exactly_one;
#[cfg(feature = "schema")]
use super::one_of::one_of;
use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{Evaluator, RegexMatch, expression};
use crate::settings::Text;
use crate::settings::Word;
use crate::settings::with_written;

text_table! {
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = one_of(&["field", "pattern"]))))]
    RegexTable {
        /// The field of the item that holds the regular expression, or a path to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        field: Option<Word>,
        /// The regular expression for all outputs.
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<Expression>,
        /// Whether the whole output must match; a part is enough unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        whole: Option<bool>,
        /// Whether `Paris` and `paris` differ; they do unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        case_sensitive: Option<bool>,
        /// Scores 1 where the output does not match, and 0 where it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        not: Option<bool>,
    }
}

/// A regular expression.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
struct Expression(String);

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| expression(text).map(|_| Self(text.to_owned()));
        deserializer.deserialize_str(Text { expected: "a regular expression in quotes", read })
    }
}

impl Settings for RegexTable {
    const TYPE: &'static str = "regex";

    fn checked(self) -> Result<Self, toml::de::Error> {
        let keys = [("field", self.field.is_some()), ("pattern", self.pattern.is_some())];
        exactly_one("what to match", &keys).map(|()| self)
    }

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let name = name_of!(written);
        let matched = match (written.field, written.pattern) {
            (Some(Word(field)), _) => RegexMatch::new(name, field),
            (None, pattern) => {
                RegexMatch::pattern(name, pattern.map_or_else(String::new, |Expression(text)| text))
            }
        };
        let matched = with_written!(
            matched,
            whole(written.whole),
            case_sensitive(written.case_sensitive),
            not(written.not),
        );
        Ok(Arc::new(with_common!(written, matched)))
    }
}
