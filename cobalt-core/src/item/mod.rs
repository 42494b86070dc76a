//! The parts of results: dataset items and their identities, agent outputs, and usage.

mod field_path;
mod identity;
mod json_item;
pub(crate) mod model_share;
mod output;
mod unique_names;
pub mod usage;

pub use field_path::FieldPath;
pub(crate) use identity::case_name_in_partial_run;
pub use identity::{
    CanonicalHasher, case_name, content_hash, content_number, id, item_hash, natural_key, value_hash,
    without_content,
};
pub use json_item::{Item, ItemSeed, into_item, type_name};
pub use output::{Output, TokenCount};
pub use unique_names::{CaseNames, Identities, ItemKeys, make_unique};
pub use usage::{ExecutionUsage, ModelCall};
