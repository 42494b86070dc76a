//! Webhooks: who is notified of the end of a run, with which body, and how it is signed and sent.

mod body;
mod send;

pub use self::send::Webhooks;
