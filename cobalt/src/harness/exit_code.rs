//! How a test binary ends, for whoever starts it.

/// An item or a threshold failed: libtest's own code for a failed test.
pub const FAILED: i32 = 101;
/// The experiments could not be run as they are declared, or their results not be kept.
pub const UNFIT: i32 = 3;
/// The process was stopped by Ctrl-C, as shells have it.
pub const INTERRUPTED: i32 = 130;
