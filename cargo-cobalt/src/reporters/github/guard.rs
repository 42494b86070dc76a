//! Keeps the runner of GitHub Actions from acting on what agents print: it takes every line that looks like a command for one.
//!
//! While commands are stopped, only the one with the token that stopped them is heard. The runner reads stdout and stderr side
//! by side, so all that is shown goes to one of them.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

/// A stream on which commands and other lines follow each other.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Whether stdout is for something else.
    is_stderr: bool,
    token: String,
    /// Whether the runner is deaf to commands at the moment.
    is_stopped: Cell<bool>,
}

impl Guard {
    pub(crate) fn new(is_stderr: bool) -> Self {
        Self { is_stderr, token: token(), is_stopped: Cell::new(false) }
    }

    /// Writes text that is no command, whatever it looks like.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        let stop = if self.is_stopped.replace(true) {
            String::new()
        } else {
            format!("::stop-commands::{}\n", self.token)
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(&format!("{stop}{text}{end}"))
    }

    /// Writes a command, in a line.
    pub(crate) fn command(&self, command: &str) -> io::Result<()> {
        let resume =
            if self.is_stopped.replace(false) { format!("::{}::\n", self.token) } else { String::new() };
        self.write(&format!("{resume}{command}\n"))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let write = |stream: &mut dyn Write| {
            stream.write_all(text.as_bytes())?;
            stream.flush()
        };
        if self.is_stderr { write(&mut io::stderr().lock()) } else { write(&mut io::stdout().lock()) }
    }
}

/// Whatever runs next in the same step may give commands of its own.
impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_stopped.get() {
            // Where nobody reads any more, nobody is deaf.
            let _ = self.write(&format!("::{}::\n", self.token));
        }
    }
}

/// A word that no agent can know.
fn token() -> String {
    // The standard library seeds them with randomness of the system.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("cobalt-{:016x}{:016x}", random(), random())
}
