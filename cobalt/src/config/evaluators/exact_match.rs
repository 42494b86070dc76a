//! `type = "exact-match"`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::typed::Settings;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::{Evaluator, ExactMatch};
use crate::settings::Score;
use crate::settings::Word;
use crate::settings::with_written;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Exact {
    /// The name in reports.
    #[serde(default = "exact_match")]
    name: String,
    /// The field of the item that holds the right output.
    field: String,
    /// The part of what the agent gave to compare, a path such as "output.answer" or "metadata.answer"; "output" unless
    /// it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Word>,
    /// Whether `Paris` and `paris` differ.
    #[serde(default = "yes")]
    case_sensitive: bool,
    /// Whether white space at both ends is left out.
    #[serde(default)]
    trim: bool,
    /// From which score an output passes; 0.5 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

fn exact_match() -> String {
    Exact::TYPE.to_owned()
}

fn yes() -> bool {
    true
}

impl Settings for Exact {
    const TYPE: &'static str = "exact-match";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        Ok(Arc::new(with_written!(
            ExactMatch::new(written.name, written.field)
                .case_sensitive(written.case_sensitive)
                .trim(written.trim),
            output(written.output.map(|Word(path)| path)),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        )))
    }
}
