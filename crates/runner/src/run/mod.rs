//! Runs test binaries: requests, events, and the terminal output.

mod command;
mod invocation;
mod preflight;
mod process;
mod progress_bars;
mod screen;

pub use self::command::{RunMode, create_ledger, run, run_once, variables};
pub use self::invocation::{CI_HINT, Invocation};
pub use self::preflight::{check_names, listing_failed};
pub use self::process::{BinaryRequest, Message, run as run_binary};
pub use self::screen::{ItemLines, Screen};
