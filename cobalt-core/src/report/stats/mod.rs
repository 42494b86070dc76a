//! Pure statistics, independent of runs, files and terminals.
//!
//! Every function returns `None` if its result is undefined (no data, a NaN, a probability out of range), so no NaN ever reaches
//! a report. Each names the source of its formula.

mod bootstrap;
mod bradley_terry;
mod describe;
mod matched_pairs;
mod normal;
mod paired_t;
mod proportion;
mod sign_flip;
mod student_t;

use serde::{Deserialize, Serialize};

pub use bootstrap::{BootstrapMean, bootstrap_mean};
pub use bradley_terry::{BradleyTerry, PairwiseComparison, bradley_terry};
pub use describe::{DescriptiveStats, describe, percentile, root_mean_square_deviation, sum};
pub use matched_pairs::{
    Cluster, MatchedShares, Mcnemar, ShareSpread, TrialWeights, by_cluster, matched_shares, mcnemar,
};
pub use normal::{normal_cdf, normal_quantile};
pub use paired_t::{PairedT, holm, min_detectable_difference, paired_t, pairs_to_detect, ratio_of_means};
pub use proportion::{pass_at_k, pass_hat_k, wilson, wilson_clustered};
pub use sign_flip::{SignFlip, Stratum, sign_flip, stratified_permutation};
pub use student_t::{student_t_cdf, student_t_quantile};

/// A closed interval, such as a confidence interval, in the unit of its data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, never below the lower end.
    pub high: f64,
}

/// Values closer to each other than this share of the largest count as equal: the difference is rounding.
const ROUNDING: f64 = 1e-9;
