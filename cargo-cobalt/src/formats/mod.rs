//! Runs in the formats of other programs: each a pure function of what was run, for reporters and for `cargo cobalt export`.

mod csv;
mod json;
mod junit;

pub(crate) use self::csv::csv;
pub(crate) use self::json::json;
pub(crate) use self::junit::junit;
