//! The parts of results: dataset items and their identities, agent outputs, and usage.

mod identity;
mod object;
mod output;
pub mod usage;

pub(crate) use identity::case_name_of_some;
pub use identity::{
    Canonical, case_name, case_names, content_hash, id, item_hash, natural_key, unique, value_hash,
};
pub use object::{Item, ItemSeed, into_item, kind};
pub use output::{Output, TokenCount};
pub use usage::{ModelCall, Spending};
