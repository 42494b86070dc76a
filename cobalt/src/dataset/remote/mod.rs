//! Data sets that are fetched: from a URL, or from the platforms where teams keep them.
//!
//! A [`RemoteDataset`] says what is wanted: a [`Source`], and the [`terms`] that every source has in common. To [`load`] it
//! is to take the [`kept`] copy, or to fetch it in a [`session`] and keep that.

mod basalt;
mod braintrust;
mod kept;
mod langfuse;
mod langsmith;
mod load;
mod platform;
mod session;
mod terms;
#[cfg(test)]
mod tests;
mod url;

pub use basalt::Basalt;
pub use braintrust::Braintrust;
pub use kept::KeptDataset;
pub use langfuse::Langfuse;
pub use langsmith::LangSmith;
pub use load::RemoteDataset;
pub(crate) use load::Source;
pub use url::Url;
