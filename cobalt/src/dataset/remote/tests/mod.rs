//! Tests of fetching, over HTTP on this machine; and of copies, by a source that counts how often it is asked.

mod braintrust;
mod copies;
mod langfuse;
mod langsmith;
mod platform;
mod server;
mod url;
