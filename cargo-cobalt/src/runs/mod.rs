//! How past runs are named on the command line, and which runs these names mean.
//!
//! | typed | means |
//! |---|---|
//! | `latest`, `latest~2` | the newest whole run, the one two before it; of an experiment that another name tells, else of the one that ran last |
//! | `help-desk@latest~1` | the same of this experiment |
//! | `8fd9a1` | the run whose id begins so, of some of the items too |
//! | `main`, `v1.2`, `8fd9a1c`, `help-desk@main` | the newest whole run of that git commit |
//! | `.cobalt/results/….json` | the run in a result file, or a baseline |

mod error;
mod git;
mod known;
mod report;
mod resolve;

pub(crate) use error::{UnknownRun, short};
pub(crate) use known::KnownRuns;
pub(crate) use report::report_of;
pub(crate) use resolve::FoundRun;
