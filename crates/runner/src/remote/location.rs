//! Opens the object store of a URL. Credentials come from the platforms' own variables.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use cobalt::command::config::RemoteSettings;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};
use url::Url;

use super::error::RemoteError;
use crate::http_client::install_tls_provider;

/// How long the requests of an operation are repeated.
pub const RETRY_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RETRIES: usize = 10;
const CONNECT_TIMEOUT: &str = "5s";
/// How long to wait for the next part of a response.
const READ_TIMEOUT: &str = "15s";
/// How long a large object may take, as long as its parts keep coming.
const LONGEST_TRANSFER: &str = "1h";

/// Who runs a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    S3,
    GoogleCloud,
    Azure,
    Folder,
}

/// An opened location.
#[derive(Debug)]
pub struct Location {
    pub store: Arc<dyn ObjectStore>,
    /// The path of the store's objects in the bucket.
    pub prefix: Path,
    pub platform: Platform,
    /// As in the settings.
    pub url: String,
    /// The bucket or container, or the folder.
    pub container: String,
    /// Identifies the store on this machine: the same URL may name another one at another endpoint or in another account.
    pub identity: String,
}

impl Location {
    /// Opens the configured remote. Sends no request.
    pub fn open(settings: &RemoteSettings) -> Result<Self, RemoteError> {
        install_tls_provider();
        let url = settings.url.as_ref().ok_or(RemoteError::NotConfigured)?.as_str();
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (container, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let opened = match scheme {
            "s3" => {
                let builder = s3(container, settings);
                let server = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
                builder.build().map(|store| (Platform::S3, Arc::new(store) as Arc<dyn ObjectStore>, server))
            }
            "gs" => {
                let (builder, server) = (google_cloud(container, settings), settings.endpoint.clone());
                builder.build().map(|store| (Platform::GoogleCloud, Arc::new(store) as _, server))
            }
            "az" => {
                let builder = azure(container, settings);
                let server = [AzureConfigKey::Endpoint, AzureConfigKey::AccountName];
                let server =
                    server.iter().filter_map(|key| builder.get_config_value(key)).collect::<Vec<_>>();
                let server = (!server.is_empty()).then(|| server.join(" "));
                builder.build().map(|store| (Platform::Azure, Arc::new(store) as _, server))
            }
            _ => return Self::folder(url),
        };
        if let Some(endpoint) = settings.endpoint.as_deref().filter(|endpoint| endpoint.starts_with("http:"))
            && !settings.allow_http
        {
            return Err(RemoteError::InsecureEndpoint { url: url.to_owned(), endpoint: endpoint.to_owned() });
        }
        let prefix = Path::parse(prefix).map_err(|error| RemoteError::invalid(url, &error))?;
        let (platform, store, server) = opened.map_err(|error| RemoteError::invalid(url, &error))?;
        let identity = server.map_or_else(|| url.to_owned(), |server| format!("{url} {server}"));
        let container = container.to_owned();
        Ok(Self { store, prefix, platform, url: url.to_owned(), container, identity })
    }

    /// Opens a folder, which may be missing: [`create_folder`](Self::create_folder) creates it before something is written.
    pub fn folder(url: &str) -> Result<Self, RemoteError> {
        let invalid =
            |problem: &str| RemoteError::Invalid { url: url.to_owned(), problem: problem.to_owned() };
        let path = match url.starts_with("file://") {
            true => Url::parse(url).ok().and_then(|url| url.to_file_path().ok()),
            false => Some(PathBuf::from(url)),
        };
        let path = path.ok_or_else(|| invalid("it is not the path of a folder"))?;
        let failed = |source| RemoteError::Folder { path: path.clone(), source };
        let path = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match (path.parent(), path.file_name()) {
                    (Some(parent), Some(name)) => parent.canonicalize().map_err(failed)?.join(name),
                    _ => return Err(failed(error)),
                }
            }
            found => found.map_err(failed)?,
        };
        // The store starts above the folder, as that of a folder has to exist.
        let (above, prefix) = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => {
                (above, name.to_str().ok_or_else(|| invalid("its name is not UTF-8"))?)
            }
            _ => (&*path, ""),
        };
        let store = LocalFileSystem::new_with_prefix(above).map_err(|error| failed(error.into()))?;
        Ok(Self {
            store: Arc::new(store.with_fsync(true)),
            prefix: Path::parse(prefix).map_err(|error| RemoteError::invalid(url, &error))?,
            platform: Platform::Folder,
            url: url.to_owned(),
            container: path.display().to_string(),
            identity: url.to_owned(),
        })
    }

    /// Creates the folder, if the store is one and only the last part of its path is missing.
    pub fn create_folder(&self) -> Result<(), RemoteError> {
        let path = PathBuf::from(&self.container);
        if self.platform != Platform::Folder || path.is_dir() {
            return Ok(());
        }
        match fs::create_dir(&path) {
            // Another process may have created it.
            Err(_) if path.is_dir() => Ok(()),
            created => created.map_err(|source| RemoteError::Folder { path, source }),
        }
    }
}

fn s3(bucket: &str, settings: &RemoteSettings) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries());
    // Objects are deleted one by one: some servers have no other request, and it is refused with a status of its own.
    builder = builder.with_disable_bulk_delete(true);
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = &settings.region {
        builder = builder.with_region(region);
    }
    for (key, value) in client_options(settings) {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    builder
}

fn google_cloud(bucket: &str, settings: &RemoteSettings) -> GoogleCloudStorageBuilder {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries());
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_base_url(endpoint);
    }
    for (key, value) in client_options(settings) {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    builder
}

fn azure(container: &str, settings: &RemoteSettings) -> MicrosoftAzureBuilder {
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retries());
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    for (key, value) in client_options(settings) {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    builder
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(3),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_TIMEOUT }
}

fn client_options(settings: &RemoteSettings) -> Vec<(ClientConfigKey, &'static str)> {
    let mut options = vec![
        (ClientConfigKey::ConnectTimeout, CONNECT_TIMEOUT),
        (ClientConfigKey::ReadTimeout, READ_TIMEOUT),
        (ClientConfigKey::Timeout, LONGEST_TRANSFER),
    ];
    if settings.allow_http {
        options.push((ClientConfigKey::AllowHttp, "true"));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_url_at_another_endpoint_is_another_store() {
        let identity = |endpoint: &str| {
            let mut settings = RemoteSettings::default();
            settings.url = "s3://team/evals".parse().ok();
            settings.endpoint = Some(endpoint.to_owned());
            Location::open(&settings).unwrap().identity
        };
        assert_ne!(identity("https://one.test"), identity("https://other.test"));
        assert_eq!(identity("https://one.test"), identity("https://one.test"));
    }
}
