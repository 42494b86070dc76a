//! Workflow commands: lines of a log that GitHub Actions acts upon, and a guard that keeps it from acting on what agents print. Its
//! documentation calls them so, and its runner says how they are escaped.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

/// The end of a group.
pub const END_GROUP: &str = "::endgroup::";

/// How an annotation is shown. Ordered from the gravest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
    Notice,
}

/// A note that GitHub shows at the top of a run and, where it has a place, beside the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub level: Level,
    pub title: String,
    pub message: String,
    /// A file as seen from the root of the repository, and a line from 1.
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
            write!(f, "file={},line={line},", property(file))?;
        }
        write!(f, "title={}::{}", property(&self.title), data(&self.message))
    }
}

/// The beginning of lines that are folded away under a title, until [`END_GROUP`].
pub fn group(title: &str) -> String {
    format!("::group::{}", data(title))
}

/// The text of a command.
fn data(text: &str) -> String {
    // The sign of the escapes comes first.
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which a colon or a comma would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A stream on which commands and other lines follow each other. It keeps the runner of GitHub Actions from acting on what agents
/// print: the runner takes every line that looks like a command for one.
///
/// While commands are stopped, only the one with the token that stopped them is heard. The runner reads stdout and stderr side by
/// side, so all that is shown goes to one of them.
#[derive(Debug)]
pub struct Guard {
    /// Whether stdout is for something else.
    is_stderr: bool,
    token: String,
    /// Whether the runner is deaf to commands at the moment.
    is_stopped: Cell<bool>,
}

impl Guard {
    pub fn new(is_stderr: bool) -> Self {
        Self { is_stderr, token: token(), is_stopped: Cell::new(false) }
    }

    /// Writes text that is no command, whatever it looks like.
    pub fn text(&self, text: &str) -> io::Result<()> {
        let stop = if self.is_stopped.replace(true) {
            String::new()
        } else {
            format!("::stop-commands::{}\n", self.token)
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(&format!("{stop}{text}{end}"))
    }

    /// Writes a command, in a line.
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
