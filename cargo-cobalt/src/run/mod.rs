//! Runs test binaries: requests, events, and the terminal output.

mod asked;
mod bars;
mod call;
mod command;
mod process;
mod screen;

pub use self::asked::{check_names, unnamed};
pub use self::call::{Call, FAILS_WITH_CI};
pub use self::command::{Repeats, once, run, variables};
pub use self::process::{Asked, Message, run as run_binary};
pub use self::screen::Screen;
