//! Configuration errors. Each names the file and location, or the variable.

use std::io;
use std::path::{Path, PathBuf};

use cobalt_core::redact::redacted;
use cobalt_core::report::Shard;
use cobalt_core::wording::{self, line_and_column, unknown_name_message};

use super::ci_shard::AutoShardError;
use super::remote_url::CREDENTIAL_HINT;
use super::settings::{Origin, RerunMode, dotted_key};
use super::variables::{BASELINE, SCORE};

/// Why the configuration is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// An existing or explicitly requested file could not be read.
    #[error("failed to read `{}`: {source}{hint}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// What requested the file, or what to do; may be empty.
        hint: &'static str,
    },

    /// A file with a similar name is in a directory where the configuration is looked up.
    #[error("`{}` is not read; rename it to `cobalt.toml`", .path.display())]
    Misnamed {
        /// The file.
        path: PathBuf,
    },

    /// The content of the file is invalid.
    #[error("{}:{line}:{column}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// The expected and the actual content.
        problem: String,
    },

    /// An environment variable has an invalid value.
    #[error("{name} is `{value}`; expected {expected}")]
    InvalidVariable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },

    /// An environment variable has a value of several parts, and one of them is invalid.
    #[error("{name}: {problem}")]
    MalformedVariable {
        /// The variable.
        name: &'static str,
        /// The invalid part, and what is expected.
        problem: String,
    },

    /// A flag has a value whose parts are invalid; it is not repeated.
    #[error("{name}: {problem}")]
    MalformedFlag {
        /// The flag.
        name: &'static str,
        /// The invalid part, and what is expected.
        problem: String,
    },

    /// The file defines no dataset of the requested name.
    #[error("{}", unknown_dataset_message(.name, .file.as_deref(), .workspace, .names))]
    UnknownDataset {
        /// The requested name.
        name: String,
        /// The file that was read, if any.
        file: Option<PathBuf>,
        /// The workspace root.
        workspace: PathBuf,
        /// The names of the defined datasets.
        names: Vec<String>,
    },

    /// A shard was combined with a selection of items that depends on local results.
    #[error(
        "cannot combine --shard {shard} (or COBALT_SHARD) with {} (or COBALT_ONLY), which depends on local results; remove one of \
         them",
        match .only { RerunMode::Failed => "--rerun-failed", RerunMode::Changed => "--changed" }
    )]
    ShardWithRerun {
        /// The requested items.
        only: RerunMode,
        /// The requested shard of them.
        shard: Shard,
    },

    /// The shard of the job is unknown.
    #[error(transparent)]
    AutoShard(#[from] AutoShardError),

    /// Stored outputs are scored as a whole.
    #[error("cannot combine {SCORE} with {other}: all stored outputs of a run are scored; unset one of them")]
    ScoreWith {
        /// The other variable.
        other: &'static str,
    },

    /// The path of a baseline cannot be passed to the test binaries.
    #[error(
        "cannot pass the path of a baseline in {BASELINE}: {reason}; move the file or rename its directory"
    )]
    InvalidBaselinePath {
        /// The system's reason.
        reason: String,
    },
}

/// The message for an unknown dataset: the defined ones, or how to add one.
fn unknown_dataset_message(name: &str, file: Option<&Path>, workspace: &Path, names: &[String]) -> String {
    let table = dotted_key("datasets", name);
    match file {
        Some(file) if names.is_empty() => {
            format!("no dataset `{name}` in `{}`; add a table [{table}]", file.display())
        }
        Some(file) => {
            let instead = wording::suggest_or_list(name, names.iter().map(String::as_str));
            format!("no dataset `{name}` in `{}`; {instead}", file.display())
        }
        None => format!(
            "no dataset `{name}`, because there is no `cobalt.toml`; create one in `{}` with a table [{table}]",
            workspace.display()
        ),
    }
}

/// A location in a file.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    path: PathBuf,
    line: usize,
    column: usize,
}

impl Location {
    /// The location of the byte `at` in a file's text.
    pub(super) fn of(path: &Path, text: &str, at: usize) -> Self {
        Self::at(path, line_and_column(text, at))
    }

    /// A line and a column of a file.
    pub(super) fn at(path: &Path, (line, column): (usize, usize)) -> Self {
        Self { path: path.to_owned(), line, column }
    }

    /// The location as an origin. Its path is relative to the workspace root if the file is inside it.
    pub(super) fn origin(&self, workspace: &Path) -> Origin {
        let file = self.path.strip_prefix(workspace).unwrap_or(&self.path).display().to_string();
        Origin::File { file, line: self.line }
    }

    pub(crate) fn error(&self, problem: &str) -> ConfigError {
        let Self { path, line, column } = self.clone();
        ConfigError::Malformed { path, line, column, problem: redacted(problem).into_owned() }
    }
}

/// Adds the location to a parser error; an error without one is placed at byte `around`, the start of the parsed value.
pub fn parse_error(path: &Path, text: &str, error: &toml::de::Error, around: usize) -> ConfigError {
    let at = error.span().map_or(around, |span| span.start);
    Location::of(path, text, at).error(&describe_parse_error(error.message()))
}

/// The parser's message, with a suggestion for a misspelt key.
fn describe_parse_error(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("missing field `") {
        let key = rest.trim_end_matches('`');
        return format!("the key `{key}` is missing");
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "));
    let Some((key, known)) = unknown else { return with_toml_types(message) };
    if let Some((_, instead)) = KEYS_OF_OTHER_TOOLS.iter().find(|(name, _)| *name == key) {
        return format!("unknown key `{key}`: {instead}");
    }
    let known: Vec<_> = known.split('`').skip(1).step_by(2).collect();
    if known.contains(&"remote") && CREDENTIALS.iter().any(|word| key.contains(word)) {
        return format!("unknown key `{key}`: {CREDENTIAL_HINT}");
    }
    unknown_name_message("key", "keys", key, &known)
}

/// Words in the names of keys that would hold credentials of the remote store.
const CREDENTIALS: [&str; 5] = ["key", "secret", "token", "password", "credential"];

/// Keys of other tools, with their replacements.
const KEYS_OF_OTHER_TOOLS: [(&str, &str); 4] = [
    (
        "testDir",
        "experiments are Cargo test targets, in `tests` or as declared by `[[test]]` in Cargo.toml; use `targets` to select some, as in \
         `targets = [\"evals\"]`",
    ),
    ("testMatch", "use `targets` to select test targets, with `*` and `?`, as in `targets = [\"eval*\"]`"),
    (
        "plugins",
        "a custom evaluator is a function with `#[cobalt::evaluator]`, in a crate that the test target depends on; list its name in \
         `evaluators` or in an experiment",
    ),
    (
        "history",
        "use `[storage]` to choose where runs are stored, as in `storage.history = \".cobalt/history.db\"`",
    ),
];

/// Any other message, with TOML's types instead of Rust's.
fn with_toml_types(message: &str) -> String {
    let words = [("a sequence", "a list"), ("a map", "a table"), ("path string", "a path in quotes")];
    let found = words.into_iter().find_map(|(rust, toml)| Some((message.strip_suffix(rust)?, toml)));
    found.map_or_else(|| message.to_owned(), |(message, toml)| format!("{message}{toml}"))
}
