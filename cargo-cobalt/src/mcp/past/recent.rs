//! The reports that were read last: who reads a run page by page asks for the same one again and again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cobalt::Report;
use cobalt::store::read_report;

use crate::recent::Recent;

/// How many bytes the files have together whose reports are kept; in memory, these take a few times as much.
const ROOM: usize = 64 << 20;

/// A result file as it was at some time: its path, its length in bytes, and when it was written.
type Written = (PathBuf, u64, Option<SystemTime>);

/// For all projects, so that the room is that of the program.
static RECENT: Recent<Written, Report> = Recent::new(ROOM);

/// The report in a result file, which is read where it is another than it was.
pub(super) fn result(path: &Path) -> Result<Arc<Report>, Box<dyn std::error::Error>> {
    let metadata = fs::metadata(path)?;
    let written = (path.to_owned(), metadata.len(), metadata.modified().ok());
    let size = usize::try_from(metadata.len()).unwrap_or(ROOM);
    Ok(RECENT.get(&written, |_| size, || read_report(path))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, name: &str) {
        let report = serde_json::json!({
            "schema": 1, "id": "0123456789ab", "name": name, "timestamp": "2026-02-05T14:30:00.000Z", "summary": {}, "items": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [] },
        });
        fs::write(path, report.to_string()).unwrap();
    }

    #[test]
    fn a_file_is_read_again_once_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, "desk");
        let first = result(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &result(&path).unwrap()), "it is kept");
        write(&path, "another");
        assert_eq!((&*first.name, &*result(&path).unwrap().name), ("desk", "another"));
        fs::remove_file(&path).unwrap();
        assert!(result(&path).is_err());
    }
}
