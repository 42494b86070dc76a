//! Why a call of a tool failed.

/// Why a call of a wrapped tool failed. The text is what a model would read of the failure: it does not say that a fault is injected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool's own error, with its causes, or arguments that do not match its parameter.
    #[error("{0}")]
    Failed(String),
    /// An injected `timeout`.
    #[error("the tool `{tool}` timed out")]
    Timeout {
        /// The tool.
        tool: String,
    },
    /// An injected `error`.
    #[error("{0}")]
    Injected(String),
    /// The call is not recorded, and tools are not called while recordings are replayed. It is an error of the item.
    #[error("{0}")]
    NotRecorded(String),
}

impl ToolError {
    /// Whether it was injected by a fault plan.
    #[must_use]
    pub fn is_injected(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::Injected(_))
    }

    /// Whether the call timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }
}
