//! `type = "file"`.

use serde::{Deserialize, Serialize};

use super::entry::Table;
use super::lookup::Opening;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::settings::Word;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct FileTable {
    /// The file; a relative path begins at the root of the workspace.
    pub(super) path: Word,
}

impl Table for FileTable {
    fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
        Dataset::from_workspace(opening.workspace, self.path.0.as_ref())
    }
}
