//! The JSON API under `/api`, used by the page and other programs. Field names follow the original tool where it has them.
//!
//! Each file is an endpoint: its query, its response types, and how they are filled. [`description`] lists all of them.

mod compare;
mod events;
mod experiments;
mod export;
mod items;
mod matrix;
mod media;
mod openapi;
mod ranking;
mod respond;
mod run;
mod runs;
mod trends;

pub use openapi::{description, endpoint_not_found, routes};
pub use respond::{PathParams, StrictQuery};
