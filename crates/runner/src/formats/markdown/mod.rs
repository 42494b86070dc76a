//! Results of an invocation as GitHub-flavoured Markdown, in sections that other formats reuse.

mod experiment;
mod metrics;
mod overview;

pub use self::experiment::{
    items_at_pass_marks, regressions, result_label, run_identity, summary_errors, usage, verdict,
};
pub use self::overview::{markdown, overview, problems, sections};
