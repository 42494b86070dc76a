//! Ids of traces and spans. They are hashes of what they identify: a run that is sent again has the same.

use sha2::{Digest, Sha256};

/// The ids of one execution of an item.
#[derive(Clone, Debug)]
pub struct TraceIds {
    pub trace: Vec<u8>,
    /// The root span.
    pub root: Vec<u8>,
}

impl TraceIds {
    /// The ids of a run's own trace.
    pub fn of_run(run: &str) -> Self {
        Self::new(&["run", run])
    }

    /// The ids of a trial, counted from 1, of an item.
    pub fn of_trial(run: &str, index: usize, key: &str, trial: usize) -> Self {
        Self::new(&["trial", run, &index.to_string(), key, &trial.to_string()])
    }

    fn new(parts: &[&str]) -> Self {
        let hash = hash(parts);
        Self { trace: hash[..16].to_vec(), root: hash[16..24].to_vec() }
    }

    /// The id of a span in the trace of an agent.
    pub fn span(&self, id: &str) -> Vec<u8> {
        let mut hash = Sha256::new_with_prefix(&self.trace);
        hash.update(id);
        hash.finalize()[..8].to_vec()
    }
}

/// The hash of length-prefixed parts.
fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable_and_differ_by_run_item_and_trial() {
        let of = |run, index, key, trial| TraceIds::of_trial(run, index, key, trial).trace;
        assert_eq!(of("a", 0, "k", 1), of("a", 0, "k", 1));
        for other in [of("b", 0, "k", 1), of("a", 1, "k", 1), of("a", 0, "l", 1), of("a", 0, "k", 2)] {
            assert_ne!(of("a", 0, "k", 1), other);
        }
        let ids = TraceIds::of_run("a");
        assert_eq!((ids.trace.len(), ids.root.len(), ids.span("1").len()), (16, 8, 8));
        assert_ne!(ids.span("1"), ids.span("2"));
    }
}
