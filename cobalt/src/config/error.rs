//! What can be wrong with the configuration: always with the file and the place in it, or with the variable.

use std::io;
use std::path::{Path, PathBuf};

use cobalt_core::redact::redacted;
use cobalt_core::report::Shard;
use cobalt_core::wording::{self, line_and_column, unknown_name};

use super::settings::{Only, Origin, dotted};
use super::variables::BASELINE;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that is there, or that was asked for, could not be read.
    #[error("failed to read `{}`: {source}{hint}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// Who asked for the file; may be empty.
        hint: &'static str,
    },

    /// A file lies where the settings are looked for, under a name that is nearly right.
    #[error("`{}` is not read; rename it to `cobalt.toml`", .path.display())]
    Misnamed {
        /// The file.
        path: PathBuf,
    },

    /// Something in the file is not as it must be.
    #[error("{}:{line}:{column}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// What was expected and what was found.
        problem: String,
    },

    /// An environment variable holds something else than it may.
    #[error("{name} is `{value}`; expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        expected: &'static str,
    },

    /// A data set is asked for that the file does not name.
    #[error("{}", unknown_dataset(.name, .file.as_deref(), .workspace, .names))]
    UnknownDataset {
        /// The name that is asked for.
        name: String,
        /// The file that was read, if there is one.
        file: Option<PathBuf>,
        /// The root of the workspace.
        workspace: PathBuf,
        /// The names that there are.
        names: Vec<String>,
    },

    /// A share is asked for of items that only one machine knows.
    #[error(
        "shard {shard} cannot be run of the items that {}: which these are hangs on the results that a machine has; leave \
         out --shard and COBALT_SHARD, or else --rerun-failed, --changed and COBALT_ONLY",
        match .only { Only::Failed => "failed last time", Only::Changed => "have changed" }
    )]
    OnlyOfShard {
        /// The items that are asked for.
        only: Only,
        /// The share of them.
        shard: Shard,
    },

    /// The path of a baseline cannot be told to the test binaries.
    #[error(
        "a baseline's path cannot stand in the list {BASELINE}: {reason}; move the file, or rename its folder"
    )]
    BaselinePath {
        /// The system's reason.
        reason: String,
    },
}

/// Which data sets there are in place of one, or how one is added.
fn unknown_dataset(name: &str, file: Option<&Path>, workspace: &Path, names: &[String]) -> String {
    let table = dotted("datasets", name);
    match file {
        Some(file) if names.is_empty() => {
            format!("`{}` has no data set `{name}`: add the table [{table}] to it", file.display())
        }
        Some(file) => {
            let instead = wording::instead(name, names.iter().map(String::as_str));
            format!("`{}` has no data set `{name}`; {instead}", file.display())
        }
        None => format!(
            "there is no data set `{name}`, as there is no `cobalt.toml`: write one in `{}`, with a table [{table}]",
            workspace.display()
        ),
    }
}

/// A place in a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathBuf,
    line: usize,
    column: usize,
}

impl Place {
    /// Where the byte `at` of a file's text is.
    pub(super) fn of(path: &Path, text: &str, at: usize) -> Self {
        Self::at(path, line_and_column(text, at))
    }

    /// A line and a column of a file.
    pub(super) fn at(path: &Path, (line, column): (usize, usize)) -> Self {
        Self { path: path.to_owned(), line, column }
    }

    /// The place as an origin: the path as seen from the root of the workspace, where it lies there.
    pub(super) fn origin(&self, workspace: &Path) -> Origin {
        let file = self.path.strip_prefix(workspace).unwrap_or(&self.path).display().to_string();
        Origin::File { file, line: self.line }
    }

    pub(crate) fn error(&self, problem: &str) -> ConfigError {
        let Self { path, line, column } = self.clone();
        ConfigError::Malformed { path, line, column, problem: redacted(problem).into_owned() }
    }
}

/// What the reader of a file says, in its place; without one, at the byte `around`, where what was read begins.
pub fn malformed(path: &Path, text: &str, error: &toml::de::Error, around: usize) -> ConfigError {
    let at = error.span().map_or(around, |span| span.start);
    Place::of(path, text, at).error(&problem(error.message()))
}

/// The message of the parser, with a suggestion for a misspelt key.
fn problem(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("missing field `") {
        let key = rest.trim_end_matches('`');
        return format!("the key `{key}` is missing");
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "));
    let Some((key, known)) = unknown else { return in_words_of_toml(message) };
    if let Some((_, instead)) = ELSEWHERE.iter().find(|(name, _)| *name == key) {
        return format!("unknown key `{key}`: {instead}");
    }
    let known: Vec<_> = known.split('`').skip(1).step_by(2).collect();
    unknown_name("key", "keys", key, &known)
}

/// Keys of other tools, and what to use instead.
const ELSEWHERE: [(&str, &str); 4] = [
    (
        "testDir",
        "experiments are test targets of cargo, in `tests` or where `[[test]]` in Cargo.toml says; `targets` names those to look at, as \
         in `targets = [\"evals\"]`",
    ),
    (
        "testMatch",
        "`targets` names the test targets to look at, with `*` and `?`, as in `targets = [\"eval*\"]`",
    ),
    (
        "plugins",
        "an evaluator of your own is a function with `#[cobalt::evaluator]`, in a crate that the test target depends on; \
         `evaluators` and experiments name it",
    ),
    ("history", "`[storage]` sets where runs are kept, as in `storage.history = \".cobalt/history.db\"`"),
];

/// Any other message, which speaks of Rust's types.
fn in_words_of_toml(message: &str) -> String {
    let words = [("a sequence", "a list"), ("a map", "a table"), ("path string", "a path in quotes")];
    let found = words.into_iter().find_map(|(rust, toml)| Some((message.strip_suffix(rust)?, toml)));
    found.map_or_else(|| message.to_owned(), |(message, toml)| format!("{message}{toml}"))
}
