//! `type = "squad-exact-match"`.

use std::sync::Arc;

use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{Evaluator, SquadExactMatch};
use crate::settings::Word;

text_table! {
    SquadExactMatchTable {
        /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
        field: Word,
    }
}

impl Settings for SquadExactMatchTable {
    const TYPE: &'static str = "squad-exact-match";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        Ok(Arc::new(with_common!(written, SquadExactMatch::new(name_of!(written), written.field.0))))
    }
}
