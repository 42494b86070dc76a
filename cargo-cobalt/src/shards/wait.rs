//! `cargo cobalt merge --remote`: waits for the shards of a group, takes over dead ones, and fetches their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cobalt::command::config::{Config, ShardGroup};
use cobalt_core::report::Shard;
use cobalt_core::wording::count;

use super::group::{Progress, ShardGroupState};
use super::heartbeat::Channel;
use super::take_over::TakeOver;
use crate::cli::Merge;
use crate::error::{CommandError, Error, ErrorKind};
use crate::remote::Remote;
use crate::terminal::{eprint_wrapped, one_line};

/// How often the store is read.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// The highest number of shards in a message.
const MAX_NAMED: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    #[error(
        "the group of the shards is unknown; name it, as in `--remote nightly-7`: it is what `cargo cobalt run --shard-group` was \
         given, or the ID of the CI pipeline"
    )]
    NoGroup,

    #[error(
        "no shard of the group `{group}` in `{url}`; run them with `cargo cobalt run --shard 1/2 --shard-group {group} --push`, and \
         check the name and the store"
    )]
    NoShards { group: String, url: String },

    #[error("{unfinished}; waited {waited}. {advice}", waited = humantime::format_duration(*.waited))]
    Unfinished { unfinished: String, waited: Duration, advice: String },
}

impl CommandError for WaitError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoGroup => ErrorKind::Arguments,
            Self::NoShards { .. } => ErrorKind::NothingMatched,
            Self::Unfinished { .. } => ErrorKind::Setup,
        }
    }
}

/// Waits until all shards of a group are finished. Returns the result files of their newest runs.
pub fn await_group(
    named: Option<&ShardGroup>,
    arguments: &Merge,
    settings: &Config,
) -> Result<Vec<PathBuf>, Error> {
    let group = named.or(settings.shard_group()).ok_or(WaitError::NoGroup)?.to_string();
    let (remote, layout) = (Arc::new(Remote::open(settings)?), settings.layout());
    remote.prepare(layout)?;
    let channel = Channel {
        remote: Arc::clone(&remote),
        group: group.clone(),
        layout: layout.clone(),
        sends_journals: !settings.remote().redacts,
    };
    let mut known = ShardGroupState::new(&remote, &group, layout, arguments.dead_after);
    let start = Instant::now();
    let mut shown = None;
    loop {
        let shards = known.read()?;
        if !shards.is_empty() && shards.values().all(|progress| *progress == Progress::Finished) {
            break;
        }
        if arguments.take_over && take_over_first(&shards, arguments, &known, &channel, settings)? {
            shown = None;
            continue;
        }
        let outline = outline(&shards);
        if shown.as_ref() != Some(&outline) {
            eprint_wrapped(&format!("waiting for group `{group}`: {outline}"));
            shown = Some(outline);
        }
        if start.elapsed() >= arguments.wait {
            return Err(match shards.is_empty() {
                true => WaitError::NoShards { group: group.clone(), url: one_line(remote.url()) }.into(),
                false => unfinished(&shards, &group, arguments).into(),
            });
        }
        thread::sleep(POLL_EVERY.min(arguments.wait.saturating_sub(start.elapsed())));
    }
    let paths = remote.fetch_all(&known.newest_runs(), layout);
    Ok(paths.into_iter().collect::<Result<_, _>>()?)
}

/// Takes over a dead shard, if there is one.
fn take_over_first(
    shards: &BTreeMap<Shard, Progress>,
    arguments: &Merge,
    known: &ShardGroupState<'_>,
    channel: &Channel,
    settings: &Config,
) -> Result<bool, Error> {
    for (shard, progress) in shards {
        let Progress::Dead { silent, status } = progress else { continue };
        let take_over = TakeOver {
            channel: channel.clone(),
            redacts: settings.remote().redacts.then(|| settings.prices()),
            config: arguments.settings.config.as_deref(),
            arguments: &arguments.run,
        };
        if take_over.take_over(status, *silent, known)? {
            eprint_wrapped(&format!("shard {shard} is finished"));
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many shards are in which state, and which ones.
fn outline(shards: &BTreeMap<Shard, Progress>) -> String {
    if shards.is_empty() {
        return "no shard has started".to_owned();
    }
    let of = |is: &dyn Fn(&Progress) -> bool| {
        shards.iter().filter(|(_, progress)| is(progress)).map(|(shard, _)| *shard).collect::<Vec<_>>()
    };
    let finished = of(&|progress| *progress == Progress::Finished).len();
    let states: [(&str, Vec<Shard>); 3] = [
        ("running", of(&|progress| matches!(progress, Progress::Running { .. }))),
        ("dead", of(&|progress| matches!(progress, Progress::Dead { .. }))),
        ("not started", of(&|progress| *progress == Progress::Missing)),
    ];
    let others = states.into_iter().filter(|(_, shards)| !shards.is_empty());
    let others: String = others.map(|(what, shards)| format!("; {what}: {}", names(&shards))).collect();
    format!("{finished} of {} finished{others}", count(shards.len(), "shard"))
}

fn names(shards: &[Shard]) -> String {
    let named: Vec<_> = shards.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    match shards.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The error for shards that are not finished, with what to do.
fn unfinished(shards: &BTreeMap<Shard, Progress>, group: &str, arguments: &Merge) -> WaitError {
    let is_dead = |progress: &Progress| matches!(progress, Progress::Dead { .. });
    let missing =
        shards.iter().find(|(_, progress)| **progress == Progress::Missing).map(|(shard, _)| *shard);
    let mut advice = Vec::new();
    if let Some(shard) = missing {
        advice.push(format!(
            "Start missing shards, as with `cargo cobalt run --shard {shard} --shard-group {group} --push`"
        ));
    }
    if shards.values().any(is_dead) && !arguments.take_over {
        advice.push("Run what dead shards have left with --take-over".to_owned());
    }
    if shards.values().any(|progress| matches!(progress, Progress::Running { .. })) {
        advice.push("Wait longer for running shards, with --wait".to_owned());
    }
    let advice = advice.join(". ");
    WaitError::Unfinished { unfinished: outline(shards), waited: arguments.wait, advice }
}
