//! Opens the object store of a URL. Credentials come from the platforms' own variables.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cobalt::command::config::RemoteSettings;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};
use url::Url;

use super::error::RemoteError;

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
}

impl Location {
    /// Opens the configured remote. Sends no request.
    pub fn open(settings: &RemoteSettings) -> Result<Self, RemoteError> {
        let url = settings.url.as_ref().ok_or(RemoteError::NotConfigured)?.as_str();
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (container, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let (platform, store): (_, Result<Arc<dyn ObjectStore>, _>) = match scheme {
            "s3" => (Platform::S3, s3(container, settings).build().map(|store| Arc::new(store) as _)),
            "gs" => {
                let store = google_cloud(container, settings).build();
                (Platform::GoogleCloud, store.map(|store| Arc::new(store) as _))
            }
            "az" => (Platform::Azure, azure(container, settings).build().map(|store| Arc::new(store) as _)),
            _ => return Self::folder(url),
        };
        if let Some(endpoint) = settings.endpoint.as_deref().filter(|endpoint| endpoint.starts_with("http:"))
            && !settings.allow_http
        {
            return Err(RemoteError::InsecureEndpoint { url: url.to_owned(), endpoint: endpoint.to_owned() });
        }
        let container = container.to_owned();
        let prefix = Path::parse(prefix).map_err(|error| RemoteError::invalid(url, &error))?;
        let store = store.map_err(|error| RemoteError::invalid(url, &error))?;
        Ok(Self { store, prefix, platform, url: url.to_owned(), container })
    }

    /// Opens a folder. It is created if only the last part of its path is missing.
    pub fn folder(url: &str) -> Result<Self, RemoteError> {
        let path = match url.starts_with("file://") {
            true => Url::parse(url).ok().and_then(|url| url.to_file_path().ok()).ok_or_else(|| {
                RemoteError::Invalid {
                    url: url.to_owned(),
                    problem: "it is not the path of a folder".to_owned(),
                }
            })?,
            false => PathBuf::from(url),
        };
        let failed = |source| RemoteError::Folder { path: path.clone(), source };
        if !path.is_dir() {
            fs::create_dir(&path).map_err(failed)?;
        }
        let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| failed(error.into()))?;
        let container = path.display().to_string();
        let store = Arc::new(store.with_fsync(true));
        Ok(Self {
            store,
            prefix: Path::default(),
            platform: Platform::Folder,
            url: url.to_owned(),
            container,
        })
    }
}

fn s3(bucket: &str, settings: &RemoteSettings) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries());
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
