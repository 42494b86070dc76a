//! Webhooks: who is told of the end of a run, what they are told, and how it is sent.

mod body;
mod send;

pub(crate) use self::send::Webhooks;
