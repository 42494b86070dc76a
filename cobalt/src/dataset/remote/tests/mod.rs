//! Tests of fetching, over HTTP on this machine; and of copies, by a source that counts how often it is asked.

mod basalt;
mod braintrust;
mod copies;
mod expected;
mod fake;
mod langfuse;
mod langsmith;
mod platform;
mod server;
mod url;
