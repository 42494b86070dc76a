//! Command-line definition of `cargo cobalt merge`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use cobalt::command::config::ShardGroup;

use super::{OutcomeOptions, Settings};

/// A running shard sends a heartbeat every 10 seconds; some may be late.
const SHORTEST_DEAD_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub struct Merge {
    /// Result files of shards, or folders to search for them recursively
    #[arg(value_name = "PATH", required_unless_present = "remote", conflicts_with = "remote")]
    pub paths: Vec<PathBuf>,

    /// Merge the shards that were pushed to the remote store: wait for them, and push the merged runs
    ///
    /// The store is that of cobalt.toml or COBALT_REMOTE, or this URL or folder. A value without `/` and `:` is the name of the shard
    /// group instead, as with `--shard-group`.
    #[arg(long, value_name = "URL|GROUP", num_args = 0..=1)]
    pub remote: Option<Option<StoreOrGroup>>,

    /// Name of the shard group to merge [default with --remote: the CI pipeline's or Slurm array's ID]
    #[arg(long, value_name = "NAME")]
    pub shard_group: Option<ShardGroup>,

    /// How long to wait for the shards of --remote, e.g. `30m`; with `0s`, unfinished shards are an error
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = humantime::parse_duration)]
    pub wait: Duration,

    /// Consider a shard dead after this long without a heartbeat; running shards send one every 10 seconds
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_dead_after)]
    pub dead_after: Duration,

    /// Run the remaining items of dead and stopped shards on this machine; finished items are not run again
    ///
    /// Filters, budget, concurrency and similar options are those of the shard. Arguments after `--` are passed to `cargo cobalt run` and
    /// take precedence, e.g. `-- --release`. A shard that has used up its budget is taken over only with `-- --max-cost USD`.
    #[arg(long, requires = "remote")]
    pub take_over: bool,

    /// Merge the results of the shard group again, although they were merged before
    #[arg(long, requires = "remote")]
    pub again: bool,

    /// Exit with 1 if a test case fails; also evaluate the thresholds of `[ci]`
    #[arg(long)]
    pub ci: bool,

    /// Push the merged runs to the team's remote store
    ///
    /// A failure is a warning with the command that repeats it; the exit code is that of the merge.
    #[arg(long)]
    pub push: bool,

    /// Use the settings and the baselines of this archive, e.g. where there is no checkout; --take-over runs its test binaries
    #[arg(long, value_name = "FILE", help_heading = "Archive options")]
    pub archive: Option<PathBuf>,

    /// Folder for the unpacked archive, for --take-over
    #[arg(long, value_name = "DIR", requires_all = ["archive", "take_over"], help_heading = "Archive options")]
    pub extract_to: Option<PathBuf>,

    /// Checkout of the workspace; required for nextest archives
    #[arg(long, value_name = "DIR", requires = "archive", help_heading = "Archive options")]
    pub workspace_remap: Option<PathBuf>,

    #[command(flatten)]
    pub outcome: OutcomeOptions,

    #[command(flatten)]
    pub settings: Settings,

    /// Arguments for `cargo cobalt run`, with --take-over
    #[arg(last = true, value_name = "ARGUMENTS", requires = "take_over")]
    pub run: Vec<String>,
}

impl Merge {
    /// The remote store, if one is given.
    pub fn store(&self) -> Option<&str> {
        match self.remote.as_ref()?.as_ref()? {
            StoreOrGroup::Store(url) => Some(url),
            StoreOrGroup::Group(_) => None,
        }
    }

    /// The shard group, if one is given.
    pub fn group(&self) -> Option<&ShardGroup> {
        self.shard_group.as_ref().or_else(|| self.remote_group())
    }

    /// The group that is given as the value of `--remote`.
    pub fn remote_group(&self) -> Option<&ShardGroup> {
        match self.remote.as_ref()?.as_ref()? {
            StoreOrGroup::Group(group) => Some(group),
            StoreOrGroup::Store(_) => None,
        }
    }
}

/// The value of `--remote`; a store is checked when the settings are read, as its error must not show a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOrGroup {
    Store(String),
    Group(ShardGroup),
}

impl FromStr for StoreOrGroup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.contains(['/', ':', '\\']) {
            true => Ok(Self::Store(text.to_owned())),
            false => text.parse().map(Self::Group).map_err(|error: &str| {
                format!("{error}, as the name of a shard group; for a folder, write `./{text}`")
            }),
        }
    }
}

fn parse_dead_after(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match time >= SHORTEST_DEAD_AFTER {
        true => Ok(time),
        false => Err("expected at least `30s`: a heartbeat may be late".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_or_a_path_is_a_store_and_a_name_is_a_group() {
        for text in ["s3://bucket/prefix", "./store", "/mnt/store", "C:\\store"] {
            assert!(matches!(text.parse(), Ok(StoreOrGroup::Store(_))), "{text}");
        }
        assert!(matches!("nightly-7".parse(), Ok(StoreOrGroup::Group(_))));
        assert!("a b".parse::<StoreOrGroup>().unwrap_err().contains("write `./a b`"));
    }

    #[test]
    fn a_late_heartbeat_is_not_a_death() {
        assert_eq!(parse_dead_after("30s"), Ok(SHORTEST_DEAD_AFTER));
        assert!(parse_dead_after("29s").is_err() && parse_dead_after("soon").is_err());
    }
}
