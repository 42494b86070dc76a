//! Data sets: the items that an experiment runs over, from code or from files.
//!
//! An [`Item`] is a JSON object. A [`Dataset`] is an ordered, immutable list of them that is cheap to clone:
//!
//! ```
//! use cobalt::{Dataset, item};
//!
//! let questions = Dataset::from_items([
//!     item! { "id": "sum", "input": "2 + 2", "expectedOutput": "4" },
//!     item! { "id": "capital", "input": "Capital of France?", "expectedOutput": "Paris" },
//! ]);
//! assert_eq!(questions.len(), 2);
//! assert_eq!(questions.keys(), ["sum", "capital"]);
//! ```
//!
//! # Files
//!
//! [`Dataset::from_file`] goes by the extension, and by the content where that leaves a doubt:
//!
//! | format | extensions | what it holds |
//! |---|---|---|
//! | JSON | `json` | an array of objects, or an object with such an array as `items` |
//! | JSONL | `jsonl`, `ndjson`, `jsonlines` | an object per line; blank lines are skipped |
//! | CSV | `csv`, `tsv`, `tab` | a header, then a row per item, by RFC 4180; `tsv` and `tab` are split at tabs |
//!
//! Files are UTF-8, with or without a byte order mark, with LF or CRLF. JSON and JSONL are read as a stream.
//! Where an object has a key twice, the last one counts. In CSV every cell is a string exactly as written:
//! spaces are part of a field, as RFC 4180 says, and nothing is turned into a number. A header with an empty or
//! repeated name, a row with more or fewer fields than the header, and a misplaced quote are refused. So is a
//! file without items. Errors name the file and the line, counted from 1.
//!
//! # Identity
//!
//! Each item has a key ([`Dataset::keys`]) that stays the same when the data set is sorted, cut or extended, so
//! that two runs can be compared item by item: its `id`, else a hash of its `input`, else of the whole item.

mod canonical;
mod csv;
mod decode;
mod error;
mod identity;
mod into_dataset;
mod item;
mod json;
mod jsonl;
mod load;
mod set;
mod text;

pub(crate) use decode::decode_value;
pub use decode::{DecodeError, decode};
pub use error::DatasetError;
pub(crate) use identity::{case_name, case_name_of_some, content_hash, natural_key, unique};
pub use into_dataset::IntoDataset;
pub use item::Item;
pub use set::{Dataset, Iter, SAMPLE_SEED};

#[doc(hidden)]
pub use {csv::parse_csv, json::parse_json, jsonl::parse_jsonl};
