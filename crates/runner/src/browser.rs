//! Opens the user's browser.

use std::io::{self, IsTerminal as _};

use cobalt::command::config::Config;

/// Opens a URL in the browser set in `BROWSER`, or in the default one.
pub fn open(address: &str) -> Result<(), String> {
    opener::open_browser(address).map_err(|error| error.to_string())
}

/// Whether stderr is a terminal.
pub fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Whether this is CI: `--ci`, or the variable `CI` that CI services set.
pub fn is_ci(settings: &Config) -> bool {
    settings.is_ci() || is_set("CI")
}

/// Whether a variable is set, and not to an empty value, `0` or `false`.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}
