//! What `cobalt` and its command share: items, the result model with its statistics and comparisons, the events of a run, and
//! its files.
//!
//! It knows no model, no terminal and no settings file. Use it through `cobalt`: nothing here is stable by itself.

pub mod back_off;
pub mod causes;
pub mod hash;
pub mod item;
pub mod names;
pub mod nesting;
pub mod paths;
pub mod pattern;
pub mod prices;
pub mod redact;
pub mod report;
pub mod reporters;
pub mod slug;
pub mod store;
pub mod timestamp;
pub mod wording;
