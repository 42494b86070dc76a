//! The journal of a run in the remote store: segments that are added as the journal grows.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use cobalt_core::atomic_write::write_atomically;
use cobalt_core::store::{Layout, new_run_id};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::layout;
use crate::remote::{Remote, RemoteError};

/// A journal on this machine, and how much of it has been sent.
#[derive(Debug)]
pub struct SentJournal {
    id: String,
    path: PathBuf,
    sent: u64,
}

impl SentJournal {
    pub fn new(id: String, layout: &Layout) -> Self {
        let path = layout.journal(&id);
        Self { id, path, sent: 0 }
    }

    /// Sends the lines that have been added. Returns whether there were any. A finished run has no journal.
    pub fn send(&mut self, remote: &Remote, group: &str) -> Result<bool, RemoteError> {
        let lines = match self.new_lines() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            lines => lines.map_err(|source| RemoteError::File {
                action: "read",
                path: self.path.clone(),
                source,
            })?,
        };
        if lines.is_empty() {
            return Ok(false);
        }
        let segment = layout::segment(group, &self.id, self.sent);
        remote.put(&segment, compress_to_vec(&*lines, CompressionLevel::Fastest))?;
        self.sent += lines.len() as u64;
        Ok(true)
    }

    /// The complete lines that have not been sent.
    fn new_lines(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.sent))?;
        let mut lines = Vec::new();
        file.read_to_end(&mut lines)?;
        let end = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        lines.truncate(end);
        Ok(lines)
    }
}

/// Writes the journal of a run to this machine, unless it is there already. Returns whether there is one.
pub fn fetch_journal(remote: &Remote, group: &str, id: &str, layout: &Layout) -> Result<bool, RemoteError> {
    let path = layout.journal(id);
    if path.exists() {
        return Ok(true);
    }
    let content = read_segments(remote, group, id)?;
    if content.is_empty() {
        return Ok(false);
    }
    let failed = |source| RemoteError::File { action: "write", path: path.clone(), source };
    let folder = layout.journals();
    layout.create_folder(&folder).map_err(failed)?;
    let draft = folder.join(format!(".{}.tmp", new_run_id()));
    write_atomically(&path, &draft, |file| file.write_all(&content)).map_err(failed)?;
    let _ = fs::remove_file(&draft);
    Ok(true)
}

/// The segments, joined. An earlier process of the same run may have cut them at other places.
fn read_segments(remote: &Remote, group: &str, id: &str) -> Result<Vec<u8>, RemoteError> {
    let mut content = Vec::new();
    for object in remote.list(&layout::journal(group, id))? {
        if layout::offset(&object.name) != Some(content.len() as u64) {
            continue;
        }
        let Some(segment) = remote.get(&object.name)? else { break };
        let decoded = StreamingDecoder::new(&segment[..])
            .map_err(io::Error::other)
            .and_then(|mut decoder| decoder.read_to_end(&mut content));
        decoded.map_err(|error| RemoteError::Damaged {
            url: remote.url().to_owned(),
            object: object.name.clone(),
            problem: error.to_string(),
        })?;
    }
    Ok(content)
}

/// Deletes the journal of a run from the store.
pub fn delete_journal(remote: &Remote, group: &str, id: &str) -> Result<(), RemoteError> {
    remote.list(&layout::journal(group, id))?.iter().try_for_each(|object| remote.delete(&object.name))
}
