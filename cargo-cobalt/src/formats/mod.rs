//! What a call came to, in the formats that others read: a pure function of it for each, for reporters and for
//! `cargo cobalt export`.

mod csv;
mod html;
mod json;
mod junit;
pub(crate) mod markdown;
mod notable;
#[cfg(test)]
mod sample;

pub(crate) use self::csv::csv;
pub(crate) use self::html::html;
pub(crate) use self::json::json;
pub(crate) use self::junit::junit;
pub(crate) use self::notable::{Gravity, Notable, notable};
