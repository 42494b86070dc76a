//! `type = "wer"`.

use std::sync::Arc;

use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{Evaluator, Wer};
use crate::settings::Word;
use crate::settings::with_written;

text_table! {
    WerTable {
        /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
        field: Word,
        /// Whether letters are counted rather than words, as in the character error rate; they are not unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        characters: Option<bool>,
    }
}

impl Settings for WerTable {
    const TYPE: &'static str = "wer";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let wer =
            with_written!(Wer::new(name_of!(written), written.field.0), characters(written.characters),);
        Ok(Arc::new(with_common!(written, wer)))
    }
}
