//! The remote store of a team: `storage.remote`, and how to reach it. Credentials are never settings.

use std::ffi::OsString;
use std::path::Path;

use super::error::ConfigError;
use super::overrides::absolute_path;
use super::remote_url::{EndpointUrl, PushMode, PushName, RemoteUrl};
use super::resolve::{Resolver, first_set};
use super::settings::Origin;
use super::small_tables::Storage;
use super::variables::REMOTE;

/// The remote store, according to the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteSettings {
    /// The URL; `None` if no remote is configured.
    pub url: Option<RemoteUrl>,
    /// What set the URL.
    pub origin: Option<Origin>,
    /// Whether finished runs are pushed.
    pub pushes: bool,
    /// Whether runs are pushed without what their items contain.
    pub redacts: bool,
    /// The URL of a server other than the platform's own.
    pub endpoint: Option<String>,
    /// The region of the bucket.
    pub region: Option<String>,
    /// Whether an endpoint without TLS is allowed.
    pub allow_http: bool,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves the remote store. A folder starts at the workspace root; that of a flag, at the current directory.
    pub(super) fn remote(&mut self, storage: &Storage, is_ci: bool) -> Result<RemoteSettings, ConfigError> {
        let here = absolute_path(Path::new("."));
        let typed: Option<RemoteUrl> = self
            .flags
            .remote
            .as_ref()
            .map(|url| url.parse())
            .transpose()
            .map_err(|problem| ConfigError::MalformedFlag { name: "--remote", problem })?;
        let url = first_set([
            (typed.map(|url| url.below(&here)), Origin::Flag),
            (self.variables.remote()?.map(|url| url.below(&self.workspace)), Origin::variable(REMOTE)),
            (storage.remote.clone().map(|url| url.below(&self.workspace)), self.origin("storage.remote")),
        ]);
        let (url, origin) = url.unzip();
        if let (Some(url), Some(origin)) = (&url, &origin) {
            self.note("storage.remote", url, origin.clone());
        }
        self.note_written("storage.push", storage.push.as_ref());
        self.note_written("storage.push-redacted", storage.push_redacted.as_ref());
        self.note_written("storage.endpoint", storage.endpoint.as_ref());
        self.note_written("storage.region", storage.region.as_ref());
        self.note_written("storage.allow-http", storage.allow_http.as_ref());
        let pushes = match storage.push.map_or(PushMode::Never, |PushName(push)| push) {
            PushMode::Never => false,
            PushMode::Ci => is_ci,
            PushMode::Always => true,
        };
        Ok(RemoteSettings {
            url,
            origin,
            pushes: pushes || self.flags.push,
            redacts: storage.push_redacted.unwrap_or(false),
            endpoint: storage.endpoint.clone().map(|EndpointUrl(url)| url),
            region: storage.region.clone(),
            allow_http: storage.allow_http.unwrap_or(false),
        })
    }
}
