//! Why an experiment that is recorded was stopped.

/// Why an experiment that is recorded was stopped.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFailure {
    /// There is no key, and no recording that could be replayed without one.
    #[error("nothing is recorded yet: set {key} to record `{experiment}`, which is then replayed without a key{}", said(.cause.as_deref()))]
    NoKey {
        /// The experiment's name.
        experiment: String,
        /// The variable to set.
        key: String,
        /// What the agent said.
        cause: Option<String>,
    },

    /// A recording cannot be written.
    #[error("cannot record `{experiment}`: {problem}")]
    Write {
        /// The experiment's name.
        experiment: String,
        /// What cannot be written, and why.
        problem: String,
    },
}

fn said(cause: Option<&str>) -> String {
    cause.map(|cause| format!(" (the agent failed: {cause})")).unwrap_or_default()
}
