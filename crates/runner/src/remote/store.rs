//! The objects of a remote store, with blocking calls.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cobalt::command::config::Config;
use cobalt::command::log;
use cobalt_core::atomic_write::create_private;
use cobalt_core::hash::hex;
use cobalt_core::store::Layout;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};
use tokio_stream::StreamExt;

use super::error::{Access, Problem, RemoteError, is_transient};
use super::layout;
use super::local_index::RemoteIndex;
use super::location::{Location, Platform};
use crate::sized_cache::lock;
use crate::terminal::eprint_wrapped;

/// How long a failed call is repeated. The requests of a call are repeated before, see [`super::location::RETRY_TIMEOUT`].
const REPEAT_FOR: Duration = Duration::from_secs(15);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Larger objects are sent in parts.
const LARGEST_SINGLE_PUT: usize = 16 << 20;
/// The size of a part when an object is sent.
const PART: usize = 8 << 20;
/// How long a claim has to stay unchanged where a store may have ignored the condition.
const CLAIM_SETTLES: Duration = Duration::from_secs(1);

/// An object, by its name below the prefix of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteObject {
    pub name: String,
    pub bytes: u64,
    /// When it was written, according to the store's clock.
    pub modified: std::time::SystemTime,
}

/// A remote store. Its calls block, may be made from several threads, and repeat what fails for a short time.
#[derive(Debug)]
pub struct Remote {
    location: Location,
    /// The folders of the runs that this process fetched, and when.
    pub(super) fetched: Mutex<HashMap<PathBuf, Instant>>,
    /// Warnings that were printed: a server reads the index again and again.
    warnings: Mutex<HashSet<String>>,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// The content of the object that says that the prefix is a store.
#[derive(Serialize, Deserialize)]
struct StoreFormat {
    format: u64,
}

impl Remote {
    /// Opens the remote store of the settings. Sends no request.
    ///
    /// # Errors
    ///
    /// No remote is configured, or its settings are invalid.
    pub fn open(settings: &Config) -> Result<Self, RemoteError> {
        Self::at(Location::open(settings.remote())?)
    }

    pub fn at(location: Location) -> Result<Self, RemoteError> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = Some(runtime.map_err(RemoteError::Runtime)?);
        Ok(Self { location, fetched: Mutex::default(), warnings: Mutex::default(), runtime })
    }

    /// Prints a warning once.
    pub fn warn(&self, warning: String) {
        if lock(&self.warnings).insert(warning.clone()) {
            eprint_wrapped(&format!("warning: {warning}"));
        }
    }

    /// The URL of the settings, or the path of the folder.
    pub fn url(&self) -> &str {
        &self.location.url
    }

    /// Checks that this version reads the store's format. A store that is still empty fits. This is also the first request to a
    /// store, whose errors say the most.
    pub fn check_format(&self) -> Result<bool, RemoteError> {
        let object = layout::FORMAT;
        let Some(bytes) = self.get(object)? else { return Ok(false) };
        let format: StoreFormat =
            serde_json::from_slice(&bytes).map_err(|error| self.damaged(object, &error.to_string()))?;
        match format.format == u64::from(layout::FORMAT_VERSION) {
            true => Ok(true),
            false => Err(RemoteError::Format {
                url: self.url().to_owned(),
                found: format.format,
                known: layout::FORMAT_VERSION,
            }),
        }
    }

    /// Makes the prefix a store, if it is none yet, before something is written.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written, or it had runs and is empty now.
    pub fn prepare(&self, layout: &Layout) -> Result<(), RemoteError> {
        self.location.create_folder()?;
        if !self.check_format()? {
            // A drive that is not mounted must not become a second store.
            self.check_not_lost(&self.local_index(layout)?)?;
            let format = format!("{{ \"format\": {} }}\n", layout::FORMAT_VERSION);
            self.create(layout::FORMAT, format)?;
        }
        Ok(())
    }

    /// The local copy of the index, as of the last sync.
    pub fn local_index(&self, layout: &Layout) -> Result<RemoteIndex, RemoteError> {
        RemoteIndex::open(layout, self.identity())
    }

    /// Identifies the store on this machine: the same URL may name another one at another endpoint or in another account.
    pub fn identity(&self) -> &str {
        &self.location.identity
    }

    /// Refuses a store without a format, if this machine has seen its runs.
    pub fn check_not_lost(&self, index: &RemoteIndex) -> Result<(), RemoteError> {
        match index.names()?.is_empty() {
            true => Ok(()),
            false => Err(RemoteError::Lost { url: self.url().to_owned(), copy: index.place() }),
        }
    }

    /// Writes a small object, and replaces one of this name.
    pub fn put(&self, name: &str, content: impl Into<Bytes>) -> Result<(), RemoteError> {
        let content = content.into();
        self.call(Access::Write, name, || async {
            self.store().put(&self.path(name)?, PutPayload::from_bytes(content.clone())).await
        })
        .map(drop)
    }

    /// Writes a small object unless there is one of this name; returns whether it was written. A store that does not support
    /// conditions may overwrite it: use names for which that does no harm, or [`claim`](Self::claim).
    pub fn create(&self, name: &str, content: impl Into<Bytes>) -> Result<bool, RemoteError> {
        let content = content.into();
        let written = self.call(Access::Write, name, || async {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            let (path, payload) = (self.path(name)?, PutPayload::from_bytes(content.clone()));
            let written = self.store().put_opts(&path, payload.clone(), options).await;
            match written {
                Err(error) if self.ignores_conditions(&error) => match self.store().head(&path).await {
                    Ok(_) => Ok(false),
                    Err(_) => self.store().put(&path, payload).await.map(|_| true),
                },
                written => written.map(|_| true),
            }
        });
        match written {
            Err(error) if error.problem() == Some(Problem::Exists) => Ok(false),
            written => written,
        }
    }

    /// Whether a conditional write may have failed only because of the condition. That of a folder is a hard link, which SMB, exFAT and
    /// FUSE may refuse with any error.
    fn ignores_conditions(&self, error: &object_store::Error) -> bool {
        use object_store::Error::{AlreadyExists, NotImplemented, NotSupported, Precondition};
        match error {
            NotImplemented { .. } | NotSupported { .. } => true,
            AlreadyExists { .. } | Precondition { .. } => false,
            _ => self.location.platform == Platform::Folder,
        }
    }

    /// Writes an object that only one of several writers may have written: `token` must be unique. Returns whether this writer is the
    /// one. Waits a moment and reads it back, for stores that do not support conditions.
    pub fn claim(&self, name: &str, token: &str) -> Result<bool, RemoteError> {
        if self.get(name)?.is_none() {
            self.create(name, token.to_owned())?;
            thread::sleep(CLAIM_SETTLES);
        }
        Ok(self.get(name)?.is_some_and(|content| content == token.as_bytes()))
    }

    /// Reads a small object; `None` if there is none of this name.
    pub fn get(&self, name: &str) -> Result<Option<Bytes>, RemoteError> {
        let read = self.call(Access::Read, name, || async {
            let found = self.store().get(&self.path(name)?).await?;
            let size = found.meta.size;
            Ok(if size > layout::largest(name) { Err(size) } else { Ok(found.bytes().await?) })
        });
        match read {
            Ok(Ok(content)) => Ok(Some(content)),
            Ok(Err(size)) => Err(self.damaged(name, &format!("it has {size} bytes"))),
            Err(error) if error.problem() == Some(Problem::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The objects below a folder, sorted by name.
    pub fn list(&self, folder: &str) -> Result<Vec<RemoteObject>, RemoteError> {
        let mut objects = self.call(Access::List, folder, || async {
            let mut listed = self.store().list(Some(&self.path(folder)?));
            let mut objects = Vec::new();
            while let Some(object) = listed.next().await {
                let object = object?;
                if let Some(name) = self.name(&object.location) {
                    objects.push(RemoteObject {
                        name,
                        bytes: object.size,
                        modified: object.last_modified.into(),
                    });
                }
            }
            Ok(objects)
        })?;
        objects.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(objects)
    }

    /// Deletes an object; there may be none of this name.
    pub fn delete(&self, name: &str) -> Result<(), RemoteError> {
        let deleted =
            self.call(Access::Delete, name, || async { self.store().delete(&self.path(name)?).await });
        match deleted {
            Err(error) if error.problem() == Some(Problem::Missing) => Ok(()),
            outcome => outcome,
        }
    }

    /// Whether there is an object of this name and size.
    pub fn has(&self, name: &str, bytes: u64) -> Result<bool, RemoteError> {
        let found = self.call(Access::Read, name, || async { self.store().head(&self.path(name)?).await });
        match found {
            Ok(found) => Ok(found.size == bytes),
            Err(error) if error.problem() == Some(Problem::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes an object of any size: what is not sent to its end is not visible.
    pub fn upload(&self, name: &str, content: Bytes) -> Result<(), RemoteError> {
        if content.len() <= LARGEST_SINGLE_PUT {
            return self.put(name, content);
        }
        self.call(Access::Write, name, || self.send_parts(name, std::io::Cursor::new(content.clone())))
    }

    /// Writes a file as an object, without reading it into memory.
    pub fn upload_file(&self, name: &str, file: &FilePath) -> Result<(), RemoteError> {
        self.call(Access::Write, name, || async {
            let opened = tokio::fs::File::open(file)
                .await
                .map_err(|source| object_store::Error::Generic { store: "file", source: source.into() })?;
            self.send_parts(name, opened).await
        })
    }

    async fn send_parts(
        &self,
        name: &str,
        mut from: impl tokio::io::AsyncRead + Unpin,
    ) -> object_store::Result<()> {
        let mut writer = BufWriter::with_capacity(self.location.store.clone(), self.path(name)?, PART);
        let failed =
            |source: std::io::Error| object_store::Error::Generic { store: "upload", source: source.into() };
        let sent = match tokio::io::copy(&mut from, &mut writer).await {
            Ok(_) => writer.shutdown().await,
            Err(error) => Err(error),
        };
        if sent.is_err() {
            // Nothing is visible either way; the store discards the parts.
            let _ = writer.abort().await;
        }
        sent.map_err(failed)
    }

    /// Writes an object to a file as it arrives. Returns the SHA-256 and the size of what was written: nothing, if the object does not
    /// have the expected size.
    pub fn download(
        &self,
        name: &str,
        file: &FilePath,
        expected: Option<u64>,
    ) -> Result<(String, u64), RemoteError> {
        self.call(Access::Read, name, || async {
            let failed = |source: std::io::Error| object_store::Error::Generic {
                store: "file",
                source: source.into(),
            };
            let mut to = create_private(file).map_err(failed)?;
            let found = self.store().get(&self.path(name)?).await?;
            let (mut hash, mut bytes) = (Sha256::new(), 0);
            if expected.is_some_and(|expected| found.meta.size != expected) {
                return Ok((hex(&hash.finalize()), bytes));
            }
            let mut parts = found.into_stream();
            while let Some(part) = parts.next().await {
                let part = part?;
                hash.update(&part);
                bytes += part.len() as u64;
                to.write_all(&part).map_err(failed)?;
            }
            to.sync_all().map_err(failed)?;
            Ok((hex(&hash.finalize()), bytes))
        })
    }

    fn store(&self) -> &dyn ObjectStore {
        &*self.location.store
    }

    /// The path of an object in the bucket. Names are stored unchanged, not percent-encoded.
    fn path(&self, name: &str) -> object_store::Result<Path> {
        let prefix = self.location.prefix.as_ref();
        Ok(match prefix {
            "" => Path::parse(name)?,
            _ => Path::parse(format!("{prefix}/{name}"))?,
        })
    }

    /// The name of an object in the bucket, below the prefix.
    fn name(&self, path: &Path) -> Option<String> {
        let prefix = self.location.prefix.as_ref();
        let rest = path.as_ref().strip_prefix(prefix)?;
        Some(rest.trim_start_matches('/').to_owned())
    }

    /// Makes a call, and repeats it if the connection fails: requests that are not idempotent are not repeated by the client, and ours
    /// may all be.
    fn call<T, F: Future<Output = object_store::Result<T>>>(
        &self,
        access: Access,
        object: &str,
        request: impl Fn() -> F,
    ) -> Result<T, RemoteError> {
        let runtime = self.runtime.as_ref().expect("only `drop` takes the runtime");
        let (start, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            log::trace!(object = object, "calls the remote store");
            match runtime.block_on(request()) {
                Ok(answer) => return Ok(answer),
                Err(error) if is_transient(&error) && start.elapsed() + pause < REPEAT_FOR => {
                    log::debug!(
                        object = object,
                        pause = format_args!("{pause:?}"),
                        "repeats the call of the remote store"
                    );
                    thread::sleep(pause);
                    pause *= 2;
                }
                Err(error) => return Err(RemoteError::request(&self.location, access, object, &error)),
            }
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // A runtime may not be dropped where async code runs.
        self.runtime.take().map(Runtime::shutdown_background).unwrap_or_default();
    }
}
