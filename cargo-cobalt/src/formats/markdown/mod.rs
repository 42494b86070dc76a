//! What a call came to, as Markdown of GitHub's dialect, in sections that other formats share.

mod conclusion;
mod experiment;

pub(crate) use self::conclusion::{conclusion, markdown, sections, troubles};
pub(crate) use self::experiment::{at_marks, origin, regressed, title, usage, verdict};
