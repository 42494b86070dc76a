//! Language models: requests, caching and cost.
//!
//! An evaluator provides a question and a choice of model. The answer comes from the cache, or from an identical request in
//! flight, or from a new request within the concurrency limit.

#[cfg(feature = "judge")]
mod answer;
mod asking;
#[cfg(feature = "judge")]
mod batches;
#[cfg(feature = "judge")]
mod cache;
#[cfg(feature = "judge")]
mod client;
#[cfg(feature = "judge")]
mod embedding;
#[cfg(feature = "judge")]
mod flights;
#[cfg(feature = "judge")]
mod judge;
#[cfg(feature = "judge")]
mod models;
#[cfg(not(feature = "judge"))]
#[path = "without.rs"]
mod models;
#[cfg(feature = "judge")]
mod questions;
mod settings;
#[cfg(feature = "judge")]
mod target;
#[cfg(all(test, feature = "judge"))]
pub(crate) mod test_server;
#[cfg(all(test, feature = "judge"))]
mod tests;
#[cfg(feature = "judge")]
mod vendors;

#[cfg(feature = "judge")]
pub(crate) use answer::{AskError, Moderation, Question, Schema};
pub(crate) use asking::Asking;
#[doc(inline)]
pub use cobalt_core::prices;
#[doc(inline)]
pub use cobalt_core::prices::JudgeUsage;
pub(crate) use cobalt_core::prices::Meter;
#[cfg(feature = "judge")]
#[doc(hidden)]
pub use judge::Judge;
pub(crate) use models::Models;
pub(crate) use settings::{
    CacheSettings, DEFAULT_CONCURRENCY, DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_TTL, ModelChoice,
    ModelSettings, Unfit,
};
pub use settings::{CheckError, Provider, UnknownProvider};
