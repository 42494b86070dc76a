//! The keys that the tables of all data sets have which are fetched, wherever from.

/// Makes a table with some keys of its own and these.
macro_rules! fetched_table {
    ($(#[$attribute:meta])* $table:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $(#[$attribute])*
        pub(in crate::config) struct $table {
            $($own)*
            /// How long the server may be silent, before its answer and within it; "60s" unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            timeout: Option<crate::settings::Length>,
            /// How often a request is sent again after a failure that may pass; 4 unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            retries: Option<crate::settings::Retries>,
            /// How many bytes it may have, unpacked: a number, or a text such as "200 MB"; "1 GiB" unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            max_bytes: Option<crate::config::datasets::values::Bytes>,
            /// How old a copy may be before it is fetched again; of any age, until `--refresh`, unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            max_age: Option<crate::settings::Age>,
            /// How many items there must be; any number unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            items: Option<crate::settings::Count>,
            /// How the hash of the items must begin, at least 8 digits of it; any unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            hash: Option<crate::config::datasets::values::HashStart>,
        }
    };
}

/// A data set that is to be fetched, with what is written of these keys.
#[cfg(feature = "remote")]
macro_rules! on_terms {
    ($written:expr, $remote:expr) => {
        crate::settings::with_written!(
            $remote,
            timeout($written.timeout.map(|crate::settings::Length(timeout)| timeout)),
            retries($written.retries.map(|crate::settings::Retries(retries)| retries)),
            max_bytes($written.max_bytes.map(|crate::config::datasets::values::Bytes(bytes)| bytes)),
            max_age($written.max_age.map(|crate::settings::Age(age)| age)),
            expect_items($written.items.map(|crate::settings::Count(items)| items)),
            expect_hash($written.hash.clone().map(|crate::config::datasets::values::HashStart(hash)| hash)),
        )
    };
}

pub(super) use fetched_table;
#[cfg(feature = "remote")]
pub(super) use on_terms;
