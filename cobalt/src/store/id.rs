//! Ids of runs: 12 hexadecimal digits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// An id that no other run has, in this process or another.
pub(crate) fn new_run_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    id_of(&[
        time.to_string(),
        std::process::id().to_string(),
        count.to_string(),
        fastrand::u64(..).to_string(),
    ])
}

/// The id that belongs to these texts, the same in every process.
pub(crate) fn id_of(parts: &[String]) -> String {
    crate::hash::sha256_hex(parts)[..12].to_owned()
}
