//! Runs of the store that were fetched to be read: a folder of the project, which may be deleted at any time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::store::Remote;
use super::{layout, parallel};

/// The largest total size of a store's fetched runs in bytes.
const ROOM: u64 = 2 << 30;
/// Runs that were used within this time are kept: they may still be read.
const IN_USE: Duration = Duration::from_secs(60);
/// The file in the folder of a run that is written when the run is used.
const USED: &str = "used";

impl Remote {
    /// The result file of a run, fetched unless it is there already. Runs that were not used for the longest time make room.
    pub fn fetch(&self, entry: &RemoteEntry, layout: &Layout) -> Result<PathBuf, RemoteError> {
        let all = cache_folder(layout, self.url());
        let failed = |source| RemoteError::File { action: "write", path: all.clone(), source };
        if !all.exists() {
            layout.create_folder(&all).map_err(failed)?;
            let ignored = all.parent().unwrap_or(&all).join(".gitignore");
            fs::write(ignored, "*\n").map_err(failed)?;
        }
        // The name tells the content, as a run may be pushed again with other labels.
        let folder = all.join(layout::short(&entry.result.hash));
        let path = folder.join(&entry.run.file);
        if path.exists() && File::create(folder.join(USED)).is_ok() && path.exists() {
            return Ok(path);
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        // Before anything is fetched, so that no other process removes the folder.
        File::create(folder.join(USED)).map_err(failed)?;
        let fetched = self.fetch_into(entry, &folder);
        if fetched.is_err() && fs::read_dir(&folder).is_ok_and(|files| files.count() == 1) {
            // What cannot be removed now makes room later.
            let _ = fs::remove_dir_all(&folder);
        }
        let path = fetched?;
        // What cannot be removed now is removed next time.
        let _ = make_room(&all, ROOM, IN_USE);
        Ok(path)
    }

    /// The same for several runs, some at a time.
    pub fn fetch_all(&self, entries: &[&RemoteEntry], layout: &Layout) -> Vec<Result<PathBuf, RemoteError>> {
        parallel::map(entries, |entry| self.fetch(entry, layout))
    }

    /// A text for which runs have been fetched.
    pub fn fetched_state(&self, layout: &Layout) -> String {
        format!("{:?}", folder_state(&cache_folder(layout, self.url())))
    }

    /// The result file of a run, if it has been fetched.
    pub fn fetched(&self, entry: &RemoteEntry, layout: &Layout) -> Option<PathBuf> {
        let folder = cache_folder(layout, self.url()).join(layout::short(&entry.result.hash));
        Some(folder.join(&entry.run.file)).filter(|path| path.exists())
    }
}

/// What changes whenever a run is fetched or removed: the folders of the fetched runs, and when they changed.
fn folder_state(folder: &Path) -> Vec<(OsString, Option<SystemTime>)> {
    let runs = fs::read_dir(folder).into_iter().flatten().flatten();
    let changed = |run: fs::DirEntry| {
        let modified = run.metadata().and_then(|folder| folder.modified());
        (run.file_name(), modified.ok())
    };
    let mut runs: Vec<_> = runs.map(changed).collect();
    runs.sort();
    runs
}

/// The folder of a store's fetched runs.
fn cache_folder(layout: &Layout, url: &str) -> PathBuf {
    layout.remote_runs().join(layout::short(&sha256(url.as_bytes())))
}

/// Removes the runs that were not used for the longest time, until the others fit.
fn make_room(folder: &Path, room: u64, in_use: Duration) -> io::Result<()> {
    let mut runs = Vec::new();
    for run in fs::read_dir(folder)? {
        let run = run?.path();
        let size = fs::read_dir(&run)?.map(|file| Ok(file?.metadata()?.len())).sum::<io::Result<u64>>()?;
        let used = fs::metadata(run.join(USED)).and_then(|file| file.modified());
        runs.push((used.unwrap_or(SystemTime::UNIX_EPOCH), size, run));
    }
    runs.sort();
    let mut total: u64 = runs.iter().map(|(_, size, _)| size).sum();
    for (used, size, run) in runs {
        if total <= room || used.elapsed().is_ok_and(|age| age < in_use) {
            break;
        }
        fs::remove_dir_all(run)?;
        total -= size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_that_were_not_used_for_the_longest_time_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let hour = Duration::from_secs(3600);
        for (name, hours) in [("a", 3), ("b", 1), ("c", 2), ("d", 0)] {
            let run = folder.path().join(name);
            fs::create_dir(&run).unwrap();
            fs::write(run.join("run.json"), [0; 100]).unwrap();
            let used = File::create(run.join(USED)).unwrap();
            used.set_modified(SystemTime::now() - hour * hours).unwrap();
        }
        let left = |room, in_use| {
            make_room(folder.path(), room, in_use).unwrap();
            let runs = fs::read_dir(folder.path())
                .unwrap()
                .map(|run| run.unwrap().file_name().into_string().unwrap());
            let mut runs: Vec<_> = runs.collect();
            runs.sort();
            runs.concat()
        };
        assert_eq!(left(400, IN_USE), "abcd");
        assert_eq!(left(399, IN_USE), "bcd");
        assert_eq!(left(0, hour * 2 - IN_USE), "bd");
        assert_eq!(left(0, IN_USE), "d", "it may still be read");
    }
}
