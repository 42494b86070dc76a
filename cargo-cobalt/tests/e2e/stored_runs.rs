//! Folders with stored runs, for commands that read them.

use std::fs;
use std::time::{Duration, SystemTime};

use cobalt::Report;
use cobalt_core::report::{RunConfig, RunVerdict, Summary, Timestamp};
use tempfile::TempDir;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of a package without sources.
pub(crate) fn package() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"trial\"\n\n[workspace]\n").unwrap();
    folder
}

/// The report of a complete run that passed this many days ago, without items.
pub(crate) fn report(id: &str, name: &str, days_ago: u32) -> Report {
    Report {
        variant: None,
        rescored: None,
        schema: 1,
        run_name: None,
        note: None,
        id: id.to_owned(),
        name: name.to_owned(),
        timestamp: Timestamp::from(SystemTime::now() - DAY * days_ago),
        tags: Vec::new(),
        declared_at: None,
        config: RunConfig::default(),
        summary: Summary::default(),
        ci_status: None,
        passed: true,
        verdict: RunVerdict::Passed,
        partial: false,
        shard: None,
        shard_plan: None,
        shard_group: None,
        shards: Vec::new(),
        pooled: Vec::new(),
        dataset: None,
        git: None,
        sources: None,
        baseline: None,
        prices_as_of: None,
        redacted: false,
        items: Vec::new(),
    }
}
