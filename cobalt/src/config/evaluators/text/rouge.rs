//! `type = "rouge"`.

use std::sync::Arc;

use super::table::{text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::names::{MeasureName, RougeName};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{Evaluator, Rouge};
use crate::settings::Word;
use crate::settings::with_written;

text_table! {
    RougeTable {
        /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
        field: Word,
        /// What is counted: words ("1"), pairs of words ("2"), the longest common subsequence ("l"), or that line by line
        /// ("lsum").
        variant: RougeName,
        /// Which figure is the score; "f1" unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        measure: Option<MeasureName>,
        /// Whether English words are compared by their stems; they are not unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        stemmer: Option<bool>,
    }
}

impl Settings for RougeTable {
    const TYPE: &'static str = "rouge";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let RougeName(variant) = written.variant;
        let name = written.name.map_or_else(|| format!("rouge-{}", variant.suffix()), |Word(name)| name);
        let rouge = with_written!(
            Rouge::of(variant, name, written.field.0),
            measure(written.measure.map(|MeasureName(measure)| measure)),
            stemmer(written.stemmer),
        );
        Ok(Arc::new(with_common!(written, rouge)))
    }
}
