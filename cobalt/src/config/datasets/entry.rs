//! One data set: a table, told from others by its `type`.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use super::file::FileTable;
use super::lookup::Opening;
use super::platforms::{BasaltTable, BraintrustTable, LangSmithTable, LangfuseTable};
use super::url::UrlTable;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::settings::KeyVariable;
use crate::settings::{ReadTable, read_by_type};

/// What a table of one type holds, without its `type`.
pub(super) trait Table: for<'de> Deserialize<'de> {
    /// Refuses settings that contradict each other.
    fn checked(self) -> Result<Self, toml::de::Error> {
        Ok(self)
    }

    /// The address of the data set, which may hold secrets, and the variables that hold some.
    fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
        (None, Vec::new())
    }

    /// The items.
    fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error>;
}

/// The types, each a line.
macro_rules! types {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($table:ty)),+ $(,)?) => {
        /// A data set that `Dataset::named` gives.
        #[derive(Clone, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Dataset"))]
        #[serde(tag = "type")]
        pub(in crate::config) enum Entry {
            $($(#[$doc])* #[serde(rename = $name)] $variant($table),)+
        }

        /// The types, as tables name them.
        const TYPES: &[&str] = &[$($name),+];

        /// How the settings of each type are read.
        const READERS: &[ReadTable<Entry>] = &[$(|table| <$table>::deserialize(table)?.checked().map(Entry::$variant)),+];

        impl Entry {
            /// The address of the data set, which may hold secrets, and the variables that hold some.
            pub(super) fn secrets(&self) -> (Option<&str>, Vec<&KeyVariable>) {
                match self {
                    $(Self::$variant(table) => table.secrets(),)+
                }
            }

            /// The items.
            pub(super) fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
                match self {
                    $(Self::$variant(table) => table.load(opening),)+
                }
            }
        }
    };
}

types! {
    /// A file of the workspace.
    "file" => File(FileTable),
    /// A file at an address.
    "url" => Url(UrlTable),
    /// A data set of Langfuse.
    "langfuse" => Langfuse(LangfuseTable),
    /// A data set of LangSmith.
    "langsmith" => LangSmith(LangSmithTable),
    /// A data set of Braintrust.
    "braintrust" => Braintrust(BraintrustTable),
    /// A data set of Basalt.
    "basalt" => Basalt(BasaltTable),
}

impl Entry {
    /// Reads a table, which stands there in the file.
    pub(in crate::config) fn read(span: Range<usize>, table: DeTable<'_>) -> Result<Self, toml::de::Error> {
        read_by_type("data set", TYPES, READERS, span, table)
    }
}
