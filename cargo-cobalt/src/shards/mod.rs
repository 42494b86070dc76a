//! Runs on several machines: the plans that balance their shards.

mod plans;

pub use self::plans::PlanFile;
