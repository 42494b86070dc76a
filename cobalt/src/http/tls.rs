//! TLS, by the provider of cryptography that the features choose: never by that of the process, which belongs to the user.

use std::error::Error;
use std::sync::Arc;

use reqwest::ClientBuilder;
#[cfg(feature = "aws-lc-rs")]
use rustls::crypto::aws_lc_rs as provider;
#[cfg(not(feature = "aws-lc-rs"))]
use rustls::crypto::ring as provider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::connections::Trust;

/// How connections are encrypted.
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
            .map_err(|error| format!("TLS cannot be set up: {error}"))?;
        Ok(Self(config.with_no_client_auth()))
    }

    pub fn add_to(self, builder: ClientBuilder) -> ClientBuilder {
        builder.tls_backend_preconfigured(self.0)
    }
}

/// Why an address cannot be reached for want of TLS.
pub fn missing_for(_: &str) -> Option<String> {
    None
}

/// Whether this is an error of TLS.
pub fn is_error(error: &(dyn Error + 'static)) -> bool {
    error.is::<rustls::Error>()
}
