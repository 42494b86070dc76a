//! Webhooks, called when a run finishes: the body, its signature, and delivery.

mod body;
mod send;

pub use self::send::Webhooks;
