//! `type = "exact-match"`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::typed::Settings;
use crate::config::error::{ConfigError, Place};
use crate::config::values::Score;
use crate::evaluators::{Evaluator, ExactMatch};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Exact {
    /// The name in reports.
    #[serde(default = "exact_match")]
    name: String,
    /// The field of the item that holds the right output.
    field: String,
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
        let Self { name, field, case_sensitive, trim, pass_mark } = self;
        let exact = ExactMatch::new(name, field).case_sensitive(*case_sensitive).trim(*trim);
        Ok(Arc::new(match pass_mark {
            Some(Score(mark)) => exact.pass_mark(*mark),
            None => exact,
        }))
    }
}
