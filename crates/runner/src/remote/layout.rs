//! The names of objects, below the prefix of the remote store.

use cobalt_core::store::file_slug;

use crate::index::IndexedRun;

/// Says that the prefix is a store, and in which format.
pub const FORMAT: &str = "cobalt.json";
/// The format of the store's objects.
pub const FORMAT_VERSION: u32 = 1;
/// The folder of the runs: result files, compressed, and items of large runs.
pub const RUNS: &str = "runs";
/// The folder of the index objects, one per run.
pub const INDEX: &str = "index";
/// The folder of packs of index objects.
pub const PACKS: &str = "packs";
/// The folder of tombstones, which hide runs that packs still list.
pub const REMOVED: &str = "removed";
/// The folder of packs of recordings.
pub const RECORDINGS: &str = "recordings";
/// The folder of packs of cached model responses.
pub const RESPONSES: &str = "answers";

/// The folder of the journals and states of shards, by group.
pub const JOURNALS: &str = "journals";
/// The folder of the plans that balance shards, by group.
pub const PLANS: &str = "plans";

/// The digits of a hash in names.
const HASH_DIGITS: usize = 16;
const RESULT_ENDING: &str = ".json.zst";
const ITEMS_ENDING: &str = ".items.zst";
/// The ending of a pack of index objects.
const PACK_ENDING: &str = ".jsonl.zst";
/// The ending of an index object.
const INDEX_ENDING: &str = ".json";

/// The first digits of a hash, as in names.
pub fn short(hash: &str) -> &str {
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}

/// The object of a result file.
pub fn result(id: &str, hash: &str) -> String {
    format!("{RUNS}/{id}/{}{RESULT_ENDING}", short(hash))
}

/// The object of a run's items, if they are in a file of their own.
pub fn items(id: &str, hash: &str) -> String {
    format!("{RUNS}/{id}/{}{ITEMS_ENDING}", short(hash))
}

/// The index object of a run, without the folder: start, slug of the experiment, ID and hash of the result file, and how often this
/// content was pushed again after another one.
pub fn index_name(run: &IndexedRun, hash: &str, repeated: u32) -> String {
    let start = run.timestamp.get(..19).unwrap_or(&run.timestamp).replace(':', "-");
    let repeated = if repeated > 0 { format!(".{repeated}") } else { String::new() };
    format!("{start}_{}_{}_{}{repeated}{INDEX_ENDING}", file_slug(&run.name), run.id, short(hash))
}

/// The ID and the hash in the name of the object of a result file.
pub fn parse_result(object: &str) -> Option<(&str, &str)> {
    let (id, name) = object.strip_prefix(RUNS)?.strip_prefix('/')?.split_once('/')?;
    let hash = name.strip_suffix(RESULT_ENDING)?;
    (is_id(id) && is_hash(hash)).then_some((id, hash))
}

/// Whether this is the object of a run's items.
pub fn is_items_of(object: &str, id: &str) -> bool {
    let name = object
        .strip_prefix(RUNS)
        .and_then(|rest| rest.strip_prefix('/')?.strip_prefix(id)?.strip_prefix('/'));
    name.is_some_and(|name| name.strip_suffix(ITEMS_ENDING).is_some_and(is_hash))
}

/// The ID of the run whose result file or items an object has.
pub fn run_of(object: &str) -> Option<&str> {
    let (id, _) = object.strip_prefix(RUNS)?.strip_prefix('/')?.split_once('/')?;
    is_id(id).then_some(id)
}

/// The ID and the hash in the name of an index object, without the folder.
pub fn parse_index(name: &str) -> Option<(&str, &str)> {
    let (rest, hash) = name.strip_suffix(INDEX_ENDING)?.rsplit_once('_')?;
    let hash = hash.split_once('.').map_or(hash, |(hash, _)| hash);
    let (_, id) = rest.rsplit_once('_')?;
    (is_id(id) && is_hash(hash)).then_some((id, hash))
}

/// How to repair a damaged object, by its folder.
pub fn repair_advice(object: &str) -> &'static str {
    match object.split_once('/').map_or(object, |(folder, _)| folder) {
        RUNS => "delete it and push the run again, by its ID",
        INDEX | PACKS => "repair it with `cargo cobalt push --rebuild-index`",
        RECORDINGS => "delete it and push the recordings again",
        RESPONSES => "delete it",
        FORMAT => "replace it with `{ \"format\": 1 }`",
        _ => "delete it and repeat the command",
    }
}

/// The largest size of an object in bytes, by its folder. A larger one is damaged.
pub fn largest(object: &str) -> u64 {
    match object.split_once('/').map_or(object, |(folder, _)| folder) {
        FORMAT => 64 << 10,
        INDEX => 4 << 20,
        PACKS | PLANS => 256 << 20,
        _ => 4 << 30,
    }
}

/// The hash in the name of a pack of index objects, without the folder.
pub fn parse_pack(name: &str) -> Option<&str> {
    name.strip_suffix(PACK_ENDING).filter(|hash| is_hash(hash))
}

/// The tombstone of a run.
pub fn tombstone(id: &str, hash: &str) -> String {
    format!("{REMOVED}/{id}_{}", short(hash))
}

/// The ID and the hash in the name of a tombstone, without the folder.
pub fn parse_tombstone(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('_').filter(|(id, hash)| is_id(id) && is_hash(hash))
}

/// Whether a text can be the ID of a run, as in names of files.
pub fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_hash(hash: &str) -> bool {
    hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_object_tells_the_run_and_its_content() {
        let (id, hash) = ("5ea00522f3eb", "0123456789abcdef0123456789abcdef");
        assert_eq!(parse_result(&result(id, hash)), Some((id, short(hash))));
        assert_eq!(tombstone(id, hash), "removed/5ea00522f3eb_0123456789abcdef");
        for ending in ["", ".2"] {
            let name = format!("2026-02-05T14-30-00_help_desk_{id}_{}{ending}.json", short(hash));
            assert_eq!(parse_index(&name), Some((id, short(hash))));
        }
        assert_eq!(parse_tombstone("5ea00522f3eb_0123456789abcdef"), Some((id, short(hash))));
        assert!(is_items_of(&items(id, hash), id));
        assert!(!is_items_of(&items(id, hash), "5ea0") && !is_items_of(&result(id, hash), id));
        for other in [
            "runs/notes.json",
            "index/a/0123456789abcdef.json.zst",
            "runs/../0123456789abcdef.json.zst",
            "runs/a/0123.json.zst",
        ] {
            assert_eq!(parse_result(other), None, "{other}");
        }
    }
}
