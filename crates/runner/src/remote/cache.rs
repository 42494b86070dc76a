//! Runs of the store that were fetched to be read: a folder of the project, which may be deleted at any time.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::store::Remote;
use super::{layout, parallel};
use crate::sized_cache::lock;

/// The largest total size of a store's fetched runs in bytes.
const ROOM: u64 = 2 << 30;
/// Runs that were used within this time are kept: another process may still read them.
const IN_USE: Duration = Duration::from_secs(60);
/// The same for runs that this process fetched. Commands end before; a server fetches a run again.
const IN_USE_HERE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a run is kept while it is fetched.
const LONGEST_FETCH: Duration = Duration::from_secs(60 * 60);
/// The file in the folder of a run that is written when the run is used. While the run is fetched, its time is in the future.
const USED: &str = "used";

impl Remote {
    /// The result file of a run, fetched unless it is there already. Runs that were not used for the longest time make room, but never
    /// one that this process fetched within a day.
    pub fn fetch(&self, entry: &RemoteEntry, layout: &Layout) -> Result<PathBuf, RemoteError> {
        let all = cache_folder(layout, self.identity());
        let failed = |source| RemoteError::File { action: "write", path: all.clone(), source };
        if !all.exists() {
            layout.create_folder(&all).map_err(failed)?;
            let ignored = all.parent().unwrap_or(&all).join(".gitignore");
            fs::write(ignored, "*\n").map_err(failed)?;
        }
        // The name tells the content, as a run may be pushed again with other labels.
        let folder = all.join(layout::short(&entry.result.hash));
        let path = folder.join(&entry.run.file);
        if path.exists() {
            lock(&self.fetched).insert(folder.clone(), Instant::now());
            // On a read-only disk, nothing makes room either.
            let _ = File::create(folder.join(USED));
            // Another process may have removed it meanwhile.
            if path.exists() {
                return Ok(path);
            }
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        // Before anything is fetched, so that no other process removes the folder.
        let used = File::create(folder.join(USED)).map_err(failed)?;
        lock(&self.fetched).insert(folder.clone(), Instant::now());
        used.set_modified(SystemTime::now() + LONGEST_FETCH).map_err(failed)?;
        // What cannot be removed now is removed next time.
        let _ = make_room(&all, ROOM.saturating_sub(entry.bytes()), IN_USE, &self.in_use());
        let fetched = self.fetch_into(entry, &folder);
        if fetched.is_err() && fs::read_dir(&folder).is_ok_and(|files| files.count() == 1) {
            // What cannot be removed now makes room later.
            let _ = fs::remove_dir_all(&folder);
        }
        let path = fetched?;
        used.set_modified(SystemTime::now()).map_err(failed)?;
        Ok(path)
    }

    /// The folders of the runs that this process fetched lately.
    fn in_use(&self) -> HashSet<PathBuf> {
        let mut fetched = lock(&self.fetched);
        fetched.retain(|_, at| at.elapsed() < IN_USE_HERE);
        fetched.keys().cloned().collect()
    }

    /// The same for several runs, some at a time.
    pub fn fetch_all(&self, entries: &[&RemoteEntry], layout: &Layout) -> Vec<Result<PathBuf, RemoteError>> {
        parallel::map(entries, |entry| self.fetch(entry, layout))
    }

    /// A text for which runs have been fetched.
    pub fn fetched_state(&self, layout: &Layout) -> String {
        format!("{:?}", folder_state(&cache_folder(layout, self.identity())))
    }

    /// The result file of a run, if it has been fetched.
    pub fn fetched(&self, entry: &RemoteEntry, layout: &Layout) -> Option<PathBuf> {
        let folder = cache_folder(layout, self.identity()).join(layout::short(&entry.result.hash));
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
fn cache_folder(layout: &Layout, identity: &str) -> PathBuf {
    layout.remote_runs().join(layout::short(&sha256(identity.as_bytes())))
}

/// Removes the runs that were not used for the longest time, until the others fit.
fn make_room(folder: &Path, room: u64, in_use: Duration, in_use_here: &HashSet<PathBuf>) -> io::Result<()> {
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
        // A time in the future is that of a run that is being fetched.
        if total <= room || used.elapsed().map_or(true, |age| age < in_use) {
            break;
        }
        if in_use_here.contains(&run) {
            continue;
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
        let here = HashSet::from([folder.path().join("b")]);
        let left = |room, in_use, here: &HashSet<_>| {
            make_room(folder.path(), room, in_use, here).unwrap();
            let runs = fs::read_dir(folder.path())
                .unwrap()
                .map(|run| run.unwrap().file_name().into_string().unwrap());
            let mut runs: Vec<_> = runs.collect();
            runs.sort();
            runs.concat()
        };
        let none = HashSet::new();
        assert_eq!(left(400, IN_USE, &none), "abcd");
        assert_eq!(left(399, IN_USE, &none), "bcd");
        assert_eq!(left(0, hour * 2 - IN_USE, &none), "bd");
        assert_eq!(left(0, IN_USE, &here), "bd", "this process fetched it");
        assert_eq!(left(0, IN_USE, &none), "d", "it may still be read");
        let used = File::create(folder.path().join("d").join(USED)).unwrap();
        used.set_modified(SystemTime::now() + hour).unwrap();
        assert_eq!(left(0, Duration::ZERO, &none), "d", "it is being fetched");
    }
}
