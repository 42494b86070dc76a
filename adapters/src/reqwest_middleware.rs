//! Clients on reqwest-middleware.

use async_trait::async_trait;
use cobalt::recording::current_header;
use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::{HeaderSource, add_header};

/// Attributes each request of a client to the item whose agent sends it.
///
/// Add it first, before middleware that may send from another task.
///
/// ```
/// use cobalt_clients::reqwest_middleware::Attribution;
/// use reqwest_middleware::ClientBuilder;
///
/// let client = ClientBuilder::new(reqwest::Client::new()).with(Attribution::new()).build();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Attribution {
    source: HeaderSource,
}

impl Attribution {
    /// Takes the header from Cobalt.
    ///
    /// ```
    /// let attribution = cobalt_clients::reqwest_middleware::Attribution::new();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self::with_source(current_header)
    }

    /// Takes the header from `source`.
    ///
    /// ```
    /// # use cobalt_clients::reqwest_middleware::Attribution;
    /// let attribution = Attribution::with_source(|| Some(("x-cobalt-execution", "item-1".to_owned())));
    /// ```
    #[must_use]
    pub const fn with_source(source: HeaderSource) -> Self {
        Self { source }
    }
}

impl Default for Attribution {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Middleware for Attribution {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        add_header(request.headers_mut(), (self.source)());
        next.run(request, extensions).await
    }
}
