//! The table `[redaction]`: what is taken out of the texts that are stored, shown or served.

use std::ffi::OsString;

use serde::Deserialize;

use super::error::ConfigError;
use super::merge::{Merge, first};
use super::settings::Origin;
use super::variables::REDACTION_FORMS;

/// What is taken out of the texts that are stored, shown or served. Values that are known to be secret always are.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct Redaction {
    /// Whether texts that have the form of a key are, too; true unless it is set.
    forms: Option<bool>,
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub(super) fn redacts_forms(&mut self, written: Redaction) -> Result<bool, ConfigError> {
        let key = "redaction.forms";
        let forms = first([
            (self.variables.redaction_forms()?, Origin::variable(REDACTION_FORMS)),
            (written.forms, self.origin(key)),
        ]);
        let (forms, origin) = forms.unwrap_or((true, Origin::Default));
        self.note(key, &forms, origin);
        Ok(forms)
    }
}
