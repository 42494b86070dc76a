//! The connections of the process: local ones and remote ones.

use std::error::Error;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cobalt_core::prices::is_local_server;
use reqwest::ClientBuilder;
use reqwest::redirect::Policy;
use tokio::runtime::{Handle, Id};

use super::tls::{self, Tls};

/// The connect timeout, including name resolution and TLS.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The user agent of Cobalt's own requests.
const USER_AGENT: &str = concat!("cobalt/", env!("CARGO_PKG_VERSION"));
/// The maximum number of runtimes with open connections; most processes have one.
const MAX_RUNTIMES: usize = 8;

/// The connections of the process; each kind is set up on first use.
#[derive(Debug, Default)]
pub struct Connections {
    /// Whether requests without a user agent keep none.
    is_transparent: bool,
    /// To servers on this machine, without the proxy from the environment.
    local: ClientPool,
    /// To all other servers, with the system's trusted certificates, which take a moment to load.
    remote: ClientPool,
}

/// Connections of one kind.
#[derive(Debug, Default)]
struct ClientPool {
    tls: OnceLock<Result<Tls, String>>,
    /// The clients of each runtime, latest last. A connection is driven by the runtime that opened it; if that runtime is not
    /// running, another one would wait forever.
    clients: Mutex<Vec<(Id, reqwest::Client)>>,
}

/// Which certificates are trusted.
#[derive(Clone, Copy, Debug)]
pub enum Trust {
    /// None, for connections without TLS.
    Nobody,
    /// The system's trusted certificates.
    System,
}

impl Connections {
    /// For requests of other clients, which add no user agent.
    #[cfg(feature = "record")]
    pub fn transparent() -> Self {
        Self { is_transparent: true, ..Self::default() }
    }

    /// The client for a URL, in the current runtime.
    pub fn client_for(&self, url: &str) -> Result<reqwest::Client, String> {
        let named = |builder: ClientBuilder| {
            if self.is_transparent { builder } else { builder.user_agent(USER_AGENT) }
        };
        if is_local(url) {
            return self.local.client(Trust::Nobody, |builder| named(builder).no_proxy());
        }
        match tls::unavailable_for(url) {
            Some(missing) => Err(missing),
            None => self.remote.client(Trust::System, named),
        }
    }
}

impl ClientPool {
    fn client(
        &self,
        trust: Trust,
        settings: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<reqwest::Client, String> {
        let runtime = Handle::current().id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(other, _)| *other == runtime) {
            return Ok(client.clone());
        }
        let tls = self.tls.get_or_init(|| Tls::new(trust)).clone()?;
        let client = client(settings(reqwest::Client::builder()), tls)?;
        if clients.len() == MAX_RUNTIMES {
            clients.remove(0);
        }
        clients.push((runtime, client.clone()));
        Ok(client)
    }
}

/// Whether a URL is on this machine and needs no TLS.
fn is_local(url: &str) -> bool {
    url.starts_with("http://") && is_local_server(url)
}

/// A client that behaves the same regardless of the features of reqwest that the user's crate enables.
fn client(builder: ClientBuilder, tls: Tls) -> Result<reqwest::Client, String> {
    tls.add_to(builder)
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .redirect(Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
        .map_err(|error| format!("cannot set up an HTTP client: {}", root_cause(&error)))
}

/// The root cause of an error, which is the most specific.
pub fn root_cause(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// An error and its sources.
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_this_machine_are_near() {
        for url in [
            "http://127.0.0.1:8080/v1",
            "http://localhost:11434/v1",
            "http://[::1]/v1",
            "http://llm.localhost",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "http://10.0.0.1/v1",
            "https://localhost/v1",
            "http://localhost.test/v1",
            "http://vllm:8000/v1",
            "?",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[tokio::test]
    async fn connections_that_leave_the_machine_can_be_set_up_where_there_is_tls() {
        let connections = Connections::default();
        assert!(connections.client_for("http://vendor.test/v1").is_ok());
        let encrypted = connections.client_for("https://vendor.test/v1");
        if cfg!(any(feature = "aws-lc-rs", feature = "ring")) {
            assert!(encrypted.is_ok());
        } else {
            assert!(encrypted.unwrap_err().contains("enable the feature `aws-lc-rs`"));
        }
    }
}
