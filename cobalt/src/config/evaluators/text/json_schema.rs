//! `type = "json-schema"`.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::one_of::exactly_one;
#[cfg(feature = "schema")]
use super::one_of::one_of;
use super::table::text_table;
#[cfg(feature = "judge")]
use super::table::{name_of, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
#[cfg(not(feature = "judge"))]
use crate::config::evaluators::typed::without_judge;
use crate::evaluators::Evaluator;
#[cfg(feature = "judge")]
use crate::evaluators::JsonSchema;
use crate::settings::Word;

text_table! {
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = one_of(&["field", "schema", "file"]))))]
    JsonSchemaTable {
        /// The field of the item that holds the schema, or a path to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        field: Option<Word>,
        /// The schema for all outputs: a table, or JSON as text.
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<Value>,
        /// The JSON file that holds the schema for all outputs, relative to the package.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<PathBuf>,
    }
}

impl Settings for JsonSchemaTable {
    const TYPE: &'static str = "json-schema";

    fn checked(self) -> Result<Self, toml::de::Error> {
        let keys = [
            ("field", self.field.is_some()),
            ("schema", self.schema.is_some()),
            ("file", self.file.is_some()),
        ];
        exactly_one("where the schema is", &keys).map(|()| self)
    }

    #[cfg(feature = "judge")]
    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let name = name_of!(written);
        let formed = match (written.field, written.file) {
            (Some(Word(field)), _) => JsonSchema::new(name, field),
            (None, Some(path)) => JsonSchema::file(name, path),
            (None, None) => JsonSchema::schema(name, written.schema.unwrap_or_default()),
        };
        Ok(Arc::new(with_common!(written, formed)))
    }

    #[cfg(not(feature = "judge"))]
    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        Err(without_judge(place))
    }
}
