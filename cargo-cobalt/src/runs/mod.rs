//! Past runs: their names on the command line, how names are resolved, and the common view of a run ([`RunView`]).
//!
//! | name | run |
//! |---|---|
//! | `latest`, `latest~2` | the latest complete run, the one two before it; of the experiment of another name, else of the last run |
//! | `help-desk@latest~1` | the same of this experiment |
//! | `8fd9a1` | the run with this ID prefix, including partial runs |
//! | `main`, `v1.2`, `8fd9a1c`, `help-desk@main` | the latest complete run of that git commit |
//! | `.cobalt/results/….json` | the run in a result file, or a baseline |

mod known;
mod labels;
mod resolve;
mod view;

pub use known::{KnownRuns, UnknownRun, short_hash};
pub use labels::{RunLabels, write_labels};
pub use resolve::{ResolvedRun, report_file_of, report_of};
pub use view::{
    ItemCounts, RunMetrics, RunOutcome, RunPhase, RunView, VariantView, format_minute, journals,
    partial_report,
};
