//! The code shared by `cobalt` and its command: items, the result model with its statistics and comparisons, the events of a run,
//! and its files.
//!
//! It is independent of models, terminals and settings files. Use it through `cobalt`: this crate has no stable API.

pub mod atomic_write;
pub mod back_off;
pub mod duration;
pub mod error_chain;
pub mod experiment_name;
pub mod hash;
pub mod item;
pub mod nesting;
pub mod paths;
pub mod pattern;
pub mod prices;
pub mod recordings;
pub mod redact;
pub mod report;
pub mod reporters;
pub mod serde_skip;
pub mod slug;
pub mod store;
pub mod timestamp;
pub mod trace;
pub mod wording;
