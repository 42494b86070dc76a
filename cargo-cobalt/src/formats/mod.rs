//! What a call came to, in the formats that others read: a pure function of it for each, for reporters and for
//! `cargo cobalt export`.

mod csv;
mod html;
mod junit;
pub(crate) mod markdown;
mod notable;
mod pr_comment;
#[cfg(test)]
mod sample;

pub(crate) use self::csv::csv;
pub(crate) use self::html::html;
pub(crate) use self::junit::junit;
pub(crate) use self::notable::{Gravity, Notable, notable};
pub(crate) use self::pr_comment::{fitting, pr_comment};
