//! The browser of whoever sits at the terminal.

use std::io::{self, IsTerminal as _};

use cobalt::command::config::Config;

/// Opens an address in the browser that the variable `BROWSER` names, or that is usual.
pub fn open(address: &str) -> Result<(), String> {
    opener::open_browser(address).map_err(|error| error.to_string())
}

/// Whether somebody reads along at a terminal.
pub fn has_reader() -> bool {
    io::stderr().is_terminal()
}

/// Whether this is CI, where nobody sees a browser: by the flag `--ci`, or by the variable that services of CI set.
pub fn is_ci(settings: &Config) -> bool {
    settings.is_ci() || is_set("CI")
}

/// Whether a variable is set to anything but a word for no.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}
