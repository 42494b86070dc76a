//! Fetches the files of a run, and checks that they are what their index object says.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use cobalt_core::atomic_write::write_atomically;
use cobalt_core::hash::sha256;
use cobalt_core::store::{items_file, new_run_id};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::entry::{RemoteEntry, RemoteFile};
use super::error::{Problem, RemoteError};
use super::store::Remote;

/// The maximum size of a decompressed object in bytes, apart from [`MAX_RATIO`].
const LARGEST_CONTENT: u64 = 4 << 30;
/// A small object may be up to this size decompressed, in bytes.
const USUAL_CONTENT: u64 = 64 << 20;
/// How many times larger than itself the content of a larger object may be.
const MAX_RATIO: u64 = 1000;

/// The maximum size of the content of an object of this size, both in bytes.
fn largest_content(stored: usize) -> u64 {
    USUAL_CONTENT.saturating_add((stored as u64).saturating_mul(MAX_RATIO))
}

/// Compresses the content of an object, unless its size would exceed the limit for the compressed object.
pub fn compress(content: &[u8]) -> Vec<u8> {
    let compressed = compress_to_vec(content, CompressionLevel::Fastest);
    if content.len() as u64 > largest_content(compressed.len()) {
        return compress_to_vec(content, CompressionLevel::Uncompressed);
    }
    compressed
}

/// The name of a file that is not complete yet: one that `clean` knows for a draft.
fn draft_name() -> String {
    format!(".{}.tmp", new_run_id())
}

impl Remote {
    /// Fetches the files of a run into a folder, atomically. Returns the path of its result file.
    pub fn fetch_into(&self, entry: &RemoteEntry, folder: &Path) -> Result<PathBuf, RemoteError> {
        let path = folder.join(&entry.run.file);
        let failed = |source| RemoteError::File { action: "write", path: path.clone(), source };
        if let (Some(object), Some(items)) = (entry.items_object(), &entry.items) {
            let fetched = self.fetch_items(&object, items, &items_file(&path));
            fetched.map_err(|error| match error.problem() {
                Some(Problem::Missing) => self.missing(entry, &object),
                _ => error,
            })?;
        }
        let object = entry.result_object();
        let bytes = self.get(&object)?.ok_or_else(|| self.missing(entry, &object))?;
        let (bytes, _) = self.decompressed_by_name(&object, &bytes, &entry.result.hash)?;
        let draft = folder.join(draft_name());
        write_atomically(&path, &draft, |file| file.write_all(&bytes)).map_err(failed)?;
        Ok(path)
    }

    /// The error of a run of which an object is missing: the run was deleted, or the whole store is not there.
    fn missing(&self, entry: &RemoteEntry, object: &str) -> RemoteError {
        let url = self.url().to_owned();
        match self.check_format() {
            Ok(true) => RemoteError::Gone { url, run: entry.run.id.clone(), object: object.to_owned() },
            Ok(false) => RemoteError::NoStore { url },
            Err(error) => error,
        }
    }

    fn fetch_items(&self, object: &str, items: &RemoteFile, path: &Path) -> Result<(), RemoteError> {
        let failed = |source| RemoteError::File { action: "write", path: path.to_owned(), source };
        let draft = path.with_file_name(draft_name());
        let fetched = self.download(object, &draft, Some(items.bytes));
        let renamed = match &fetched {
            Ok((hash, bytes)) if *hash == items.hash && *bytes == items.bytes => {
                fs::rename(&draft, path).map_err(failed)
            }
            Ok(_) => Err(self.damaged(object, "its content does not match its index object")),
            Err(_) => Ok(()),
        };
        let _ = fs::remove_file(&draft);
        fetched.and(renamed)
    }

    /// The content of a compressed object and its hash, which must begin as its name says.
    pub fn decompressed_by_name(
        &self,
        object: &str,
        bytes: &[u8],
        beginning: &str,
    ) -> Result<(Vec<u8>, String), RemoteError> {
        let content = self.decompress(object, bytes, LARGEST_CONTENT)?;
        let hash = sha256(&content);
        match hash.starts_with(beginning) {
            true => Ok((content, hash)),
            false => Err(self.damaged(object, "its content does not match its name")),
        }
    }

    /// Decompresses an object to at most this many bytes: a small object may claim to be endless.
    pub fn decompress(&self, object: &str, bytes: &[u8], most: u64) -> Result<Vec<u8>, RemoteError> {
        let damaged = |problem: String| self.damaged(object, &problem);
        let most = most.min(largest_content(bytes.len()));
        let mut content = Vec::new();
        let decoder = StreamingDecoder::new(bytes).map_err(|error| damaged(error.to_string()))?;
        let read = decoder.take(most.saturating_add(1)).read_to_end(&mut content);
        read.map_err(|error| damaged(error.to_string()))?;
        if content.len() as u64 > most {
            return Err(damaged(format!("its content has more than {most} bytes")));
        }
        Ok(content)
    }

    pub fn damaged(&self, object: &str, problem: &str) -> RemoteError {
        RemoteError::Damaged {
            url: self.url().to_owned(),
            object: object.to_owned(),
            problem: problem.to_owned(),
        }
    }
}
