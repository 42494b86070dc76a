//! A program without TLS: it reaches `http` addresses only, and says so of all others.

use std::error::Error;

use reqwest::{ClientBuilder, Url};

use super::connections::Trust;

/// Nothing is encrypted.
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

/// Why an address cannot be reached for want of TLS.
pub(super) fn missing_for(url: &str) -> Option<String> {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https").then(|| {
        "`https` needs TLS, which this program is built without; turn on the feature `aws-lc-rs` of the package `cobalt`, \
         or `ring`"
            .to_owned()
    })
}

/// Whether this is an error of TLS.
pub(super) fn is_error(_: &(dyn Error + 'static)) -> bool {
    false
}
