//! Results of an invocation in formats that other tools read. Each format is a pure function of the results, used by reporters
//! and by `cargo cobalt export`.

#[cfg(feature = "parquet")]
mod columnar;
mod csv;
#[cfg(test)]
pub mod fixtures;
mod html;
mod junit;
pub mod markdown;
mod notable;
mod pr_comment;

#[cfg(feature = "parquet")]
pub use self::columnar::{ColumnarFormat, write_columns};
pub use self::csv::write_csv;
pub use self::html::html;
pub use self::junit::junit;
pub use self::notable::{NotableItems, Severity};
pub use self::pr_comment::{fit_sections, pr_comment};
