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

/// The digits of a hash in names.
const HASH_DIGITS: usize = 16;
/// The ending of an index object.
const INDEX_ENDING: &str = ".json";

/// The first digits of a hash, as in names.
pub fn short(hash: &str) -> &str {
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}

/// The object of a result file.
pub fn result(id: &str, hash: &str) -> String {
    format!("{RUNS}/{id}/{}.json.zst", short(hash))
}

/// The object of a run's items, if they are in a file of their own.
pub fn items(id: &str, hash: &str) -> String {
    format!("{RUNS}/{id}/{}.items.zst", short(hash))
}

/// The index object of a run, without the folder: start, slug of the experiment, ID and hash of the result file.
pub fn index_name(run: &IndexedRun, hash: &str) -> String {
    let start = run.timestamp.get(..19).unwrap_or(&run.timestamp).replace(':', "-");
    format!("{start}_{}_{}_{}{INDEX_ENDING}", file_slug(&run.name), run.id, short(hash))
}

/// The ID and the hash in the name of an index object.
pub fn parse_index_name(name: &str) -> Option<(&str, &str)> {
    let (rest, hash) = name.strip_suffix(INDEX_ENDING)?.rsplit_once('_')?;
    let (_, id) = rest.rsplit_once('_')?;
    (is_id(id) && is_hash(hash)).then_some((id, hash))
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
    fn the_name_of_an_index_object_tells_the_run_and_its_content() {
        let hash = "0123456789abcdef0123456789abcdef";
        let name = format!("2026-02-05T10-00-00_help_desk_5ea00522f3eb_{}.json", short(hash));
        assert_eq!(parse_index_name(&name), Some(("5ea00522f3eb", short(hash))));
        assert_eq!(tombstone("5ea00522f3eb", hash), "removed/5ea00522f3eb_0123456789abcdef");
        assert_eq!(parse_tombstone("5ea00522f3eb_0123456789abcdef"), Some(("5ea00522f3eb", short(hash))));
        for other in ["notes.json", "a_b.json", "x_../../etc_0123456789abcdef.json", "x_id_0123.json"] {
            assert_eq!(parse_index_name(other), None, "{other}");
        }
    }
}
