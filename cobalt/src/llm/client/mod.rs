//! How models are asked over HTTP: requests in the form of each vendor's API, sent again after what may pass.
//!
//! From the outside in: [`chat`], [`embed`] and [`moderate`] make a request and read its answer, in the form of the
//! target's API ([`openai`], [`anthropic`], [`cohere`]); [`send`] sends it by [`crate::http`], again
//! after transient failures, and words the errors. What an API refuses of a model is [`remembered`].

mod anthropic;
mod chat;
mod cohere;
mod embed;
mod moderate;
mod openai;
mod ordered;
mod remembered;
mod request;
mod send;
#[cfg(test)]
mod tests;

pub(super) use ordered::Ordered;
pub(crate) use request::{ClientError, Embedded, Reply, Target};
pub(crate) use send::Client;
