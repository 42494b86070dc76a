//! What results are made of: items of data sets and what they are called, the outputs of agents, and what these used.

mod identity;
mod object;
mod output;
pub mod usage;

pub(crate) use identity::{
    Canonical, case_name, case_name_of_some, case_names, content_hash, id, natural_key, unique,
};
pub use identity::{item_hash, value_hash};
pub use object::Item;
pub(crate) use object::{ItemSeed, into_item, kind};
pub use output::{Output, TokenCount};
pub use usage::ModelCall;
pub(crate) use usage::Spending;
