//! Past runs: how they are named on the command line, which runs these names mean, and what every list shows of a run ([`RunView`]).
//!
//! | typed | means |
//! |---|---|
//! | `latest`, `latest~2` | the newest whole run, the one two before it; of an experiment that another name tells, else of the one that ran last |
//! | `help-desk@latest~1` | the same of this experiment |
//! | `8fd9a1` | the run whose id begins so, of some of the items too |
//! | `main`, `v1.2`, `8fd9a1c`, `help-desk@main` | the newest whole run of that git commit |
//! | `.cobalt/results/….json` | the run in a result file, or a baseline |

mod known;
mod resolve;
mod view;

pub use known::{KnownRuns, UnknownRun, short};
pub use resolve::{FoundRun, report_of};
pub use view::{ItemCounts, RunFigures, RunOutcome, RunPhase, RunView, journals, minute, so_far};
