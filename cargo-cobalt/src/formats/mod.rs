//! What a call came to, in the formats that others read: a pure function of it for each.

pub(crate) mod markdown;
mod notable;

pub(crate) use self::notable::{Gravity, Notable, notable};
