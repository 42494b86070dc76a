//! What results are made of: items of data sets and what they are called, the outputs of agents, and what these used.

mod canonical;
mod identity;
mod object;
mod output;
mod tokens;
pub(crate) mod usage;

pub(crate) use canonical::Canonical;
pub use canonical::{item_hash, value_hash};
pub(crate) use identity::{case_name, case_name_of_some, case_names, content_hash, id, natural_key, unique};
pub use object::Item;
pub(crate) use object::{ItemSeed, into_item, kind};
pub use output::Output;
pub use tokens::TokenCount;
pub use usage::ModelCall;
pub(crate) use usage::Spending;
