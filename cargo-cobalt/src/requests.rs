//! Requests to servers, as this program makes all of them.

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

/// What a client begins with: it follows no redirect, and says who asks.
pub fn client() -> ClientBuilder {
    let name = concat!("cobalt/", env!("CARGO_PKG_VERSION"));
    Client::builder().redirect(Policy::none()).user_agent(name)
}
