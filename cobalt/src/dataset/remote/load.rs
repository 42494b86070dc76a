//! Loads a remote dataset: from the cached copy, or by downloading it.

use std::fs::{self, File, OpenOptions};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{fmt, io, thread};

use cobalt_core::report::Fetch;
use cobalt_core::store::{DOWNLOAD_PREFIX, Layout, new_run_id};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::escape_control;
use reqwest::Url;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use tokio::runtime::Builder;

use super::cache::{CacheEntry, CacheLookup, CachedCopy, FetchLock};
use super::fetch_options::{
    FetchError, FetchOptions, FetchedData, cached_mismatch_error, check_options, matches_expectations,
    mismatch_error,
};
use super::fetch_session::{FetchSession, Lookup, Request};
use crate::dataset::settings::FetchSettings;
use crate::dataset::{Dataset, DatasetError};
use crate::http::{AttemptError, RedirectPolicy};

/// How long a fetch, or the wait for another process, may take before a note on stderr.
const NOTE_DELAY: Duration = Duration::from_secs(1);

/// A dataset that is fetched from a URL or a platform.
///
/// Use it like any dataset, as in `dataset = Dataset::from_url("…")`. To change its items first, [`load`] it.
///
/// [`load`]: RemoteDataset::load
#[derive(Clone, Debug)]
#[must_use = "a dataset is only fetched when it is loaded or passed to an experiment"]
pub struct RemoteDataset<S> {
    pub(super) source: S,
    pub(super) terms: FetchOptions,
}

impl<S: Source> RemoteDataset<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, terms: FetchOptions::default() }
    }

    /// How long the server may be silent, before and within its response; default 60 s. There is no limit on the whole
    /// response.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = timeout;
        self
    }

    /// How often a request is retried after a transient failure; default 4. After a timeout there is at most one retry.
    pub fn retries(mut self, retries: u32) -> Self {
        self.terms.retries = retries;
        self
    }

    /// The maximum size of the dataset in bytes, after decompression; default 1 GiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.terms.max_bytes = bytes;
        self
    }

    /// The age at which the cached copy is fetched again. By default, a copy is used until `--refresh`.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.terms.max_age = Some(age);
        self
    }

    /// The expected number of items; any other number is an error.
    pub fn expect_items(mut self, items: usize) -> Self {
        self.terms.items = Some(items);
        self
    }

    /// The expected [hash](Dataset::hash) of the items, or a prefix of at least 8 digits. Any other hash is an error.
    pub fn expect_hash(mut self, hash: impl Into<String>) -> Self {
        self.terms.hash = Some(hash.into());
        self
    }

    /// Loads the items with these settings: from the cached copy, or by fetching.
    pub(crate) fn load_with(
        self,
        settings: &FetchSettings,
        variable: Lookup<'_>,
    ) -> Result<Dataset, DatasetError> {
        load(&self.source, &self.terms, settings, variable)
    }
}

/// Where a dataset is fetched from. It defines the requests; the caller decides whether to fetch or to use a cached copy.
pub trait Source: fmt::Debug + Send + Sync {
    /// The name for display: `langfuse:support`, or a URL without its query.
    fn label(&self) -> String;

    /// Identifies the requested data, without secrets: each identity has its own cached copy.
    fn identity(&self, session: &FetchSession<'_>) -> Vec<String>;

    /// Fetches the whole dataset.
    fn fetch(&self, session: &FetchSession<'_>) -> impl Future<Output = Result<FetchedData, FetchError>>;
}

/// Loads the items of a source with these options.
pub fn load(
    source: &impl Source,
    terms: &FetchOptions,
    settings: &FetchSettings,
    variable: Lookup<'_>,
) -> Result<Dataset, DatasetError> {
    let session = FetchSession::new(terms, settings, variable);
    let label = source.label();
    check_options(&label, terms)?;
    let kept = CacheEntry::new(&settings.folder, &label, &source.identity(&session));
    if settings.offline {
        return load_offline(&kept, label, terms);
    }
    let is_usable =
        |copy: &CachedCopy| is_fresh(copy, terms, settings) && matches_expectations(&copy.dataset, terms);
    if let Some(copy) = kept.read()?.copy().filter(is_usable) {
        return Ok(copy.dataset);
    }
    let waits =
        || eprintln!("fetching {}: waiting for another process that is fetching it…", escape_control(&label));
    let lock = run_with_late_note(waits, || kept.lock())?;
    // Another process may have fetched it while this one waited.
    match kept.read()?.copy() {
        Some(copy) if is_usable(&copy) => Ok(copy.dataset),
        copy => fetch_and_cache(source, &session, terms, &kept, &lock, copy),
    }
}

/// The items of the cached copy, of any age.
fn load_offline(kept: &CacheEntry, dataset: String, terms: &FetchOptions) -> Result<Dataset, DatasetError> {
    match kept.read()? {
        CacheLookup::Valid(copy) if matches_expectations(&copy.dataset, terms) => Ok(copy.dataset),
        CacheLookup::Valid(copy) => Err(cached_mismatch_error(&copy, terms)),
        CacheLookup::Missing => Err(DatasetError::NotCached { dataset }),
        CacheLookup::Corrupt(problem) => {
            let file = kept.path.display().to_string();
            Err(DatasetError::CorruptCache { dataset, problem, file })
        }
    }
}

/// Whether a copy need not be fetched again.
fn is_fresh(copy: &CachedCopy, terms: &FetchOptions, settings: &FetchSettings) -> bool {
    // A time in the future is ignored, for example after a clock was set back.
    let now = Timestamp::now();
    let is_young = |most| now.time().duration_since(copy.at.time()).is_ok_and(|age| age <= most);
    let is_old = !settings.is_resumed && !terms.max_age.is_none_or(is_young);
    // With the precision of the copy's time.
    let is_refreshed = |since| copy.at >= Timestamp::from(since) && copy.at <= now;
    !is_old && settings.refresh.is_none_or(is_refreshed)
}

/// Fetches the dataset, and caches it if it matches the expectations.
fn fetch_and_cache(
    source: &impl Source,
    session: &FetchSession<'_>,
    terms: &FetchOptions,
    kept: &CacheEntry,
    lock: &FetchLock,
    copy: Option<CachedCopy>,
) -> Result<Dataset, DatasetError> {
    let usable = copy.as_ref().filter(|copy| matches_expectations(&copy.dataset, terms));
    let failed = |error: FetchError| DatasetError::Fetch {
        dataset: source.label(),
        problem: error.to_string(),
        copy: usable.map(CachedCopy::to_string).unwrap_or_default(),
    };
    // Changes made during the fetch may be missing.
    let at = Timestamp::now();
    let FetchedData { items, version } = fetch(source, session).map_err(failed)?;
    if items.is_empty() {
        return Err(DatasetError::empty(&source.label(), "the source has no items"));
    }
    let fetch = Fetch { at, version };
    let dataset = Dataset::from_fetch(&source.label(), items, fetch.clone());
    if !matches_expectations(&dataset, terms) {
        return Err(mismatch_error(&dataset, terms, copy.as_ref()));
    }
    kept.write(&dataset, &fetch, lock)?;
    Ok(dataset)
}

/// Fetches on another thread, as the current one may belong to a runtime.
fn fetch(source: &impl Source, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
    let run = || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| FetchError::problem(format!("cannot start a runtime: {error}")))?;
        runtime.block_on(source.fetch(session))
    };
    run_with_late_note(|| eprintln!("fetching {}…", escape_control(&source.label())), run)
}

/// Runs a function on a thread of its own, and calls `tell` if it takes long.
fn run_with_late_note<T: Send>(tell: impl FnOnce(), run: impl FnOnce() -> T + Send) -> T {
    // Dropped when the thread ends.
    let (running, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let _running = running;
            run()
        });
        if ended.recv_timeout(NOTE_DELAY) == Err(RecvTimeoutError::Timeout) {
            tell();
        }
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A downloaded response in a temporary file, which is removed on drop.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) path: TemporaryFile,
    /// The URL after redirects.
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}

/// A file that is removed on drop. The crate `tempfile` would enable a further feature of `bitflags`, and thereby rebuild the
/// HTTP stack of users' crates.
#[derive(Debug)]
pub(super) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Creates a file that only this user can read.
    fn create_in(folder: &Path) -> io::Result<(File, Self)> {
        let path = folder.join(format!("{DOWNLOAD_PREFIX}{}", new_run_id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok((options.open(&path)?, Self(path)))
    }
}

impl Deref for TemporaryFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // If this fails, the file is removed later as an abandoned one.
        let _ = fs::remove_file(&self.0);
    }
}

impl FetchSession<'_> {
    /// Downloads the response to a request, following redirects to any host, to a file in the folder of cached copies.
    pub(super) async fn download(&self, request: &Request) -> Result<Download, FetchError> {
        let folder = self.folder();
        let cannot = |error| {
            let folder = folder.display();
            FetchError::Problem(format!("cannot save the response in {folder}: {error}"))
        };
        fs::create_dir_all(folder).map_err(cannot)?;
        remove_abandoned(folder);
        let call = request.to_call(RedirectPolicy::AnyOrigin);
        let (download, bytes) = self
            .send(&call, async |mut answer, limit| {
                self.register_query(answer.url());
                if let Some(problem) = incomplete_response(answer.status().as_u16(), answer.headers()) {
                    return Err(AttemptError::broken(problem));
                }
                let file = TemporaryFile::create_in(folder);
                let (mut file, path) =
                    file.map_err(|error| AttemptError::broken(cannot(error).to_string()))?;
                let bytes = answer.read_into(&mut file, limit).await?;
                let (url, headers) = (answer.url().clone(), answer.headers().clone());
                Ok((Download { path, url, headers }, bytes))
            })
            .await?;
        self.count_bytes(bytes);
        Ok(download)
    }
}

/// Why a successful response is not the whole file.
fn incomplete_response(status: u16, headers: &HeaderMap) -> Option<String> {
    // For gzip, which was requested, the header has already been removed.
    let encoding = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match (status, encoding.to_ascii_lowercase().as_str()) {
        // 203: changed by a proxy.
        (200 | 203, "br" | "deflate" | "compress") => {
            Some(format!("the response is compressed with `{encoding}`, which was not requested"))
        }
        (200 | 203, _) => None,
        (202, _) => Some("status 202: the file is not ready yet; try again later".to_owned()),
        (204 | 205, _) => Some(format!("status {status}: there is no content at this URL")),
        (206, _) => Some("status 206: the response is only a part of the file".to_owned()),
        (other, _) => Some(format!("status {other}, expected 200")),
    }
}

/// Removes the leftovers of killed processes. If that fails, the files stay; they do no harm.
fn remove_abandoned(folder: &Path) {
    let is_abandoned = |entry: &fs::DirEntry| {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        written.is_ok_and(|at| Layout::is_abandoned_download(&entry.file_name().to_string_lossy(), at))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_abandoned) {
        let _ = fs::remove_file(entry.path());
    }
}
