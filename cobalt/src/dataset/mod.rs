//! Datasets: the items that an experiment runs on, from code or from files.
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
//! [`Dataset::from_file`] detects the format by magic bytes, then by the extension, then by the content:
//!
//! | format | extensions | content |
//! |---|---|---|
//! | JSON | `json` | an array of objects, or an object with such an array as `items` |
//! | JSONL | `jsonl`, `ndjson`, `jsonlines` | an object per line; blank lines are skipped |
//! | CSV | `csv`, `tsv`, `tab` | a header, then a row per item (RFC 4180); `tsv` and `tab` are tab-separated |
//! | Parquet | `parquet`, `pq` | a row per item; needs the feature `parquet` |
//! | Arrow | `arrow`, `arrows`, `feather`, `ipc` | a row per item, as a file (Feather version 2) or a stream; needs the feature `parquet` |
//!
//! JSONL files of 64 MiB or more, if they are not compressed, stay on disk: an item is read when it is needed, and only its key and its
//! place are in memory. So do the results of `map` and `filter`; `map` writes the changed items to the temporary folder (`TMPDIR`). Do not
//! change such a file during a run: it stops the run, which can be resumed with the original file.
//!
//! Text files must be UTF-8, with or without a byte order mark, with LF or CRLF. JSON and JSONL are streamed.
//! If an object repeats a key, the last value wins. In CSV every cell is a string exactly as written: spaces are part of
//! the field, as RFC 4180 requires, and nothing is converted to a number. These are errors: a header with an empty or
//! repeated name, a row with more or fewer fields than the header, a misplaced quote, and a file without items. Errors
//! name the file and the line, counted from 1.
//! All formats may be compressed with gzip or zstd, such as `questions.jsonl.gz` or `.zst`, also in several members or
//! frames. Compression is detected by the first bytes. It needs the feature `remote`, which is on by default.
//!
//! A path with `*`, `?` or `[…]` matches all files of that pattern, read one after another, sorted by name. Hugging Face
//! splits large datasets into several files, such as `data/train-00000-of-00002.parquet`: load them with
//! `Dataset::from_file("data/train-*.parquet")`. `save_to_disk` writes `data-00000-of-00001.arrow`. `*` stays within a
//! folder, `**` matches all folders below. A file with exactly the pattern's name takes precedence. No match is an error.
//! Names are compared letter by letter, so `train-10` comes before `train-2`: pad numbers with zeros, as Hugging Face
//! does. The files need not have the same fields.
//!
//! ## Parquet and Arrow
//!
//! All compression codecs of Parquet and Arrow are supported. Files are read in batches of rows. A row becomes an item with
//! every column:
//!
//! | type | JSON |
//! |---|---|
//! | null | `null` |
//! | integers, to 64 bits | the number, exact |
//! | floating point | the number; `null` for NaN and infinities |
//! | decimals | string with all digits, such as `"12.50"` |
//! | strings, dictionaries (categories) | string |
//! | binary | Base64 string (RFC 4648) |
//! | timestamps | RFC 3339 string, such as `"2024-05-01T14:34:56+02:00"`; without an offset if the column has no time zone |
//! | dates, times | string, such as `"2024-05-01"`, `"12:34:56"`; `date64` includes midnight, `"2024-05-01T00:00:00"` |
//! | durations | ISO 8601 string, such as `"PT90S"` |
//! | lists, structs, maps with string keys | arrays, objects, objects |
//!
//! These are errors: a union, a map with other keys, a time outside the calendar's range, two columns of one name, and a
//! corrupt or truncated file. Errors name the file, the row group or record batch (counted from 0) and, if known, the column.
//!
//! # Identity
//!
//! Each item has a key ([`Dataset::keys`]) that stays the same when the dataset is sorted, truncated or extended, so
//! two runs can be compared item by item: its `id`, else a hash of its `input`, else a hash of the whole item.

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
mod mismatch;
mod on_disk;
mod read;
#[cfg(feature = "remote")]
mod remote;
mod rows;
mod set;
pub(crate) mod settings;
pub(crate) mod table_values;
pub(crate) mod tables;
mod text;

#[doc(inline)]
pub use cobalt_core::item::Item;
#[doc(inline)]
pub use cobalt_core::report::Fetch;
#[doc(hidden)]
pub use csv::{csv_records, parse_csv};
pub(crate) use decode::decode_value;
pub use decode::{DecodeError, decode};
pub use error::DatasetError;
use format::FormatHints;
pub use format::{Format, UnknownFormat};
pub use into_dataset::{IntoDataset, NamedDataset};
#[doc(hidden)]
pub use json::parse_json;
#[doc(hidden)]
pub use jsonl::parse_jsonl;
pub use mismatch::DatasetMismatch;
#[cfg(feature = "remote")]
use read::content;
#[doc(hidden)]
pub use read::detect_format;
#[cfg(feature = "remote")]
use read::read;
pub(crate) use read::read_package_file;
#[cfg(feature = "remote")]
pub(crate) use remote::Source;
#[cfg(feature = "remote")]
pub use remote::{Basalt, Braintrust, CachedDataset, LangSmith, Langfuse, RemoteDataset, Url};
#[doc(hidden)]
pub use rows::{Row, Rows, read_rows};
pub use set::{Dataset, Iter, SAMPLE_SEED};
