//! The journal of a run in the remote store: segments that are added as the journal grows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek, SeekFrom, Write};
use std::path::PathBuf;

use cobalt_core::atomic_write::write_atomically;
use cobalt_core::store::{Layout, new_run_id};

use super::layout;
use crate::remote::{Remote, RemoteError, RemoteObject, compress, map_in_parallel};

/// A segment ends with the line that reaches this size: journals can be larger than memory.
const SEGMENT: usize = 4 << 20;

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

    /// Sends a segment of the lines that have been added. Returns whether there were any. A finished run has no journal.
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
        remote.put(&segment, compress(&lines))?;
        self.sent += lines.len() as u64;
        Ok(true)
    }

    /// The next complete lines that have not been sent.
    fn new_lines(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.sent))?;
        let mut reader = BufReader::new(file);
        let mut lines = Vec::new();
        while lines.len() < SEGMENT {
            let complete = lines.len();
            if reader.read_until(b'\n', &mut lines)? == 0 || lines.last() != Some(&b'\n') {
                lines.truncate(complete);
                break;
            }
        }
        Ok(lines)
    }
}

/// Writes the journal of a run to this machine, unless it is there already. Returns whether there is one.
pub fn fetch_journal(remote: &Remote, group: &str, id: &str, layout: &Layout) -> Result<bool, RemoteError> {
    let path = layout.journal(id);
    if path.exists() {
        return Ok(true);
    }
    let segments = remote.list(&layout::journal(group, id))?;
    if segments.first().and_then(|first| layout::offset(&first.name)) != Some(0) {
        return Ok(false);
    }
    let failed = |source| RemoteError::File { action: "write", path: path.clone(), source };
    let folder = layout.journals();
    layout.create_folder(&folder).map_err(failed)?;
    let draft = folder.join(format!(".{}.tmp", new_run_id()));
    let mut refused = None;
    let written = write_atomically(&path, &draft, |file| {
        copy_segments(remote, &segments, file).map_err(|error| {
            let source = io::Error::other(error.to_string());
            refused = Some(error);
            source
        })
    });
    match (written, refused) {
        (_, Some(error)) => Err(error),
        (written, None) => written.map(|()| true).map_err(failed),
    }
}

/// Writes the content of the segments. An earlier process of the same run may have cut them at other places.
fn copy_segments(
    remote: &Remote,
    segments: &[RemoteObject],
    file: &mut impl Write,
) -> Result<(), RemoteError> {
    let mut length = 0;
    for object in segments {
        if layout::offset(&object.name) != Some(length) {
            continue;
        }
        let Some(segment) = remote.get(&object.name)? else { break };
        let content = remote.decompress(&object.name, &segment, u64::MAX)?;
        let failed =
            |source| RemoteError::File { action: "write", path: PathBuf::from(&object.name), source };
        file.write_all(&content).map_err(failed)?;
        length += content.len() as u64;
    }
    Ok(())
}

/// Deletes the journal of a run from the store.
pub fn delete_journal(remote: &Remote, group: &str, id: &str) -> Result<(), RemoteError> {
    let segments = remote.list(&layout::journal(group, id))?;
    map_in_parallel(&segments, |object| remote.delete(&object.name)).into_iter().collect()
}
