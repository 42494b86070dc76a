//! Several runs over the same items side by side: which is best, which differences are real, and which is the cheapest that is not
//! worse.

mod model;
mod preferences;
mod rank;
mod recommend;

pub use model::{PairDifference, Preference, RankInterval, RankedRun, RankedScore, Ranking, Recommendation};
pub use rank::{RankInput, rank};
