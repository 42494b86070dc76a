//! Tests of fetching over HTTP on localhost, and of cached copies with a source that counts fetches.

mod braintrust;
mod copies;
mod langfuse;
mod langsmith;
mod platform;
mod server;
mod url;
