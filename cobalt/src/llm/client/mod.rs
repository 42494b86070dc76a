//! How models are asked over HTTP: requests in the form of each vendor's API, sent again after what may pass.
//!
//! From the outside in: [`chat`], [`embed`] and [`moderate`] make a request and read its answer, in the form of the
//! target's API ([`openai`], [`anthropic`], [`cohere`]); [`send`] sends it, again where that may help ([`retry`]);
//! [`transport`] sends it once. What an error says is worded in [`failure`].

mod anthropic;
mod chat;
mod cohere;
mod embed;
mod failure;
mod form;
mod moderate;
mod openai;
mod redaction;
mod remembered;
mod request;
mod retry;
mod send;
mod temperature;
mod transport;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use send::Client;
pub(crate) use types::{ClientError, Embedded, Reply, Target};
