//! Exit codes of a test binary.

/// An item or a threshold failed: libtest's own code for a failed test.
pub const FAILED: i32 = 101;
/// The experiments could not be run as declared, or their results could not be saved.
pub const SETUP_ERROR: i32 = 3;
/// The run was stopped because its budget is used up.
pub const BUDGET_SPENT: i32 = 5;
/// The process was stopped by Ctrl-C, as in shells.
pub const INTERRUPTED: i32 = 130;
