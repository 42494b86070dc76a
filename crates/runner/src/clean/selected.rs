//! Finds the files of selected runs: result files, journals and kept workspaces.

use std::collections::HashSet;

use cobalt_core::store::{Layout, ResultFileName, head_of_items_file};

use super::candidates::{CleanupEntry, CleanupPlan, FileKind, files, folders, is_searchable, total_size};
use crate::error::Error;

/// The files of runs with these ids, whose indexed result files have these names. Ids are only compared with the names in the folders
/// of the store: they come from files and can be anything.
///
/// # Errors
///
/// A folder cannot be read.
pub fn files_of_runs(
    layout: &Layout,
    ids: &HashSet<&str>,
    indexed: &HashSet<&str>,
) -> Result<CleanupPlan, Error> {
    let mut found = CleanupPlan::default();
    if is_searchable(layout.results(), layout, &mut found) {
        for file in files(layout.results())? {
            let result = head_of_items_file(&file.name).unwrap_or_else(|| file.name.clone());
            let name = ResultFileName::parse(&result);
            if indexed.contains(&*result) || name.is_some_and(|name| ids.contains(name.id)) {
                let time = name.and_then(|name| name.time()).map(|start| start.time());
                found.entries.extend(file.entry(FileKind::Result, time)?);
            }
        }
    }
    if is_searchable(&layout.journals(), layout, &mut found) {
        for file in files(&layout.journals())? {
            if file.name.strip_suffix(".jsonl").is_some_and(|id| ids.contains(id)) {
                found.entries.extend(file.entry(FileKind::Journal, None)?);
            }
        }
    }
    if is_searchable(&layout.workspaces(), layout, &mut found) {
        for folder in folders(&layout.workspaces())? {
            if ids.contains(&*folder.name) {
                let entry = folder.entry(FileKind::Workspaces, None)?;
                let size = total_size(&folder.path());
                found.entries.extend(entry.map(|entry| CleanupEntry { size, ..entry }));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_files_of_a_run_are_found_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".cobalt");
        let layout =
            Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"));
        let (mine, other) = ("aaaa00001111", "bbbb00001111");
        for id in [mine, other] {
            let workspace = layout.workspaces().join(id).join("item");
            for folder in [layout.results(), &layout.journals(), &workspace] {
                fs::create_dir_all(folder).unwrap();
            }
            fs::write(layout.results().join(format!("2026-02-05T14-30-00_desk_{id}.json")), "{}").unwrap();
            fs::write(layout.journal(id), "").unwrap();
            fs::write(workspace.join("note"), "12345").unwrap();
        }
        fs::write(layout.results().join("renamed.json"), "{}").unwrap();
        for id in [mine, other] {
            let items = format!("2026-02-05T14-30-00_desk_{id}.items.zst");
            fs::write(layout.results().join(items), "items").unwrap();
        }
        fs::write(root.join("evil.jsonl"), "").unwrap();
        let ids = HashSet::from([mine, "../evil", "..", ""]);
        let found = files_of_runs(&layout, &ids, &HashSet::from(["renamed.json"])).unwrap();
        let mut names: Vec<_> = found.entries.iter().map(|entry| (entry.kind, entry.size)).collect();
        names.sort();
        let expected = [
            (FileKind::Result, 2),
            (FileKind::Result, 2),
            (FileKind::Result, 5),
            (FileKind::Journal, 0),
            (FileKind::Workspaces, 5),
        ];
        assert_eq!(names, expected);
        assert!(found.entries.iter().all(|entry| !entry.path.to_string_lossy().contains(other)));
    }
}
