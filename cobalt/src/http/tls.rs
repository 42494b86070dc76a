//! TLS, with the crypto provider selected by the features, never the process-wide provider, which belongs to the user.

use std::error::Error;
use std::sync::Arc;

use reqwest::ClientBuilder;
#[cfg(all(feature = "aws-lc-rs", not(cobalt_ring)))]
use rustls::crypto::aws_lc_rs as provider;
#[cfg(not(all(feature = "aws-lc-rs", not(cobalt_ring))))]
use rustls::crypto::ring as provider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::connections::Trust;

/// The TLS configuration.
#[derive(Clone, Debug)]
pub struct Tls(ClientConfig);

impl Tls {
    pub fn new(trust: Trust) -> Result<Self, String> {
        let provider = Arc::new(provider::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| match trust {
                Trust::Nobody => Ok(builder.with_root_certificates(RootCertStore::empty())),
                Trust::System => builder.with_platform_verifier(),
            })
            .map_err(|error| format!("cannot set up TLS: {error}"))?;
        Ok(Self(config.with_no_client_auth()))
    }

    pub fn add_to(self, builder: ClientBuilder) -> ClientBuilder {
        builder.tls_backend_preconfigured(self.0)
    }
}

/// The error for a URL that needs TLS, if TLS is unavailable.
pub fn unavailable_for(_: &str) -> Option<String> {
    None
}

/// Whether this is a TLS error.
pub fn is_error(error: &(dyn Error + 'static)) -> bool {
    error.is::<rustls::Error>()
}
