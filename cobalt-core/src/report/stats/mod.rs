//! Pure statistics: figures from numbers, with no knowledge of runs, files or terminals.
//!
//! Every function answers `None` where its figure is not defined (no data, a NaN, a probability outside its range), so
//! that no NaN ever reaches a report. Each names the source of its formula.

mod bootstrap;
mod describe;
mod matched_pairs;
mod normal;
mod paired_t;
mod proportion;
mod sign_flip;
mod student_t;

use serde::{Deserialize, Serialize};

pub use bootstrap::{BootstrapMean, bootstrap_mean};
pub use describe::{Describe, describe, percentile, root_mean_square_deviation, sum};
pub use matched_pairs::{
    Cluster, MatchedShares, Mcnemar, RunWeights, ShareSpread, by_cluster, matched_shares, mcnemar,
};
pub use normal::{normal_cdf, normal_quantile};
pub use paired_t::{PairedT, holm, paired_t, pairs_to_show, ratio_of_means, smallest_detectable};
pub use proportion::{pass_at_k, pass_hat_k, wilson, wilson_clustered};
pub use sign_flip::{SignFlip, Stratum, sign_flip, stratified_permutation};
pub use student_t::{student_t_cdf, student_t_quantile};

/// A closed interval, such as a confidence interval, in the unit of the data that it was worked out from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, never below the lower one.
    pub high: f64,
}

/// Figures closer to each other than this share of the largest are taken as equal: rounding alone tells them apart.
const ROUNDING: f64 = 1e-9;
