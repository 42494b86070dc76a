//! Results of an invocation in formats that other tools read. Each format is a pure function of the results, used by reporters
//! and by `cargo cobalt export`.

mod csv;
mod html;
mod junit;
pub mod markdown;
mod notable;
mod pr_comment;
#[cfg(test)]
mod sample;

pub use self::csv::csv;
pub use self::html::html;
pub use self::junit::junit;
pub use self::notable::{Gravity, Notable, notable};
pub use self::pr_comment::{fitting, pr_comment};
