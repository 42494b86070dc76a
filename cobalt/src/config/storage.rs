//! Where files are kept: all of it in one folder, unless a variable or the file says otherwise of its parts.

use std::ffi::OsString;

use super::merge::{Merge, first};
use super::model::Storage;
use super::settings::Origin;
use super::variables::{CACHE_DIR, DIR, HISTORY_DB, RESULTS_DIR};
use crate::store::Layout;

/// The folder of everything, unless something is set.
const DEFAULT_DIR: &str = ".cobalt";

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// Where runs are kept. `COBALT_DIR` moves all of it, so that what the file says of its parts does not count then.
    pub(super) fn layout(&mut self, storage: Storage) -> Layout {
        let dir = first([
            (self.variables.path(DIR), Origin::variable(DIR)),
            (storage.dir, self.origin("storage.dir")),
        ]);
        let (dir, origin) = dir.unwrap_or((DEFAULT_DIR.into(), Origin::Default));
        let dir = self.workspace.join(dir);
        self.note("storage.dir", &dir, origin.clone());
        let parts = [
            ("storage.results", RESULTS_DIR, storage.results, "results"),
            ("storage.history", HISTORY_DB, storage.history, "history.db"),
            ("storage.cache", CACHE_DIR, storage.cache, "cache"),
        ];
        let [results, history, cache] = parts.map(|(key, variable, written, name)| {
            let written = written.filter(|_| origin != Origin::variable(DIR));
            let part = first([
                (self.variables.path(variable), Origin::variable(variable)),
                (written, self.origin(key)),
            ]);
            let (path, origin) = part.unwrap_or((dir.join(name), origin.clone()));
            let path = self.workspace.join(path);
            self.note(key, &path, origin);
            path
        });
        Layout::new(dir, results, history, cache)
    }
}
