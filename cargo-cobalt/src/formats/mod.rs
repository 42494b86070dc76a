//! What a call came to, in the formats that others read: a pure function of it for each.

mod fitting;
pub(crate) mod markdown;
mod notable;
mod pr_comment;

pub(crate) use self::fitting::fitting;
pub(crate) use self::notable::{Gravity, Notable, notable};
pub(crate) use self::pr_comment::pr_comment;
