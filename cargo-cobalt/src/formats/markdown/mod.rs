//! What a call came to, as Markdown of GitHub's dialect, in sections that other formats share.

mod conclusion;
mod experiment;

pub use self::conclusion::{conclusion, markdown, sections, troubles};
pub use self::experiment::{at_marks, origin, regressed, title, usage, verdict};
