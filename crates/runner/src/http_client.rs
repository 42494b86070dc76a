//! The HTTP client of this program: its settings, and POST requests with retries.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use cobalt_core::back_off::BackOff;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};
use tokio::time::{Instant, sleep};

/// Selects the TLS provider of all clients of this process. It is installed only once.
pub fn install_tls_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client builder without redirects and with a user agent.
pub fn client() -> ClientBuilder {
    install_tls_provider();
    let name = concat!("cobalt/", env!("CARGO_PKG_VERSION"));
    Client::builder().redirect(Policy::none()).user_agent(name)
}

/// Where requests go: an HTTP URL, its headers, and how long and how often to try.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub url: Url,
    pub headers: HeaderMap,
    /// The time limit for a response.
    pub timeout: Duration,
    /// The number of retries after transient failures.
    pub retries: u32,
}

/// Why an attempt failed.
enum DeliveryError {
    /// Transient, with the wait that the server asked for.
    Transient(String, Option<Duration>),
    /// Permanent.
    Permanent(String),
}

impl Endpoint {
    /// The host and the port, if given: the part of the URL that is not secret.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// A client for its requests. Redirects are not followed: their target was never configured, and the URL can contain a secret.
    pub fn client(&self) -> Result<Client, String> {
        let builder = client().timeout(self.timeout);
        // Proxies cannot reach servers on this machine.
        let builder = if is_loopback(&self.url) { builder.no_proxy() } else { builder };
        builder.build().map_err(|error| root_cause(&error).to_string())
    }

    /// Sends a body with retries until the deadline. Returns a successful response, or why there is none, without the URL.
    pub async fn deliver(&self, client: &Client, body: &[u8], deadline: Instant) -> Result<Response, String> {
        let mut attempt = 0;
        loop {
            let (problem, asked) = match self.send(client, body).await {
                Ok(response) => return Ok(response),
                Err(DeliveryError::Permanent(problem)) => return Err(problem),
                Err(DeliveryError::Transient(problem, asked)) => (problem, asked),
            };
            let wait = BackOff::default().wait(attempt, asked);
            attempt += 1;
            if attempt > self.retries || deadline.saturating_duration_since(Instant::now()) <= wait {
                let times = if attempt == 1 { String::new() } else { format!("; tried {attempt} times") };
                return Err(format!("{problem}{times}"));
            }
            sleep(wait).await;
        }
    }

    /// Sends a body once.
    async fn send(&self, client: &Client, body: &[u8]) -> Result<Response, DeliveryError> {
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_vec());
        let response = request.send().await.map_err(|error| connection_error(&error, self.timeout))?;
        let status = response.status();
        if status.is_success() {
            Ok(response)
        } else if status.is_redirection() {
            let problem = format!("status {}: redirects are not followed", status.as_u16());
            Err(DeliveryError::Permanent(format!("{problem}; set the target URL")))
        } else if is_retryable(status) {
            Err(DeliveryError::Transient(format!("status {}", status.as_u16()), retry_after(&response)))
        } else {
            Err(DeliveryError::Permanent(format!("status {}", status.as_u16())))
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Whether a retry may succeed.
fn is_retryable(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        )
}

/// The wait in seconds that the server asked for.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Classifies a connection error: transient, except TLS errors. The message does not contain the URL.
fn connection_error(error: &reqwest::Error, timeout: Duration) -> DeliveryError {
    if error.is_timeout() {
        return DeliveryError::Transient(
            format!("no response within {}", humantime::format_duration(timeout)),
            None,
        );
    }
    let bottom = root_cause(error);
    match error.is_builder() || is_tls_error(bottom) {
        true => DeliveryError::Permanent(bottom.to_string()),
        false => DeliveryError::Transient(bottom.to_string(), None),
    }
}

/// Whether this is a TLS error, or an I/O error that wraps one.
fn is_tls_error(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_tls_error(inner))
}

/// The root cause of an error, which is the most specific and does not contain the URL.
fn root_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut bottom = error;
    while let Some(below) = bottom.source() {
        bottom = below;
    }
    bottom
}
