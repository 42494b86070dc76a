//! Results of an invocation in formats that other tools read. Each format is a pure function of the results, used by reporters
//! and by `cargo cobalt export`.

mod csv;
#[cfg(test)]
pub mod fixtures;
mod html;
mod junit;
pub mod markdown;
mod notable;
mod pr_comment;

pub use self::csv::{csv, write_csv};
pub use self::html::html;
pub use self::junit::junit;
pub use self::notable::{NotableItem, Severity, notable_items};
pub use self::pr_comment::{fit_sections, pr_comment};
