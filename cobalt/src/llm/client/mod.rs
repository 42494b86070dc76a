//! Calls models over HTTP: requests in the format of each vendor's API, with retries.
//!
//! From the outside in: [`chat`], [`embed`] and [`moderate`] build a request and parse the response, in the format of the
//! target's API ([`openai`], [`anthropic`], [`cohere`]); [`send`] sends it with [`crate::http`], retries transient failures,
//! and formats errors. What an API rejects for a model is [`capabilities`].

mod anthropic;
mod capabilities;
mod chat;
mod cohere;
mod embed;
mod moderate;
mod openai;
mod ordered_json;
mod request;
mod send;
#[cfg(test)]
mod tests;

pub(super) use ordered_json::OrderedJson;
pub(crate) use request::{ClientError, Embeddings, Reply, Target};
pub(crate) use send::Client;
