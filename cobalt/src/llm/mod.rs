//! Language models: requests, caching and cost.
//!
//! An evaluator provides a question and a choice of model. The answer comes from the cache, or from an identical request in
//! flight, or from a new request within the concurrency limit.

#[cfg(feature = "judge")]
mod answer;
#[cfg(feature = "judge")]
mod cache;
mod call_meter;
#[cfg(feature = "judge")]
mod client;
#[cfg(feature = "judge")]
mod embedding;
#[cfg(feature = "judge")]
mod embedding_batcher;
#[cfg(feature = "judge")]
mod judge;
#[cfg(feature = "judge")]
mod judge_calls;
mod llm_handle;
#[cfg(feature = "judge")]
mod models;
#[cfg(not(feature = "judge"))]
#[path = "disabled.rs"]
mod models;
mod settings;
#[cfg(feature = "judge")]
mod single_flight;
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
#[cfg(feature = "judge")]
pub(crate) use call_meter::CallMeter;
#[doc(inline)]
pub use cobalt_core::prices;
#[doc(inline)]
pub use cobalt_core::prices::JudgeUsage;
#[cfg(feature = "judge")]
#[doc(hidden)]
pub use judge::Judge;
pub(crate) use llm_handle::LlmHandle;
pub(crate) use models::Models;
pub(crate) use settings::{
    CacheSettings, CheckErrorKind, DEFAULT_CONCURRENCY, DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_TTL,
    ModelChoice, ModelSettings,
};
pub use settings::{CheckError, Provider, UnknownProvider};
