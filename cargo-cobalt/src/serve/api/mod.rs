//! What programs ask, the page first among them: JSON under `/api`, with the fields of the original where it has them.
//!
//! A file is an endpoint: the query that it takes, the types that it answers with, and how these are filled. [`description`] has all
//! of them.

mod compare;
mod events;
mod export;
mod items;
mod openapi;
mod respond;
mod run;
mod runs;
mod trends;

pub use openapi::{description, no_endpoint, routes};
