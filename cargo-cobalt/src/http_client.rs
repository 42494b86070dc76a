//! HTTP client settings shared by all requests of this program.

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

/// A client builder without redirects and with a user agent.
pub fn client() -> ClientBuilder {
    let name = concat!("cobalt/", env!("CARGO_PKG_VERSION"));
    Client::builder().redirect(Policy::none()).user_agent(name)
}
