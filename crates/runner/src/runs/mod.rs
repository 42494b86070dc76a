//! Past runs: their names on the command line, how names are resolved, and the common view of a run ([`RunView`]).
//!
//! | name | run |
//! |---|---|
//! | `latest`, `latest~2` | the latest complete run, the one two before it; of the experiment of another name, else of the last run |
//! | `help-desk@latest~1` | the same of this experiment |
//! | `8fd9a1` | the run with this ID prefix, including partial runs |
//! | `main`, `v1.2`, `8fd9a1c`, `help-desk@main` | the latest complete run of that git commit |
//! | `tuned`, `help-desk@tuned` | the latest complete run that a user gave this name to |
//! | `branch:main`, `help-desk@branch:main` | the latest complete run on that branch, without uncommitted changes |
//! | `target`, `help-desk@target` | the same for the target branch of the pull request; after a push, the branch itself |
//! | `.cobalt/results/….json` | the run in a result file, or a baseline |

mod branch;
mod known;
mod labels;
mod resolve;
mod unfinished;
mod view;

pub use known::{KnownRuns, UnknownRun, short_hash};
pub use labels::{RunLabels, read_labels, write_labels};
pub use resolve::{ResolvedName, ResolvedRun, report_file_of, report_of};
pub use unfinished::{MAX_JOURNAL_BYTES, check_journal_size, unfinished_report};
pub use view::{ItemCounts, RunMetrics, RunOutcome, RunPhase, RunView, VariantView, format_minute, journals};
