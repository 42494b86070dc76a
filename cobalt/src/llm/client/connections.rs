//! The connections of the process: those to this machine, and those that leave it.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{StatusCode, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::transport::cause;

/// How often a redirect within the host is followed.
const MOST_REDIRECTS: usize = 5;

/// The connections of the process, each kind set up when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// To servers of this machine, which no proxy of the environment can reach.
    near: OnceLock<Result<reqwest::Client, String>>,
    /// To all others, with the certificates that the system trusts, which takes a moment to read.
    far: OnceLock<Result<reqwest::Client, String>>,
}

impl Connections {
    /// Those for an address.
    pub(super) fn to(&self, url: &str) -> Result<&reqwest::Client, String> {
        let connections = match is_near(url) {
            true => self.near.get_or_init(near),
            false => self.far.get_or_init(far),
        };
        connections.as_ref().map_err(Clone::clone)
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

fn near() -> Result<reqwest::Client, String> {
    client(
        reqwest::Client::builder().no_proxy(),
        |tls| Ok(tls.with_root_certificates(RootCertStore::empty())),
    )
}

fn far() -> Result<reqwest::Client, String> {
    client(reqwest::Client::builder(), BuilderVerifierExt::with_platform_verifier)
}

type Tls<State> = rustls::ConfigBuilder<ClientConfig, State>;

/// The provider of TLS is our own: the process may have another one, or none.
fn client(
    builder: reqwest::ClientBuilder,
    trust: impl FnOnce(Tls<rustls::WantsVerifier>) -> Result<Tls<rustls::client::WantsClientCert>, rustls::Error>,
) -> Result<reqwest::Client, String> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(trust)
        .map_err(|error| format!("TLS cannot be set up: {error}"))?
        .with_no_client_auth();
    builder
        .tls_backend_preconfigured(tls)
        .redirect(Policy::custom(redirect))
        .user_agent(concat!("cobalt/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("no HTTP client can be set up: {}", cause(&error)))
}

/// Follows a redirect that keeps the request as it is and stays with its host: a key goes to no other.
fn redirect(attempt: Attempt<'_>) -> Action {
    let keeps = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let stays = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps && stays && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
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

    #[test]
    fn connections_that_leave_the_machine_can_be_set_up() {
        assert!(Connections::default().to("https://vendor.test/v1").is_ok());
    }
}
