//! The index of the parts: what the head of a result in parts has in the field `parts`.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of the format of the items file.
pub const PARTS_FORMAT: u32 = 1;
/// The maximum length of a frame and of the text in it, in bytes: what one read of a damaged file can take of the memory.
const MAX_FRAME: u64 = 1 << 30;
/// The end of an items file's name, instead of that of a result file.
const ITEMS_FILE: &str = ".items.zst";

/// Where the items of a result in parts are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartsIndex {
    /// The version of this format.
    pub format: u32,
    /// The name of the items file, which is beside the head.
    pub file: String,
    /// The size of that file in bytes.
    pub bytes: u64,
    /// The number of items.
    pub items: usize,
    /// The [hash](crate::prices::PriceTable::hash) of the prices of the costs in the columns; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// The parts, in dataset order.
    pub parts: Vec<PartEntry>,
    /// The blocks of columns, in dataset order.
    pub columns: Vec<PartEntry>,
}

/// A part of the items file: a Zstandard frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartEntry {
    /// Where the frame starts.
    pub offset: u64,
    /// The length of the frame in bytes.
    pub bytes: u64,
    /// The length of the text in it in bytes.
    pub text: u64,
    /// The number of items.
    pub items: usize,
    /// The position of the first of them among all items of the run, from 0.
    pub first: usize,
    /// The CRC-32 of the frame.
    pub crc32: u32,
}

/// Whether a reader accepts the claims of an entry: an item has at least one byte of text.
pub fn is_plausible(entry: &PartEntry) -> bool {
    entry.bytes <= MAX_FRAME && entry.text <= MAX_FRAME && entry.items as u64 <= entry.text
}

impl PartsIndex {
    /// The part that has the item at this position, from 0.
    #[must_use]
    pub fn part_of(&self, position: usize) -> Option<usize> {
        let part = self.parts.partition_point(|part| part.first <= position).checked_sub(1)?;
        let entry = &self.parts[part];
        (position - entry.first < entry.items).then_some(part)
    }

    /// Checks that the parts follow each other, and that none claims to be larger than the file, or to have more items than bytes.
    pub(super) fn check(&self) -> io::Result<()> {
        let damaged = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        if self.format != PARTS_FORMAT {
            return damaged(format!(
                "its items have format {}, but this version of Cobalt reads format {PARTS_FORMAT}; update Cobalt",
                self.format
            ));
        }
        if Path::new(&self.file).file_name().is_none_or(|name| name != self.file.as_str()) {
            return damaged(format!("`{}` is not the name of an items file beside it", self.file));
        }
        for (entries, what) in [(&self.parts, "parts"), (&self.columns, "columns")] {
            let mut first = 0;
            for entry in entries {
                let end = entry.offset.checked_add(entry.bytes).filter(|end| *end <= self.bytes);
                let next = entry.first.checked_add(entry.items);
                let (Some(_), Some(next), true) = (end, next, entry.first == first && is_plausible(entry))
                else {
                    return damaged(format!("the index of its {what} is damaged"));
                };
                first = next;
            }
            if first != self.items {
                return damaged(format!("the index of its {what} has {first} of {} items", self.items));
            }
        }
        Ok(())
    }
}

/// The items file beside a result file, whether or not it exists.
#[must_use]
pub fn items_file(head: &Path) -> PathBuf {
    let name = head.file_stem().unwrap_or_default().to_string_lossy();
    head.with_file_name(format!("{name}{ITEMS_FILE}"))
}

/// The name of the result file that an items file belongs to. `None` if it is not the name of an items file.
#[must_use]
pub fn head_of_items_file(name: &str) -> Option<String> {
    name.strip_suffix(ITEMS_FILE).map(|stem| format!("{stem}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, first: usize, items: usize) -> PartEntry {
        PartEntry { offset, bytes: 10, text: 100, items, first, crc32: 0 }
    }

    fn index(parts: Vec<PartEntry>) -> PartsIndex {
        let items = parts.iter().map(|part| part.items).sum();
        let columns = vec![entry(20, 0, items)];
        let file = "a.items.zst".to_owned();
        PartsIndex { format: PARTS_FORMAT, file, bytes: 30, items, prices: None, parts, columns }
    }

    #[test]
    fn an_item_is_found_in_the_part_that_has_its_position() {
        let index = index(vec![entry(0, 0, 3), entry(10, 3, 2)]);
        index.check().unwrap();
        let found: Vec<_> = (0..6).map(|position| index.part_of(position)).collect();
        assert_eq!(found, [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
    }

    #[test]
    fn an_index_that_does_not_fit_the_file_is_refused() {
        let whole = index(vec![entry(0, 0, 3), entry(10, 3, 2)]);
        for (damaged, expected) in [
            (PartsIndex { format: 2, ..whole.clone() }, "update Cobalt"),
            (PartsIndex { file: "../a.items.zst".to_owned(), ..whole.clone() }, "not the name"),
            (PartsIndex { bytes: 19, ..whole.clone() }, "index of its parts is damaged"),
            (PartsIndex { parts: vec![entry(10, 3, 2)], ..whole.clone() }, "index of its parts is damaged"),
            (PartsIndex { items: 6, ..whole.clone() }, "5 of 6 items"),
            (PartsIndex { columns: Vec::new(), ..whole }, "index of its columns has 0 of 5"),
        ] {
            let error = damaged.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn an_index_that_claims_more_than_a_frame_can_have_is_refused() {
        let refused = |part: PartEntry| {
            let whole = index(vec![entry(0, 0, 3), part]);
            whole.check().is_err_and(|error| error.to_string().contains("index of its parts is damaged"))
        };
        let part = entry(10, 3, 97);
        index(vec![entry(0, 0, 3), part]).check().unwrap();
        assert!(refused(PartEntry { items: 101, ..part }), "more items than bytes");
        assert!(refused(PartEntry { items: 1 << 40, text: u64::MAX, ..part }));
        assert!(refused(PartEntry { text: MAX_FRAME + 1, ..part }));
        assert!(refused(PartEntry { offset: u64::MAX, ..part }));
    }

    #[test]
    fn the_files_of_a_run_are_named_alike() {
        let head = Path::new("results/2026-02-05T14-30-00_desk_0123456789ab.json");
        let items = items_file(head);
        assert_eq!(items, Path::new("results/2026-02-05T14-30-00_desk_0123456789ab.items.zst"));
        let name = items.file_name().unwrap().to_str().unwrap();
        assert_eq!(head_of_items_file(name).unwrap(), head.file_name().unwrap().to_str().unwrap());
        assert_eq!(head_of_items_file("a.json"), None);
    }
}
