//! The connections of the process: those to this machine, and those that leave it.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::{Handle, Id};

use super::attempt::cause;

/// How long it may take to be connected, name and TLS included.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// For how many runtimes connections are kept; most processes have one.
const MOST_RUNTIMES: usize = 8;

/// The connections of the process, each kind set up when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// To servers of this machine, which no proxy of the environment can reach.
    near: Kind,
    /// To all others, with the certificates that the system trusts, which takes a moment to read.
    far: Kind,
}

/// Connections of one kind.
#[derive(Debug, Default)]
struct Kind {
    tls: OnceLock<Result<ClientConfig, String>>,
    /// Those of each runtime, the latest last. A connection goes on with the runtime that has opened it, so that another one
    /// would wait in vain where that one stands still.
    clients: Mutex<Vec<(Id, reqwest::Client)>>,
}

impl Connections {
    /// Those for an address, in the runtime that asks.
    pub(crate) fn to(&self, url: &str) -> Result<reqwest::Client, String> {
        if is_near(url) {
            let trust = |tls: Tls<_>| Ok(tls.with_root_certificates(RootCertStore::empty()));
            self.near.client(trust, reqwest::ClientBuilder::no_proxy)
        } else {
            self.far.client(BuilderVerifierExt::with_platform_verifier, |builder| builder)
        }
    }
}

impl Kind {
    fn client(
        &self,
        trust: impl FnOnce(
            Tls<rustls::WantsVerifier>,
        ) -> Result<Tls<rustls::client::WantsClientCert>, rustls::Error>,
        proxy: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<reqwest::Client, String> {
        let runtime = Handle::current().id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(other, _)| *other == runtime) {
            return Ok(client.clone());
        }
        let tls = self.tls.get_or_init(|| tls(trust)).clone()?;
        let client = client(proxy(reqwest::Client::builder()), tls)?;
        if clients.len() == MOST_RUNTIMES {
            clients.remove(0);
        }
        clients.push((runtime, client.clone()));
        Ok(client)
    }
}

/// Whether an address is one of this machine that needs no TLS.
fn is_near(url: &str) -> bool {
    let Some(url) = Url::parse(url).ok().filter(|url| url.scheme() == "http") else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

type Tls<State> = rustls::ConfigBuilder<ClientConfig, State>;

/// The provider of TLS is our own: the process may have another one, or none.
fn tls(
    trust: impl FnOnce(Tls<rustls::WantsVerifier>) -> Result<Tls<rustls::client::WantsClientCert>, rustls::Error>,
) -> Result<ClientConfig, String> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(trust)
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(tls.with_no_client_auth())
}

fn client(builder: reqwest::ClientBuilder, tls: ClientConfig) -> Result<reqwest::Client, String> {
    builder
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("cobalt/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("no HTTP client can be set up: {}", cause(&error)))
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
            assert!(is_near(url), "{url}");
        }
        for url in [
            "http://10.0.0.1/v1",
            "https://localhost/v1",
            "http://localhost.test/v1",
            "http://vllm:8000/v1",
            "?",
        ] {
            assert!(!is_near(url), "{url}");
        }
    }

    #[tokio::test]
    async fn connections_that_leave_the_machine_can_be_set_up() {
        assert!(Connections::default().to("https://vendor.test/v1").is_ok());
    }
}
