//! GitHub Actions workflow commands, and a guard against commands in the output of agents. Escaping follows the runner's source.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

/// The end of a group.
pub const END_GROUP: &str = "::endgroup::";

/// The level of an annotation, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
    Notice,
}

/// An annotation, shown at the top of a run and, with a place, next to the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub level: Level,
    pub title: String,
    pub message: String,
    /// A file relative to the root of the repository, and a line from 1.
    pub place: Option<(String, u32)>,
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
        };
        write!(f, "::{level} ")?;
        if let Some((file, line)) = &self.place {
            write!(f, "file={},line={line},", escape_property(file))?;
        }
        write!(f, "title={}::{}", escape_property(&self.title), escape_data(&self.message))
    }
}

/// Starts a group of collapsed lines, until [`END_GROUP`].
pub fn group(title: &str) -> String {
    format!("::group::{}", escape_data(title))
}

/// The text of a command.
fn escape_data(text: &str) -> String {
    // Escape the escape character first.
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property; colons and commas are escaped.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A stream of commands and other lines. It prevents the GitHub Actions runner from executing commands in agents' output: the
/// runner executes every line that looks like a command.
///
/// While commands are stopped, the runner only accepts the one with the stop token. It reads stdout and stderr concurrently, so
/// all output goes to one of them.
#[derive(Debug)]
pub struct CommandGuard {
    /// Whether to write to stderr.
    is_stderr: bool,
    token: String,
    /// Whether commands are currently stopped.
    is_stopped: Cell<bool>,
}

impl CommandGuard {
    pub fn new(is_stderr: bool) -> Self {
        Self { is_stderr, token: token(), is_stopped: Cell::new(false) }
    }

    /// Writes text that must not be executed as a command.
    pub fn text(&self, text: &str) -> io::Result<()> {
        let stop = if self.is_stopped.replace(true) {
            String::new()
        } else {
            format!("::stop-commands::{}\n", self.token)
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(&format!("{stop}{text}{end}"))
    }

    /// Writes a command on its own line.
    pub fn command(&self, command: &str) -> io::Result<()> {
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

/// Re-enables commands for later programs in the same step.
impl Drop for CommandGuard {
    fn drop(&mut self) {
        if self.is_stopped.get() {
            // If the output is closed, there is nothing to re-enable.
            let _ = self.write(&format!("::{}::\n", self.token));
        }
    }
}

/// A token that agents cannot guess.
fn token() -> String {
    // The standard library seeds it with system randomness.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("cobalt-{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn annotation(title: &str, message: &str) -> Annotation {
        let place = Some((format!("{title}.rs"), 3));
        Annotation { level: Level::Error, title: title.to_owned(), message: message.to_owned(), place }
    }

    #[test]
    fn what_ends_a_value_is_escaped() {
        assert_eq!(
            annotation("a::b, c", "50 % of\r\n::error::x").to_string(),
            "::error file=a%3A%3Ab%2C c.rs,line=3,title=a%3A%3Ab%2C c::50 %25 of%0D%0A::error::x"
        );
        assert_eq!(group("a\nb"), "::group::a%0Ab");
    }

    /// Reads a command as the runner does.
    fn read(line: &str) -> Option<(Vec<(String, String)>, String)> {
        let (head, message) = line.strip_prefix("::")?.split_once("::")?;
        let unescaped = |text: &str| {
            text.replace("%0D", "\r")
                .replace("%0A", "\n")
                .replace("%3A", ":")
                .replace("%2C", ",")
                .replace("%25", "%")
        };
        let (_, properties) = head.split_once(' ')?;
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or_default();
            (name.to_owned(), unescaped(value))
        };
        let data = message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
        Some((properties.split(',').map(pair).collect(), data))
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was(title in ".*", message in "(?s).*") {
            let line = annotation(&title, &message).to_string();
            prop_assert_eq!(line.lines().count(), 1);
            let (properties, data) = read(&line).unwrap();
            prop_assert_eq!(&properties[2], &("title".to_owned(), title));
            prop_assert_eq!(data, message);
        }
    }
}
