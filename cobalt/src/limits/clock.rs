//! The time that buckets are refilled by.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A clock that counts from a fixed point.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The time since this instant. It is steady, but means nothing to other processes.
    Since(Instant),
    /// The system's time, which all processes share. It may jump.
    System,
}

impl Clock {
    pub fn now(self) -> Duration {
        match self {
            Self::Since(start) => Instant::now().duration_since(start),
            Self::System => SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
        }
    }
}
