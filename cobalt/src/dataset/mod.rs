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
//! [`Dataset::from_file`] goes by what no other format begins with, then by the extension, then by the looks of the content:
//!
//! | format | extensions | what it holds |
//! |---|---|---|
//! | JSON | `json` | an array of objects, or an object with such an array as `items` |
//! | JSONL | `jsonl`, `ndjson`, `jsonlines` | an object per line; blank lines are skipped |
//! | CSV | `csv`, `tsv`, `tab` | a header, then a row per item, by RFC 4180; `tsv` and `tab` are split at tabs |
//! | Parquet | `parquet`, `pq` | a row per item; with the feature `parquet` |
//! | Arrow | `arrow`, `arrows`, `feather`, `ipc` | a row per item, as a file (Feather version 2) or as a stream; with the feature `parquet` |
//!
//! Text files are UTF-8, with or without a byte order mark, with LF or CRLF. JSON and JSONL are read as a stream.
//! Where an object has a key twice, the last one counts. In CSV every cell is a string exactly as written:
//! spaces are part of a field, as RFC 4180 says, and nothing is turned into a number. A header with an empty or
//! repeated name, a row with more or fewer fields than the header, and a misplaced quote are refused. So is a
//! file without items. Errors name the file and the line, counted from 1.
//!
//! Each of them may be compressed by gzip or zstd, as `questions.jsonl.gz` or `.zst`, in several members or frames too. The
//! first bytes tell it. This needs the feature `remote`, which is on by default.
//!
//! A path with `*`, `?` or `[…]` in it stands for all files that match, read one after another, sorted by name: Hugging Face
//! keeps large sets in several files, such as `data/train-00000-of-00002.parquet`, which are
//! `Dataset::from_file("data/train-*.parquet")`, and `save_to_disk` writes `data-00000-of-00001.arrow`. `*` stays within a
//! folder, `**` goes through all below; a file that has just the name of the pattern comes first. No match is an error. Names
//! are compared letter by letter, so that `train-10` comes before `train-2`: write numbers with zeros before them, as Hugging
//! Face does. The files need not have the same fields.
//!
//! ## Parquet and Arrow
//!
//! All compressions of Parquet and Arrow are read, a batch of rows at a time. A row becomes an item with every column in
//! it, by these rules:
//!
//! | type | JSON |
//! |---|---|
//! | null | `null` |
//! | integers, to 64 bits | the number, exact |
//! | floating point | the number; `null` where it is not a number or infinite |
//! | decimals | text with all digits, such as `"12.50"` |
//! | text, dictionaries (categories) | text |
//! | binary | text in Base64 (RFC 4648) |
//! | timestamps | text of RFC 3339, such as `"2024-05-01T14:34:56+02:00"`; without an offset where the column has no time zone |
//! | dates, times | text, such as `"2024-05-01"`, `"12:34:56"`; of the type `date64` with midnight, `"2024-05-01T00:00:00"` |
//! | durations | text of ISO 8601, such as `"PT90S"` |
//! | lists, structs, maps with text for keys | arrays, objects, objects |
//!
//! A union, a map with other keys, a time beyond every calendar, two columns of one name, and a file that is damaged or cut
//! off are refused. Errors name the file, the row group or record batch, counted from 0, and the column where it is known.
//!
//! # Identity
//!
//! Each item has a key ([`Dataset::keys`]) that stays the same when the data set is sorted, cut or extended, so
//! that two runs can be compared item by item: its `id`, else a hash of its `input`, else of the whole item.

mod changed;
mod columnar;
mod compressed;
mod csv;
mod decode;
#[cfg(feature = "remote")]
mod difference;
mod error;
mod format;
mod identity;
mod into_dataset;
mod item;
mod json;
mod jsonl;
mod read;
#[cfg(feature = "remote")]
mod remote;
mod rows;
mod set;
pub(crate) mod settings;
pub(crate) mod table_values;
pub(crate) mod tables;
mod text;

pub use changed::ChangedDataset;
#[doc(inline)]
pub use cobalt_core::item::Item;
#[doc(inline)]
pub use cobalt_core::report::Fetch;
#[doc(hidden)]
pub use csv::{csv_records, parse_csv};
pub(crate) use decode::decode_value;
pub use decode::{DecodeError, decode};
pub use error::DatasetError;
use format::Told;
pub use format::{Format, UnknownFormat};
pub use into_dataset::{IntoDataset, NamedDataset};
#[doc(hidden)]
pub use json::parse_json;
#[doc(hidden)]
pub use jsonl::parse_jsonl;
#[cfg(feature = "remote")]
use read::content;
#[doc(hidden)]
pub use read::format_of;
#[cfg(feature = "remote")]
use read::read;
pub(crate) use read::read_package_file;
#[cfg(feature = "remote")]
pub(crate) use remote::Source;
#[cfg(feature = "remote")]
pub use remote::{Basalt, Braintrust, KeptDataset, LangSmith, Langfuse, RemoteDataset, Url};
#[doc(hidden)]
pub use rows::{Row, Rows, read_rows};
pub use set::{Dataset, Iter, SAMPLE_SEED};
