//! Clients that send through tower services: any with `http::Request`, and those of async-openai.

use std::task::{Context, Poll};

use cobalt::recording::current_header;
use tower_layer::Layer;
use tower_service::Service;

use crate::{HeaderSource, add_header};

/// Wraps a service with [`Attributed`].
///
/// Make it the outermost layer: a layer such as `buffer` calls the service from another task, where the item is not known.
///
/// ```
/// use cobalt_clients::tower::AttributionLayer;
/// use tower::{Layer, service_fn};
///
/// let service = AttributionLayer::new().layer(service_fn(async |request: http::Request<String>| {
///     Ok::<_, std::io::Error>(http::Response::new(request.into_body()))
/// }));
/// ```
#[cfg_attr(
    feature = "async-openai",
    doc = "
With async-openai, keep its retries, which `with_http_service` would otherwise replace:

```
use async_openai::Client;
use async_openai::middleware::{ReqwestService, retry::OpenAIRetryLayer};
use cobalt_clients::tower::AttributionLayer;
use tower::ServiceBuilder;

let service = ServiceBuilder::new()
    .layer(AttributionLayer::new())
    .layer(OpenAIRetryLayer::default())
    .service(ReqwestService::new(reqwest::Client::new()));
let client = Client::new().with_http_service(service);
```"
)]
#[derive(Clone, Copy, Debug)]
pub struct AttributionLayer {
    source: HeaderSource,
}

impl AttributionLayer {
    /// Takes the header from Cobalt.
    ///
    /// ```
    /// let layer = cobalt_clients::tower::AttributionLayer::new();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self::with_source(current_header)
    }

    /// Takes the header from `source`.
    ///
    /// ```
    /// # use cobalt_clients::tower::AttributionLayer;
    /// let layer = AttributionLayer::with_source(|| Some(("x-cobalt-execution", "item-1".to_owned())));
    /// ```
    #[must_use]
    pub const fn with_source(source: HeaderSource) -> Self {
        Self { source }
    }
}

impl Default for AttributionLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for AttributionLayer {
    type Service = Attributed<S>;

    fn layer(&self, service: S) -> Self::Service {
        Attributed { service, source: self.source }
    }
}

/// Attributes each request of a service to the item whose agent calls it. Made by [`AttributionLayer`].
///
/// ```
/// use cobalt_clients::tower::{Attributed, AttributionLayer};
/// use tower::Layer;
///
/// # struct Inner;
/// let service: Attributed<Inner> = AttributionLayer::new().layer(Inner);
/// ```
#[derive(Clone, Debug)]
pub struct Attributed<S> {
    service: S,
    source: HeaderSource,
}

impl<S, R> Service<R> for Attributed<S>
where
    S: Service<R>,
    R: Request,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let request = match (self.source)() {
            Some(header) => request.with_header(header),
            None => request,
        };
        self.service.call(request)
    }
}

/// A request to which [`Attributed`] can add a header.
///
/// ```
/// fn attributable<R: cobalt_clients::tower::Request>() {}
/// attributable::<http::Request<String>>();
/// ```
pub trait Request: private::Sealed {
    #[doc(hidden)]
    fn with_header(self, header: (&'static str, String)) -> Self;
}

mod private {
    pub trait Sealed {}

    impl<B> Sealed for http::Request<B> {}

    #[cfg(feature = "async-openai")]
    impl Sealed for async_openai::middleware::HttpRequestFactory {}
}

impl<B> Request for http::Request<B> {
    fn with_header(mut self, header: (&'static str, String)) -> Self {
        add_header(self.headers_mut(), Some(header));
        self
    }
}

/// Each attempt builds a request of its own; all have the header of the call.
#[cfg(feature = "async-openai")]
impl Request for async_openai::middleware::HttpRequestFactory {
    fn with_header(self, header: (&'static str, String)) -> Self {
        Self::new(move || {
            let (factory, header) = (self.clone(), header.clone());
            async move {
                let mut request = factory.build().await?;
                add_header(request.headers_mut(), Some(header));
                Ok(request)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt, service_fn};

    use super::*;

    fn layer() -> AttributionLayer {
        AttributionLayer::with_source(|| Some(("x-cobalt-execution", "one".to_owned())))
    }

    async fn echo(request: http::Request<&'static str>) -> Result<http::Request<&'static str>, Infallible> {
        Ok(request)
    }

    #[tokio::test]
    async fn only_the_header_changes() {
        let request = || http::Request::put("/path").header("a", "b").body("text").unwrap();
        let sent = layer().layer(service_fn(echo)).oneshot(request()).await.unwrap();
        assert_eq!((sent.method().as_str(), sent.uri().path(), *sent.body()), ("PUT", "/path", "text"));
        assert_eq!((sent.headers().len(), &sent.headers()["a"]), (2, &"b".parse().unwrap()));
        assert_eq!(sent.headers()["x-cobalt-execution"], "one");

        let sent = AttributionLayer::new().layer(service_fn(echo)).oneshot(request()).await.unwrap();
        assert_eq!(sent.headers().len(), 1);
    }

    #[cfg(feature = "async-openai")]
    #[tokio::test]
    async fn each_attempt_has_the_header() {
        use async_openai::error::OpenAIError;
        use async_openai::middleware::HttpRequestFactory;

        async fn twice(factory: HttpRequestFactory) -> Result<[reqwest::Request; 2], OpenAIError> {
            Ok([factory.build().await?, factory.build().await?])
        }
        let factory = HttpRequestFactory::new(async || {
            let url = "http://localhost/".parse().unwrap();
            Ok(reqwest::Request::new(reqwest::Method::GET, url))
        });
        let requests = layer().layer(service_fn(twice)).oneshot(factory).await.unwrap();
        for request in requests {
            assert_eq!(request.headers()["x-cobalt-execution"], "one");
        }
    }
}
