//! What `cargo nextest` tells a test about itself.

use crate::store::id_of;

/// A process that nextest started for one case.
#[derive(Debug)]
pub(super) struct Nextest {
    run: String,
    attempt: u32,
}

impl Nextest {
    /// `None` where the process was started by something else.
    pub(super) fn from_environment() -> Option<Self> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        if variable("NEXTEST_EXECUTION_MODE")? != "process-per-test" {
            return None;
        }
        let attempt = variable("NEXTEST_ATTEMPT").and_then(|attempt| attempt.parse().ok()).unwrap_or(1);
        // A stress run repeats each case within one nextest run.
        let parts = ["NEXTEST_RUN_ID", "NEXTEST_BINARY_ID", "NEXTEST_STRESS_CURRENT"];
        Some(Self { run: parts.map(|name| variable(name).unwrap_or_default()).join("/"), attempt })
    }

    /// The id that all attempts at an experiment share.
    pub(super) fn run_id(&self, experiment: &str) -> String {
        id_of(&[self.run.clone(), experiment.to_owned()])
    }

    /// Whether an earlier attempt failed.
    pub(super) fn is_retry(&self) -> bool {
        self.attempt > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Option<Nextest> {
        Nextest::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_a_process_for_each_test_makes_an_experiment_one_case() {
        assert!(read(&[]).is_none());
        assert!(read(&[("NEXTEST_EXECUTION_MODE", "something-new")]).is_none());
        assert!(!read(&[("NEXTEST_EXECUTION_MODE", "process-per-test")]).unwrap().is_retry());
    }

    #[test]
    fn attempts_at_an_experiment_share_an_id() {
        let attempt = |number, stress| {
            read(&[
                ("NEXTEST_EXECUTION_MODE", "process-per-test"),
                ("NEXTEST_RUN_ID", "r"),
                ("NEXTEST_ATTEMPT", number),
                ("NEXTEST_STRESS_CURRENT", stress),
            ])
            .unwrap()
        };
        let (first, second) = (attempt("1", "none"), attempt("2", "none"));
        assert!(second.is_retry());
        assert_eq!(first.run_id("desk"), second.run_id("desk"));
        assert_ne!(first.run_id("desk"), first.run_id("sums"));
        assert_ne!(first.run_id("desk"), attempt("1", "3").run_id("desk"));
    }
}
