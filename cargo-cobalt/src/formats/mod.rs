//! What a run came to, in the formats that others read: each a function of the [`Results`](crate::reporters::Results).

mod html;

pub(crate) use self::html::html;
