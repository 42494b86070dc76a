//! Downloads: an answer of any length, in a file for as long as it is read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use reqwest::Url;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::error::FetchError;
use super::session::{Request, Session};
use crate::http::{AttemptError, Redirects};
use crate::store::{DOWNLOAD, Layout, new_run_id};

/// An answer in a file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) path: TemporaryFile,
    /// Where it is from, after redirects.
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}

/// A file that is removed when this is dropped. The crate `tempfile` would build `bitflags` with a further feature, and with it
/// the HTTP stack of users' crates again.
#[derive(Debug)]
pub(super) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// A new file that only this user can read.
    fn create_in(folder: &Path) -> io::Result<(File, Self)> {
        let path = folder.join(format!("{DOWNLOAD}{}", new_run_id()));
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
        // If this fails, the file is removed as an abandoned one later.
        let _ = fs::remove_file(&self.0);
    }
}

impl Session<'_> {
    /// Downloads the answer to a request, wherever it redirects, to a file in the folder of the copies.
    pub(super) async fn download(&self, request: &Request) -> Result<Download, FetchError> {
        let folder = self.folder();
        let cannot = |error| {
            let folder = folder.display();
            FetchError::Problem(format!("the answer cannot be kept in {folder} while it is read: {error}"))
        };
        fs::create_dir_all(folder).map_err(cannot)?;
        remove_abandoned(folder);
        let call = request.call(Redirects::Anywhere);
        let (download, bytes) = self
            .send(&call, async |mut answer, limit| {
                self.hide_query(answer.url());
                if let Some(problem) = unusable(answer.status().as_u16(), answer.headers()) {
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
        self.count(bytes);
        Ok(download)
    }
}

/// Why an answer is not the whole file, although it is one.
fn unusable(status: u16, headers: &HeaderMap) -> Option<String> {
    // What was asked for as gzip has no such header any more.
    let encoding = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match (status, encoding.to_ascii_lowercase().as_str()) {
        // 203: a proxy has changed something on the way.
        (200 | 203, "br" | "deflate" | "compress") => {
            Some(format!("the answer is compressed by `{encoding}`, which was not asked for"))
        }
        (200 | 203, _) => None,
        (202, _) => Some("status 202: the file is not ready yet, try again later".to_owned()),
        (204 | 205, _) => Some(format!("status {status}: there is no content at this address")),
        (206, _) => Some("status 206: the answer is only a part of the file".to_owned()),
        (other, _) => Some(format!("status {other}, expected 200")),
    }
}

/// Removes what processes have left behind that were killed. Where that fails, the files stay: they are in nobody's way.
fn remove_abandoned(folder: &Path) {
    let is_abandoned = |entry: &fs::DirEntry| {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        written.is_ok_and(|at| Layout::is_abandoned_download(&entry.file_name().to_string_lossy(), at))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_abandoned) {
        let _ = fs::remove_file(entry.path());
    }
}
