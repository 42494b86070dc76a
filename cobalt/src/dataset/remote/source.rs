//! What a data set can be fetched from.

use std::fmt;

use super::error::FetchError;
use super::session::Session;
use crate::item::Item;

/// What a data set can be fetched from. It knows what it asks for, and not whether that is asked or a copy is used.
pub trait Source: fmt::Debug + Send + Sync {
    /// How it is shown: `langfuse:support`, or an address without its query.
    fn label(&self) -> String;

    /// What is asked for, without secrets: copies are told apart by it.
    fn identity(&self, session: &Session<'_>) -> Vec<String>;

    /// Fetches all of it.
    fn fetch(&self, session: &Session<'_>) -> impl Future<Output = Result<Fetched, FetchError>>;
}

/// What was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// The items in the order of the source.
    pub(super) items: Vec<Item>,
    /// Which version it is, as the source names it.
    pub(super) version: Option<String>,
}
