//! The names of Cobalt's environment variables.

use cobalt_core::wording;

/// The path of the file to read.
pub const CONFIG: &str = "COBALT_CONFIG";
/// Whether `[ci]` is active.
pub const CI: &str = "COBALT_CI";
/// Maximum items of an experiment in parallel.
pub const CONCURRENCY: &str = "COBALT_CONCURRENCY";
/// Trials per item.
pub const RUNS: &str = "COBALT_RUNS";
/// Time limit per trial.
pub const TIMEOUT: &str = "COBALT_TIMEOUT";
/// Baseline files and result files to compare with, separated as in `PATH`.
pub const BASELINE: &str = "COBALT_BASELINE";
/// How to treat inconclusive thresholds.
pub const ON_INCONCLUSIVE: &str = "COBALT_ON_INCONCLUSIVE";
/// IDs of the runs to resume, separated by commas.
pub(crate) const RESUME: &str = "COBALT_RESUME";
/// The runs whose stored outputs to score: IDs, prefixes of IDs or result files, separated by commas.
pub const SCORE: &str = "COBALT_SCORE";
/// The evaluators to run on them, separated by commas.
pub const SCORE_EVALUATORS: &str = "COBALT_SCORE_EVALUATORS";
/// Which items to run instead of all.
pub const ONLY: &str = "COBALT_ONLY";
/// The shard of the items to run.
pub const SHARD: &str = "COBALT_SHARD";
/// The job's number among those that run shards, from 0.
pub const SHARD_INDEX: &str = "COBALT_SHARD_INDEX";
/// The number of jobs that run shards.
pub const SHARD_TOTAL: &str = "COBALT_SHARD_TOTAL";
/// The name of the shard group.
pub const SHARD_GROUP: &str = "COBALT_SHARD_GROUP";
/// The token of a shard that is taken over, passed by `cargo cobalt merge --take-over` to the run that it starts.
pub const SHARD_TOKEN: &str = "COBALT_SHARD_TOKEN";
/// The file with the plans that balance shards.
pub const SHARD_PLANS: &str = "COBALT_SHARD_PLANS";
/// The variants to run, separated by commas.
pub const VARIANT: &str = "COBALT_VARIANT";
/// Changes of the variants' settings, separated by semicolons.
pub const SET: &str = "COBALT_SET";
/// The fault plan of all experiments.
pub const FAULTS: &str = "COBALT_FAULTS";
/// What may be spent on models, in USD.
pub const MAX_COST: &str = "COBALT_MAX_COST";
/// The file in which the processes of a call add up what they spend.
pub const LEDGER: &str = "COBALT_LEDGER";
/// Which workspaces to keep after their execution.
pub const KEEP_WORKSPACES: &str = "COBALT_KEEP_WORKSPACES";
/// How recordings of model traffic are used.
pub const RECORD: &str = crate::recording::RECORD_VARIABLE;
/// Recordings older than this are renewed.
pub const RECORD_STALE: &str = "COBALT_RECORD_STALE";
/// The gateway that a process is for itself.
pub(crate) const GATEWAY: &str = "COBALT_GATEWAY";
/// A hash of the package's sources, passed by `cargo cobalt run`.
pub const SOURCES: &str = "COBALT_SOURCES";
/// The git state of the sources, passed by `cargo cobalt run --archive`.
pub const GIT_STATE: &str = cobalt_core::store::GIT_STATE_VARIABLE;
/// Whether datasets are never fetched.
pub const OFFLINE: &str = "COBALT_OFFLINE";
/// Re-fetch dataset copies older than this: a time, or `1` for the start of this process.
pub const REFRESH: &str = "COBALT_REFRESH";
/// The directory to use instead of `.cobalt`.
pub const DIR: &str = "COBALT_DIR";
/// The directory at which relative paths of stored files start, instead of the workspace root; set for the binaries of an archive.
pub const STORAGE_ROOT: &str = "COBALT_STORAGE_ROOT";
/// The directory for result files.
pub const RESULTS_DIR: &str = "COBALT_RESULTS_DIR";
/// The index of past runs.
pub const HISTORY_DB: &str = "COBALT_HISTORY_DB";
/// The remote store of the team.
pub const REMOTE: &str = "COBALT_REMOTE";
/// The cache directory for model responses.
pub const CACHE_DIR: &str = "COBALT_CACHE_DIR";
/// Whether to cache model responses.
pub const CACHE: &str = "COBALT_CACHE";

/// Which events are logged.
pub const LOG: &str = crate::log::VARIABLE;
/// Whether to redact strings that look like keys.
pub const REDACTION_FORMS: &str = "COBALT_REDACTION_FORMS";

/// The request of `cargo cobalt` to a test binary.
pub(crate) const REQUEST: &str = "COBALT_REQUEST";
/// The prefix of all our variables.
const PREFIX: &str = "COBALT_";

/// Every variable that users may set for a run or for the command.
const KNOWN_VARIABLES: [&str; 41] = [
    BASELINE,
    CACHE,
    CACHE_DIR,
    CI,
    CONCURRENCY,
    CONFIG,
    DIR,
    FAULTS,
    GATEWAY,
    GIT_STATE,
    HISTORY_DB,
    KEEP_WORKSPACES,
    LEDGER,
    LOG,
    MAX_COST,
    OFFLINE,
    ONLY,
    ON_INCONCLUSIVE,
    RECORD,
    RECORD_STALE,
    REDACTION_FORMS,
    REFRESH,
    REMOTE,
    REQUEST,
    RESULTS_DIR,
    RESUME,
    RUNS,
    SCORE,
    SCORE_EVALUATORS,
    SET,
    SHARD,
    SHARD_GROUP,
    SHARD_INDEX,
    SHARD_PLANS,
    SHARD_TOKEN,
    SHARD_TOTAL,
    SOURCES,
    STORAGE_ROOT,
    TIMEOUT,
    VARIANT,
    // The access token of the dashboard's server.
    "COBALT_TOKEN",
];
/// Variables of this project's own tests, benchmarks and action; never suggested to users.
const DEVELOPMENT_VARIABLES: [&str; 8] = [
    "COBALT_BENCH_PYTHON",
    "COBALT_BIN",
    "COBALT_KILL_ROUNDS",
    "COBALT_REPOSITORY",
    "COBALT_SERVER",
    "COBALT_SHARED",
    "COBALT_TEST_PYTHON",
    "COBALT_VECTORS",
];

/// The warning for an unknown environment variable that begins with `COBALT_`, with the closest known name. `None` for any other
/// variable.
///
/// ```
/// use cobalt::command::config::unknown_variable_warning;
///
/// assert_eq!(unknown_variable_warning("COBALT_TIMEOUT"), None);
/// assert!(unknown_variable_warning("COBALT_TIMOUT").is_some_and(|text| text.ends_with("did you mean `COBALT_TIMEOUT`?")));
/// ```
#[must_use]
pub fn unknown_variable_warning(name: &str) -> Option<String> {
    let (prefix, rest) = name.split_at_checked(PREFIX.len())?;
    let is_known = |known: &&str| *known == name || cfg!(windows) && known.eq_ignore_ascii_case(name);
    if !prefix.eq_ignore_ascii_case(PREFIX)
        || KNOWN_VARIABLES.iter().chain(&DEVELOPMENT_VARIABLES).any(is_known)
    {
        return None;
    }
    let meant = wording::closest(rest, KNOWN_VARIABLES.iter().map(|known| &known[PREFIX.len()..]));
    let instead = match meant {
        Some(meant) => format!("did you mean `{PREFIX}{meant}`?"),
        None => "see `cobalt::configuration` in the documentation for the known ones".to_owned(),
    };
    Some(format!("unknown environment variable {name} has no effect; {instead}"))
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
            ("COBALT_ELSE", "for the known ones"),
        ] {
            let said = unknown_variable_warning(name).unwrap_or_default();
            assert!(
                said.contains(&format!("unknown environment variable {name} ")) && said.ends_with(meant),
                "{said}"
            );
        }
        for name in ["COBALT_CI", "COBALT_SHARED", "COBALT_REQUEST", "COBALT", "CARGO_HOME", "PATH", "é"] {
            assert_eq!(unknown_variable_warning(name), None, "{name}");
        }
    }

    /// Calls `note` with each `COBALT_…` name in the files of a directory.
    fn names(folder: &Path, note: &mut impl FnMut(&str, &Path)) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                names(&path, note);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            // A leading underscore marks variables between our own processes.
            for (at, _) in text.match_indices(PREFIX).filter(|(at, _)| !text[..*at].ends_with('_')) {
                let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
                let end = text[at..].find(|letter| !is_part(letter)).map_or(text.len(), |end| at + end);
                note(&text[at..end], &path);
            }
        }
    }

    #[test]
    fn every_variable_that_the_sources_speak_of_is_known() {
        // This file names unknown variables as examples.
        let this = Path::new(file!()).file_name().unwrap();
        let mut found = 0;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for folder in [
            "cobalt/src",
            "cobalt/docs",
            "cobalt-core/src",
            "cargo-cobalt/src",
            "cobalt-macros/src",
            "crates",
        ] {
            names(&workspace.join(folder), &mut |name, path| {
                let is_example = path.file_name() == Some(this) || name.starts_with("COBALT_TEST_OF");
                assert!(
                    is_example || name == PREFIX || unknown_variable_warning(name).is_none(),
                    "{name} in {path:?}"
                );
                found += 1;
            });
        }
        assert!(found > 100, "{found}");
    }
}
