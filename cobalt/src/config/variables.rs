//! The names of the environment variables.

use cobalt_core::wording;

/// The path of the file to read.
pub const CONFIG: &str = "COBALT_CONFIG";
/// Whether `[ci]` is in force.
pub const CI: &str = "COBALT_CI";
/// How many items of an experiment are worked on at a time.
pub const CONCURRENCY: &str = "COBALT_CONCURRENCY";
/// How often each item is run.
pub const RUNS: &str = "COBALT_RUNS";
/// How long a run of an item may take.
pub const TIMEOUT: &str = "COBALT_TIMEOUT";
/// Baseline files and result files to be held against, as a list in the form of `PATH`.
pub const BASELINE: &str = "COBALT_BASELINE";
/// What becomes of a threshold that noise may hide.
pub const ON_INCONCLUSIVE: &str = "COBALT_ON_INCONCLUSIVE";
/// The runs to take up again, by their ids, separated by commas.
pub(crate) const RESUME: &str = "COBALT_RESUME";
/// Which items are run, in place of all.
pub const ONLY: &str = "COBALT_ONLY";
/// The share of the items that is run.
pub const SHARD: &str = "COBALT_SHARD";
/// The variable in which `cargo cobalt run` hands over a hash of the package's sources.
pub const SOURCES: &str = "COBALT_SOURCES";
/// Whether data sets are never fetched.
pub const OFFLINE: &str = "COBALT_OFFLINE";
/// Since when a copy of a data set must have been fetched: a time, or `1` for the start of this process.
pub const REFRESH: &str = "COBALT_REFRESH";
/// The folder to use instead of `.cobalt`.
pub const DIR: &str = "COBALT_DIR";
/// The folder of the result files.
pub const RESULTS_DIR: &str = "COBALT_RESULTS_DIR";
/// The index of past runs.
pub const HISTORY_DB: &str = "COBALT_HISTORY_DB";
/// The folder of the answers of models.
pub const CACHE_DIR: &str = "COBALT_CACHE_DIR";
/// Whether answers of models are kept.
pub const CACHE: &str = "COBALT_CACHE";

/// Whether texts that have the form of a key are redacted.
pub const REDACTION_FORMS: &str = "COBALT_REDACTION_FORMS";

/// What a test binary is asked by `cargo cobalt`.
pub(crate) const REQUEST: &str = "COBALT_REQUEST";
/// What all our variables begin with.
const PREFIX: &str = "COBALT_";

/// Every variable that somebody may set for a run or for the command.
const KNOWN: [&str; 21] = [
    BASELINE,
    CACHE,
    CACHE_DIR,
    CI,
    CONCURRENCY,
    CONFIG,
    DIR,
    HISTORY_DB,
    OFFLINE,
    ONLY,
    ON_INCONCLUSIVE,
    REDACTION_FORMS,
    REFRESH,
    REQUEST,
    RESULTS_DIR,
    RESUME,
    RUNS,
    SHARD,
    SOURCES,
    TIMEOUT,
    // The token that the server of the dashboard asks for.
    "COBALT_TOKEN",
];
/// Those of this project's own tests, benchmarks and action, which nobody else has meant.
const OF_DEVELOPMENT: [&str; 8] = [
    "COBALT_BENCH_PYTHON",
    "COBALT_BIN",
    "COBALT_KILL_ROUNDS",
    "COBALT_REPOSITORY",
    "COBALT_SERVER",
    "COBALT_SHARED",
    "COBALT_TEST_PYTHON",
    "COBALT_VECTORS",
];

/// What is to be said of an environment variable that begins with `COBALT_` and that nothing reads, with the one that was
/// probably meant. `None` for every other variable.
///
/// ```
/// use cobalt::command::config::unknown_variable;
///
/// assert_eq!(unknown_variable("COBALT_TIMEOUT"), None);
/// assert!(unknown_variable("COBALT_TIMOUT").is_some_and(|text| text.ends_with("did you mean `COBALT_TIMEOUT`?")));
/// ```
#[must_use]
pub fn unknown_variable(name: &str) -> Option<String> {
    let (prefix, rest) = name.split_at_checked(PREFIX.len())?;
    let is_known = |known: &&str| *known == name || cfg!(windows) && known.eq_ignore_ascii_case(name);
    if !prefix.eq_ignore_ascii_case(PREFIX) || KNOWN.iter().chain(&OF_DEVELOPMENT).any(is_known) {
        return None;
    }
    let meant = wording::closest(rest, KNOWN.iter().map(|known| &known[PREFIX.len()..]));
    let instead = match meant {
        Some(meant) => format!("did you mean `{PREFIX}{meant}`?"),
        None => "the documentation of `cobalt::config` lists those that have a meaning".to_owned(),
    };
    Some(format!("the environment variable {name} is unknown, and changes nothing; {instead}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_variable_that_nothing_reads_is_told_with_the_one_that_was_meant() {
        for (name, meant) in [
            ("COBALT_CONCURENCY", "did you mean `COBALT_CONCURRENCY`?"),
            ("COBALT_RUN", "did you mean `COBALT_RUNS`?"),
            ("COBALT_ONINCONCLUSIVE", "did you mean `COBALT_ON_INCONCLUSIVE`?"),
            ("cobalt_shard", "did you mean `COBALT_SHARD`?"),
            ("COBALT_ELSE", "lists those that have a meaning"),
        ] {
            let said = unknown_variable(name).unwrap_or_default();
            assert!(said.contains(&format!("variable {name} is unknown")) && said.ends_with(meant), "{said}");
        }
        for name in ["COBALT_CI", "COBALT_SHARED", "COBALT_REQUEST", "COBALT", "CARGO_HOME", "PATH", "é"] {
            assert_eq!(unknown_variable(name), None, "{name}");
        }
    }

    /// Calls `note` with each word of the files of a folder that begins as our variables do.
    fn names(folder: &Path, note: &mut impl FnMut(&str, &Path)) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                names(&path, note);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            for (at, _) in text.match_indices(PREFIX) {
                let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
                let end = text[at..].find(|letter| !is_part(letter)).map_or(text.len(), |end| at + end);
                note(&text[at..end], &path);
            }
        }
    }

    #[test]
    fn every_variable_that_the_sources_speak_of_is_known() {
        // Here stand those that are unknown.
        let this = Path::new(file!()).file_name().unwrap();
        let mut found = 0;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for folder in
            ["cobalt/src", "cobalt/docs", "cobalt-core/src", "cargo-cobalt/src", "cobalt-macros/src"]
        {
            names(&workspace.join(folder), &mut |name, path| {
                let is_example = path.file_name() == Some(this) || name.starts_with("COBALT_TEST_OF");
                assert!(
                    is_example || name == PREFIX || unknown_variable(name).is_none(),
                    "{name} in {path:?}"
                );
                found += 1;
            });
        }
        assert!(found > 100, "{found}");
    }
}
