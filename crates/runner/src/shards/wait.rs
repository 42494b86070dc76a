//! `cargo cobalt merge --remote`: waits for the shards of a group, takes over dead ones, and fetches their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cobalt::command::config::Config;
use cobalt_core::report::Shard;
use cobalt_core::wording::count;

use super::group::{Progress, ShardGroupState};
use super::heartbeat::Channel;
use super::merged::{MergedResults, delete_journals};
use super::options::GivenArguments;
use super::take_over::TakeOver;
use crate::cli::Merge;
use crate::error::{CommandError, Error, ErrorKind};
use crate::interrupt;
use crate::remote::{Remote, RemoteEntry};
use crate::terminal::{eprint_wrapped, one_line};

/// How often the store is read.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How often a signal is looked for meanwhile.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);
/// The highest number of shards in a message.
const MAX_NAMED: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    #[error(
        "the group of the shards is unknown; add --shard-group NAME, the name passed to --shard-group of `cargo cobalt run`, or the CI \
         pipeline's ID"
    )]
    NoGroup,

    #[error(
        "no shard of the group `{group}` in `{url}`; run them with `cargo cobalt run --shard 1/2 --shard-group {group} --push`, and \
         check the name and the store"
    )]
    NoShards { group: String, url: String },

    #[error(
        "nothing to merge: the shards of the group `{group}` are finished, but had no items to run; check the filters of `cargo cobalt \
         run`"
    )]
    NothingRun { group: String },

    #[error("{unfinished}; waited {waited}. {advice}", waited = humantime::format_duration(*.waited))]
    Unfinished { unfinished: String, waited: Duration, advice: String },
}

impl CommandError for WaitError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoGroup => ErrorKind::Arguments,
            Self::NoShards { .. } | Self::NothingRun { .. } => ErrorKind::NothingMatched,
            Self::Unfinished { .. } => ErrorKind::Setup,
        }
    }
}

/// The runs of a finished group.
#[derive(Debug)]
pub struct FinishedGroup {
    remote: Arc<Remote>,
    group: String,
    results: MergedResults,
    /// The result files of the newest runs.
    pub paths: Vec<PathBuf>,
}

impl FinishedGroup {
    /// Notes in the store that the results are merged, and deletes the journals, which are not needed any more.
    pub fn merged(&self) -> Result<(), Error> {
        self.results.write(&self.remote, &self.group)?;
        delete_journals(&self.remote, &self.group)
    }
}

/// Waits until all shards of a group are finished.
pub fn await_group(arguments: &Merge, settings: &Config) -> Result<FinishedGroup, Error> {
    interrupt::install_handler()?;
    let group = settings.shard_group().ok_or(WaitError::NoGroup)?.to_string();
    let (remote, layout) = (Arc::new(Remote::open(settings)?), settings.layout());
    let take_over =
        arguments.take_over.then(|| take_over(arguments, settings, &remote, &group)).transpose()?;
    remote.prepare(layout)?;
    let merged = match arguments.again {
        true => MergedResults::default(),
        false => MergedResults::read(&remote, &group)?,
    };
    let mut known = ShardGroupState::new(&remote, &group, layout, arguments.dead_after, merged);
    let start = Instant::now();
    let mut shown = None;
    loop {
        let shards = known.read()?;
        if !shards.is_empty() && shards.values().all(|progress| *progress == Progress::Finished) {
            break;
        }
        if let Some(take_over) = &take_over
            && take_over_first(take_over, &shards, &known)?
        {
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
        sleep(POLL_INTERVAL.min(arguments.wait.saturating_sub(start.elapsed())))?;
    }
    let runs = known.newest_runs();
    if runs.is_empty() {
        return Err(WaitError::NothingRun { group: group.clone() }.into());
    }
    eprint_wrapped(&format!("merging group `{group}`: {}", ages(&runs)));
    let paths = remote.fetch_all(&runs, layout).into_iter().collect::<Result<_, _>>()?;
    let results = known.results()?;
    drop(known);
    Ok(FinishedGroup { remote, group, results, paths })
}

/// Waits, unless the user interrupts it.
fn sleep(time: Duration) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
        match time.saturating_sub(start.elapsed()) {
            Duration::ZERO => return Ok(()),
            left => thread::sleep(left.min(SIGNAL_INTERVAL)),
        }
    }
}

fn take_over<'a>(
    arguments: &'a Merge,
    settings: &'a Config,
    remote: &Arc<Remote>,
    group: &str,
) -> Result<TakeOver<'a>, Error> {
    let given = GivenArguments::parse(&arguments.run)?;
    let store = arguments.store().map(|_| format!("--remote={}", remote.url()));
    let archive = [
        ("archive", arguments.archive.as_deref()),
        ("extract-to", arguments.extract_to.as_deref()),
        ("workspace-remap", arguments.workspace_remap.as_deref()),
    ];
    let archive = archive.into_iter().filter(|_| !given.has_archive());
    let archive = archive.filter_map(|(name, path)| Some(format!("--{name}={}", path?.display())));
    Ok(TakeOver {
        channel: Channel {
            remote: Arc::clone(remote),
            group: group.to_owned(),
            layout: settings.layout().clone(),
            sends_journals: !settings.remote().redacts,
            stop: interrupt::stop,
        },
        redacts: settings.remote().redacts.then(|| settings.prices()),
        config: arguments.settings.config.as_deref(),
        sources: store.into_iter().chain(archive).collect(),
        given,
    })
}

/// Takes over a dead or stopped shard, if there is one.
fn take_over_first(
    take_over: &TakeOver<'_>,
    shards: &BTreeMap<Shard, Progress>,
    known: &ShardGroupState<'_>,
) -> Result<bool, Error> {
    for (shard, progress) in shards {
        let Some((status, why)) = take_over.unfinished(progress) else { continue };
        if take_over.take_over(status, &why, known)? {
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
    let finished = shards.values().filter(|progress| **progress == Progress::Finished).count();
    let mut others = String::new();
    for what in ["merged before", "running", "stopped", "over budget", "dead", "not started"] {
        let those = shards.iter().filter(|(_, progress)| name_of(progress) == what);
        let those: Vec<_> = those.map(|(shard, _)| *shard).collect();
        if !those.is_empty() {
            others += &format!("; {what}: {}", names(&those));
        }
    }
    format!("{finished} of {} finished{others}", count(shards.len(), "shard"))
}

fn name_of(progress: &Progress) -> &'static str {
    match progress {
        Progress::Finished => "finished",
        Progress::Merged => "merged before",
        Progress::Running { .. } => "running",
        Progress::Stopped { .. } => "stopped",
        Progress::BudgetSpent { .. } => "over budget",
        Progress::Dead { .. } => "dead",
        Progress::Missing => "not started",
    }
}

fn names(shards: &[Shard]) -> String {
    let named: Vec<_> = shards.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    match shards.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// How many runs are merged, and how old they are: a group can be used again.
fn ages(runs: &[&RemoteEntry]) -> String {
    let now = SystemTime::now();
    let age = |entry: &&RemoteEntry| {
        let pushed = humantime::parse_rfc3339(&entry.pushed_at).ok()?;
        Some(now.duration_since(pushed).unwrap_or_default().as_secs())
    };
    let ages: Vec<_> = runs.iter().filter_map(age).collect();
    let shown = |seconds: u64| humantime::format_duration(Duration::from_secs(seconds)).to_string();
    let runs = count(runs.len(), "run");
    match (ages.iter().min(), ages.iter().max()) {
        (Some(newest), Some(oldest)) if newest != oldest => {
            format!("{runs}, pushed between {} and {} ago", shown(*newest), shown(*oldest))
        }
        (Some(age), _) => format!("{runs}, pushed {} ago", shown(*age)),
        _ => runs,
    }
}

/// The error for shards that are not finished, with what to do.
fn unfinished(shards: &BTreeMap<Shard, Progress>, group: &str, arguments: &Merge) -> WaitError {
    let has = |what: &[&str]| shards.values().any(|progress| what.contains(&name_of(progress)));
    let mut advice = Vec::new();
    if let Some((shard, _)) = shards.iter().find(|(_, progress)| **progress == Progress::Missing) {
        advice.push(format!(
            "Start missing shards, as with `cargo cobalt run --shard {shard} --shard-group {group} --push`"
        ));
    }
    if has(&["dead", "stopped"]) && !arguments.take_over {
        advice.push("Run the remaining items of dead and stopped shards with --take-over".to_owned());
    }
    if has(&["over budget"]) {
        advice
            .push("Run the items that the budget left over with `--take-over -- --max-cost USD`".to_owned());
    }
    if has(&["running"]) {
        advice.push("Wait longer for running shards, with --wait".to_owned());
    }
    if has(&["merged before"]) {
        advice.push("Merge earlier results again with --again".to_owned());
    }
    let advice = advice.join(". ");
    WaitError::Unfinished { unfinished: outline(shards), waited: arguments.wait, advice }
}
