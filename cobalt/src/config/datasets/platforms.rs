//! `type = "langfuse"`, `"langsmith"`, `"braintrust"` and `"basalt"`: data sets of platforms, which `[platforms]` says how to ask.

use serde::de::Error as _;

use super::entry::Table;
use super::fetched_table::fetched_table;
#[cfg(feature = "remote")]
use super::fetched_table::on_terms;
use super::lookup::Opening;
use super::values::PageSize;
use crate::config::model::at_least_one;
use crate::dataset::{Dataset, Item};
use crate::error::Error;
use crate::settings::Word;
#[cfg(feature = "remote")]
use crate::settings::with_written;

fetched_table! {
    LangfuseTable {
        /// The name of the data set; one in a folder is named "folder/name".
        name: Word,
        /// The time as of which its items are taken, such as "2026-01-21T14:35:42Z"; now, unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<Word>,
        /// How many items are asked for at once; 100 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        page_size: Option<PageSize>,
    }
}

fetched_table! {
    LangSmithTable {
        /// The name of the data set.
        name: Word,
        /// The time, or the tag of the version, as of which its examples are taken; now, unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<Word>,
        /// Its splits of which examples are taken; all unless it is set.
        #[serde(default, deserialize_with = "at_least_one", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        splits: Option<Vec<Word>>,
        /// What the metadata of the examples must hold that are taken.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Item>,
        /// Which examples are taken, in LangSmith's language of filters.
        #[serde(skip_serializing_if = "Option::is_none")]
        filter: Option<Word>,
    }
}

fetched_table! {
    BraintrustTable {
        /// The name of the project.
        project: Word,
        /// The name of the data set.
        name: Word,
        /// The id of the transaction as of which its records are taken; now, unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<Word>,
        /// The name of the snapshot that is taken, in place of a version.
        #[serde(skip_serializing_if = "Option::is_none")]
        snapshot: Option<Word>,
        /// The environment whose version is taken, such as "production".
        #[serde(skip_serializing_if = "Option::is_none")]
        environment: Option<Word>,
        /// The organization, where the key is of several; that of `[platforms.braintrust]` unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        organization: Option<Word>,
    }
}

fetched_table! {
    BasaltTable {
        /// The slug of the data set.
        slug: Word,
    }
}

/// How the table of a platform becomes a data set that is to be fetched.
macro_rules! platform {
    ($table:ident: $written:ident => $remote:expr $(, checked by $checked:ident)?) => {
        impl Table for $table {
            $(fn checked(self) -> Result<Self, toml::de::Error> {
                $checked(self)
            })?

            #[cfg(feature = "remote")]
            fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
                let $written = self;
                opening.fetch(on_terms!($written, $remote))
            }

            #[cfg(not(feature = "remote"))]
            fn load(&self, opening: &Opening<'_>) -> Result<Dataset, Error> {
                Err(opening.without_remote())
            }
        }
    };
}

platform!(LangfuseTable: table => with_written!(
    Dataset::from_langfuse(&table.name.0),
    version(text(&table.version)),
    page_size(table.page_size.map(|PageSize(items)| items)),
));
platform!(LangSmithTable: table => with_written!(
    Dataset::from_langsmith(&table.name.0),
    version(text(&table.version)),
    splits(table.splits.as_ref().map(|splits| splits.iter().map(|Word(split)| split))),
    metadata(table.metadata.clone()),
    filter(text(&table.filter)),
));
platform!(BraintrustTable: table => with_written!(
    Dataset::from_braintrust(&table.project.0, &table.name.0),
    version(text(&table.version)),
    snapshot(text(&table.snapshot)),
    environment(text(&table.environment)),
    organization(text(&table.organization)),
), checked by one_state);
platform!(BasaltTable: table => Dataset::from_basalt(&table.slug.0));

/// Refuses a table that names two states of a data set.
fn one_state(table: BraintrustTable) -> Result<BraintrustTable, toml::de::Error> {
    let named = [&table.version, &table.snapshot, &table.environment];
    match named.into_iter().flatten().count() {
        0 | 1 => Ok(table),
        _ => Err(toml::de::Error::custom(
            "`version`, `snapshot` and `environment` each name a state of the data set; keep one of them",
        )),
    }
}

#[cfg(feature = "remote")]
fn text(written: &Option<Word>) -> Option<&str> {
    written.as_ref().map(|Word(text)| text.as_str())
}
