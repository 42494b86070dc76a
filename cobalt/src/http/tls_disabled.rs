//! The stub for programs without TLS: they can only reach `http` URLs, and report an error for all others.

use std::error::Error;

use reqwest::{ClientBuilder, Url};

use super::connections::Trust;

/// No encryption.
#[derive(Clone, Debug)]
pub(super) struct Tls;

impl Tls {
    #[expect(clippy::unnecessary_wraps, reason = "with TLS, this can fail")]
    pub(super) fn new(_: Trust) -> Result<Self, String> {
        Ok(Self)
    }

    pub(super) fn add_to(self, builder: ClientBuilder) -> ClientBuilder {
        builder
    }
}

/// The error for a URL that needs TLS.
pub(super) fn unavailable_for(url: &str) -> Option<String> {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https").then(|| {
        "`https` needs TLS, but this program is built without it; enable the feature `aws-lc-rs` or `ring` of the package \
        `cobalt`"
            .to_owned()
    })
}

/// Whether this is a TLS error.
pub(super) fn is_error(_: &(dyn Error + 'static)) -> bool {
    false
}
