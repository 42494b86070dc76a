//! Results of an invocation as GitHub-flavoured Markdown, in sections that other formats reuse.

mod conclusion;
mod experiment;

pub use self::conclusion::{conclusion, markdown, sections, troubles};
pub use self::experiment::{at_marks, origin, regressed, title, usage, verdict};
