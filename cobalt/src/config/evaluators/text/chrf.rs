//! `type = "chrf"`.

use std::sync::Arc;

use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{ChrF, Evaluator};
use crate::settings::Word;
use crate::settings::with_written;
use crate::settings::{Count, Weight};

text_table! {
    ChrfTable {
        /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
        field: Word,
        /// The longest sequences of letters; 6 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        char_order: Option<Count>,
        /// The longest sequences of words; none unless it is set, 2 for chrF++.
        #[serde(skip_serializing_if = "Option::is_none")]
        word_order: Option<Count>,
        /// How many times as much recall counts as precision; 2 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        beta: Option<Weight>,
        /// Whether `Paris` and `paris` differ; they do unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        case_sensitive: Option<bool>,
    }
}

impl Settings for ChrfTable {
    const TYPE: &'static str = "chrf";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let chrf = with_written!(
            ChrF::new(name_of!(written), written.field.0),
            char_order(written.char_order.map(|Count(letters)| letters)),
            word_order(written.word_order.map(|Count(words)| words)),
            beta(written.beta.map(|Weight(beta)| beta)),
            case_sensitive(written.case_sensitive),
        );
        Ok(Arc::new(with_common!(written, chrf)))
    }
}
