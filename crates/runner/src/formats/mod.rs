//! Results of an invocation in formats that other tools read. Each format is a pure function of the results, used by reporters
//! and by `cargo cobalt export`.

mod csv;
#[doc(hidden)]
pub mod fixtures;
mod junit;
pub mod markdown;
mod notable;
mod pr_comment;

pub use self::csv::write_csv;
pub use self::junit::junit;
pub use self::notable::{NotableItems, Severity};
pub use self::pr_comment::{fit_sections, pr_comment};
