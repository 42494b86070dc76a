//! Remote datasets: fetched from a URL, or from the platforms that host them.
//!
//! A [`RemoteDataset`] consists of a [`Source`] and the [`fetch_options`] that all sources share. [`load`] returns the cached copy
//! ([`cache`]), or fetches the dataset in a [`fetch_session`] and caches it.

mod basalt;
mod braintrust;
mod cache;
mod fetch_options;
mod fetch_session;
mod langfuse;
mod langsmith;
mod load;
mod platform;
#[cfg(test)]
mod tests;
mod url;

pub use basalt::Basalt;
pub use braintrust::Braintrust;
pub use cache::CachedDataset;
pub use langfuse::Langfuse;
pub use langsmith::LangSmith;
pub use load::RemoteDataset;
pub(crate) use load::Source;
pub use url::Url;
