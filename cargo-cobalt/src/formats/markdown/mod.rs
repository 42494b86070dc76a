//! Results of an invocation as GitHub-flavoured Markdown, in sections that other formats reuse.

mod experiment;
mod metrics;
mod overview;
mod ranking;

pub use self::experiment::{
    item_counts, items_at_pass_marks, regressions, run_identity, summary_errors, usage, verdict,
};
pub use self::overview::{markdown, overview, problems, sections};
pub use self::ranking::ranking_section;
