//! Groups of shards in a folder as the remote store: how far each shard is, and journals in segments.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use cobalt::command::config::Config;
use cobalt_core::report::{Shard, ShardPlan, ShardPlans};
use cobalt_core::store::Layout;
use tempfile::TempDir;

use super::group::{Progress, ShardGroupState};
use super::heartbeat::{Channel, Heartbeat};
use super::journal::{SentJournal, delete_journal, fetch_journal};
use super::layout;
use super::merged::{MergedResults, delete_journals};
use super::options::ShardOptions;
use super::remote_plans::plans_of_group;
use super::status::{ShardState, ShardStatus};
use crate::remote::Remote;

const GROUP: &str = "g";
const ID: &str = "5ea00522f3eb";
const LONG: Duration = Duration::from_secs(60);

/// A machine with its own folder, and a store that other machines may share.
struct Machine {
    folder: TempDir,
    settings: Config,
    remote: Arc<Remote>,
}

impl Machine {
    fn with_store(store: &TempDir) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = store.path().as_os_str().to_owned();
        let settings =
            Config::load(folder.path(), |name| (name == "COBALT_REMOTE").then(|| url.clone())).unwrap();
        let remote = Arc::new(Remote::open(&settings).unwrap());
        remote.prepare(settings.layout()).unwrap();
        Self { folder, settings, remote }
    }

    fn layout(&self) -> &Layout {
        self.settings.layout()
    }

    fn channel(&self) -> Channel {
        Channel {
            remote: Arc::clone(&self.remote),
            group: GROUP.to_owned(),
            layout: self.layout().clone(),
            sends_journals: true,
            stop: || (),
        }
    }

    fn write_journal(&self, text: &str) {
        fs::create_dir_all(self.layout().journals()).unwrap();
        fs::write(self.layout().journal(ID), text).unwrap();
    }

    fn write_status(&self, status: &ShardStatus) {
        let object = layout::status(GROUP, status.shard);
        self.remote.put(&object, serde_json::to_vec(status).unwrap()).unwrap();
    }

    /// The states of the shards, if a shard is dead after this time.
    fn progress(&self, dead_after: Duration) -> Vec<Progress> {
        self.state(dead_after, MergedResults::default()).read().unwrap().into_values().collect()
    }

    fn state(&self, dead_after: Duration, merged: MergedResults) -> ShardGroupState<'_> {
        ShardGroupState::new(&self.remote, GROUP, self.layout(), dead_after, merged)
    }

    /// The stored state of a shard.
    fn read_status(&self, text: &str) -> ShardStatus {
        let object = layout::status(GROUP, shard(text));
        ShardStatus::parse(GROUP, &object, &self.remote.get(&object).unwrap().unwrap(), &self.remote).unwrap()
    }
}

fn shard(text: &str) -> Shard {
    text.parse().unwrap()
}

/// The state of a shard of `desk` that starts.
fn new_status(text: &str) -> ShardStatus {
    ShardStatus::new(shard(text), vec!["desk".to_owned()], ShardOptions::default())
}

/// The state of a shard that has started a run of `desk`.
fn status(text: &str) -> ShardStatus {
    let mut status = new_status(text);
    status.runs.insert("desk".to_owned(), ID.to_owned());
    status
}

#[test]
fn a_journal_is_sent_in_complete_lines_and_joined_again() {
    let store = tempfile::tempdir().unwrap();
    let (one, other) = (Machine::with_store(&store), Machine::with_store(&store));
    let mut journal = SentJournal::new(ID.to_owned(), one.layout());
    assert!(!journal.send(&one.remote, GROUP).unwrap(), "there is no journal yet");
    for (text, has_grown) in [
        ("head\n", true),
        ("head\nfirst\nsec", true),
        ("head\nfirst\nsec", false),
        ("head\nfirst\nsecond\n", true),
    ] {
        one.write_journal(text);
        assert_eq!(journal.send(&one.remote, GROUP).unwrap(), has_grown, "{text:?}");
    }
    // A later process of the same run sends it from the beginning, cut at other places.
    let mut again = SentJournal::new(ID.to_owned(), one.layout());
    one.write_journal("head\nfirst\nsecond\nthird\n");
    assert!(again.send(&one.remote, GROUP).unwrap());

    assert!(fetch_journal(&other.remote, GROUP, ID, other.layout()).unwrap());
    let fetched = fs::read_to_string(other.layout().journal(ID)).unwrap();
    assert_eq!(fetched, "head\nfirst\nsecond\nthird\n");
    // The own journal of a machine is not replaced.
    other.write_journal("mine\n");
    assert!(fetch_journal(&other.remote, GROUP, ID, other.layout()).unwrap());
    assert_eq!(fs::read_to_string(other.layout().journal(ID)).unwrap(), "mine\n");

    delete_journal(&other.remote, GROUP, ID).unwrap();
    let third = Machine::with_store(&store);
    assert!(!fetch_journal(&third.remote, GROUP, ID, third.layout()).unwrap());
    assert!(!third.layout().journal(ID).exists() && third.folder.path().exists());
}

#[test]
fn a_long_journal_is_sent_in_segments_and_one_that_cannot_be_read_does_not_hold_up_others() {
    let store = tempfile::tempdir().unwrap();
    let (one, other) = (Machine::with_store(&store), Machine::with_store(&store));
    let line = format!("{}\n", "x".repeat(3 << 20));
    one.write_journal(&line.repeat(5));
    // A folder in the place of a journal.
    fs::create_dir(one.layout().journal("aaaaaaaaaaaa")).unwrap();
    let runs = [("broken".to_owned(), "aaaaaaaaaaaa".to_owned()), ("desk".to_owned(), ID.to_owned())];
    let heartbeat = Heartbeat::start(one.channel(), ShardStatus { runs: runs.into(), ..new_status("1/1") });
    assert!(heartbeat.unwrap().end(ShardState::Stopped).is_err());
    let segments = one.remote.list(&layout::journal(GROUP, ID)).unwrap();
    assert_eq!(segments.len(), 3, "two lines each");
    assert!(fetch_journal(&other.remote, GROUP, ID, other.layout()).unwrap());
    assert_eq!(fs::read_to_string(other.layout().journal(ID)).unwrap(), line.repeat(5));
    delete_journals(&one.remote, GROUP).unwrap();
    assert!(one.remote.list(&layout::journal(GROUP, ID)).unwrap().is_empty());
    assert_eq!(one.read_status("1/1").state, ShardState::Stopped, "states stay");
}

#[test]
fn a_shard_without_heartbeats_is_dead_and_one_without_a_state_is_missing() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    assert!(machine.progress(LONG).is_empty(), "no shard has started");
    machine.write_status(&status("1/3"));
    machine.write_status(&ShardStatus { state: ShardState::Finished, ..status("3/3") });
    let progress = machine.progress(LONG);
    assert!(matches!(&progress[..], [Progress::Running { .. }, Progress::Missing, Progress::Finished]));
    sleep(Duration::from_millis(30));
    let dead = machine.progress(Duration::from_millis(20));
    assert!(matches!(&dead[0], Progress::Dead { status, .. } if status.shard == shard("1/3")), "{dead:?}");
    machine.write_status(&ShardStatus { state: ShardState::Stopped, ..status("1/3") });
    assert!(matches!(&machine.progress(LONG)[0], Progress::Stopped { .. }), "its state says so");
    machine.write_status(&ShardStatus { state: ShardState::BudgetSpent, ..status("1/3") });
    assert!(matches!(&machine.progress(LONG)[0], Progress::BudgetSpent { .. }));

    machine.write_status(&status("1/2"));
    let error = machine.state(LONG, MergedResults::default()).read().unwrap_err().to_string();
    assert_eq!(error, "the group `g` mixes shards of 2 and of 3; use a different --shard-group for each set");
}

#[test]
fn results_that_were_merged_count_only_once() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let finished = |text: &str| ShardStatus { state: ShardState::Finished, ..status(text) };
    for text in ["1/2", "2/2"] {
        machine.write_status(&finished(text));
    }
    let mut state = machine.state(LONG, MergedResults::default());
    assert!(state.read().unwrap().into_values().all(|progress| progress == Progress::Finished));
    state.results().unwrap().write(&machine.remote, GROUP).unwrap();
    let merged = MergedResults::read(&machine.remote, GROUP).unwrap();
    let progress = || {
        let mut state = machine.state(LONG, merged.clone());
        state.read().unwrap().into_values().collect::<Vec<_>>()
    };
    assert_eq!(progress(), [Progress::Merged, Progress::Merged]);
    // The first shard is run again.
    machine.write_status(&finished("1/2"));
    assert_eq!(progress(), [Progress::Finished, Progress::Merged]);
}

#[test]
fn a_state_with_ids_that_are_paths_or_of_another_shard_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let with_run = |id: &str| {
        let mut status = new_status("1/2");
        status.runs.insert("desk".to_owned(), id.to_owned());
        status
    };
    for odd in ["../../x", "/etc/x", "", "a_b"] {
        for status in [with_run(odd), ShardStatus { token: odd.to_owned(), ..new_status("1/2") }] {
            machine.write_status(&status);
            let error = machine.state(LONG, MergedResults::default()).read().unwrap_err().to_string();
            assert!(error.contains(&format!("`{odd}` is not the ID of a run or a process")), "{error}");
        }
    }
    let other = serde_json::to_vec(&new_status("2/2")).unwrap();
    machine.remote.put(&layout::status(GROUP, shard("1/2")), other).unwrap();
    let error = machine.state(LONG, MergedResults::default()).read().unwrap_err().to_string();
    assert!(error.contains("1-of-2.json` in the remote store"), "{error}");
    assert!(error.contains("it is that of shard 2/2; delete it and run the shard again"), "{error}");
}

#[test]
fn a_shard_that_runs_with_other_experiments_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let channel = machine.channel();
    let own = new_status("1/2");
    channel.check_experiments(&own).unwrap();
    let other = ShardStatus { experiments: vec!["sums".to_owned()], ..new_status("1/2") };
    machine.write_status(&other);
    let error = channel.check_experiments(&own).unwrap_err().to_string();
    assert!(
        error.starts_with("shard 1/2 of group `g` is running with other experiments (`sums`, here `desk`)"),
        "{error}"
    );
    assert!(error.contains("--shard-group"), "{error}");
    channel.check_experiments(&other).unwrap();
    machine.write_status(&ShardStatus { state: ShardState::Stopped, ..other.clone() });
    channel.check_experiments(&own).unwrap();
    // It has missed heartbeats.
    machine.write_status(&other);
    let object = store.path().join(layout::status(GROUP, shard("1/2")));
    let old = std::time::SystemTime::now() - LONG;
    fs::File::options().write(true).open(object).unwrap().set_modified(old).unwrap();
    channel.check_experiments(&own).unwrap();
}

#[test]
fn a_process_that_was_superseded_stops_and_does_not_write_the_state() {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let channel = Channel { stop: || STOPPED.store(true, Ordering::SeqCst), ..machine.channel() };
    let heartbeat = Heartbeat::start(channel, new_status("1/1")).unwrap();
    let other = new_status("1/1");
    machine.write_status(&other);
    heartbeat.run_started("desk", ID);
    for _ in 0..500 {
        if STOPPED.load(Ordering::SeqCst) {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    assert!(STOPPED.load(Ordering::SeqCst));
    let error = heartbeat.end(ShardState::Finished).unwrap_err().to_string();
    assert!(error.starts_with("shard 1/1 of group `g` is run by another process now"), "{error}");
    assert_eq!(machine.read_status("1/1"), other);
}

#[test]
fn a_process_that_shares_the_token_adds_to_the_state() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let first = status("1/1");
    let heartbeat = Heartbeat::start(machine.channel(), first.clone()).unwrap();
    let experiments = vec!["sums".to_owned()];
    let child = ShardStatus { token: first.token.clone(), experiments, ..new_status("1/1") };
    let child = Heartbeat::share(machine.channel(), child).unwrap();
    child.run_started("sums", "bbbbbbbbbbbb");
    child.end(ShardState::Finished).unwrap();
    heartbeat.end(ShardState::Finished).unwrap();
    let last = machine.read_status("1/1");
    assert_eq!(last.runs.len(), 2, "{last:?}");
    assert!(
        ["desk", "sums"].iter().all(|name| last.experiments.iter().any(|known| known == name)),
        "{last:?}"
    );
}

#[test]
fn a_shard_stores_its_runs_and_its_end_and_its_journals_go_with_it() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let start = || {
        let heartbeat = Heartbeat::start(machine.channel(), new_status("1/1")).unwrap();
        heartbeat.run_started("desk", ID);
        heartbeat
    };
    machine.write_journal("head\nfirst\n");
    let heartbeat = start();
    assert!(matches!(&machine.progress(LONG)[..], [Progress::Running { .. }]));
    // It is dropped, as after an error.
    drop(heartbeat);
    let progress = machine.progress(LONG);
    let Progress::Stopped { status } = &progress[0] else { panic!("{progress:?}") };
    assert_eq!(status.runs["desk"], ID);
    let segments = || machine.remote.list(&layout::journal(GROUP, ID)).unwrap().len();
    assert_eq!(segments(), 1);

    start().end(ShardState::Finished).unwrap();
    assert_eq!(machine.progress(LONG), [Progress::Finished]);
    assert_eq!(segments(), 0, "the journal of a finished run is not needed");
}

#[test]
fn a_state_that_changes_within_the_same_second_is_read_again() {
    let store = tempfile::tempdir().unwrap();
    let machine = Machine::with_store(&store);
    let mut state = machine.state(LONG, MergedResults::default());
    let object = store.path().join(layout::status(GROUP, shard("1/1")));
    let second = std::time::SystemTime::now() - Duration::from_secs(1);
    let mut write = |status: &ShardStatus| {
        machine.write_status(status);
        fs::File::options().write(true).open(&object).unwrap().set_modified(second).unwrap();
        state.read().unwrap().into_values().next().unwrap()
    };
    let running = status("1/1");
    assert!(matches!(write(&running), Progress::Running { .. }));
    assert_eq!(write(&ShardStatus { state: ShardState::Finished, ..running }), Progress::Finished);
}

#[test]
fn only_one_of_several_processes_takes_over() {
    let store = tempfile::tempdir().unwrap();
    let machines = [(); 4].map(|()| Machine::with_store(&store));
    let claims = std::thread::scope(|scope| {
        let claim = |(number, machine): (usize, &Machine)| {
            let remote = Arc::clone(&machine.remote);
            scope.spawn(move || remote.claim(&layout::claim(GROUP, "dead"), &number.to_string()).unwrap())
        };
        let threads: Vec<_> = machines.iter().enumerate().map(claim).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|is_mine| *is_mine).count()
    });
    assert_eq!(claims, 1);
}

#[test]
fn shards_that_start_at_once_agree_on_a_plan() {
    let store = tempfile::tempdir().unwrap();
    let machines = [(); 4].map(|()| Machine::with_store(&store));
    let experiments = ["desk".to_owned(), "sums".to_owned()];
    let plans = std::thread::scope(|scope| {
        let plan = |(latency, machine): (u32, &'_ Machine)| {
            let latencies = [("a".to_owned(), f64::from(latency).into())].into();
            let own = ShardPlan { source: "run".to_owned(), latencies };
            let given = ShardPlans([("desk".to_owned(), own)].into());
            let (remote, settings) = (Arc::clone(&machine.remote), machine.settings.clone());
            let experiments = &experiments;
            scope.spawn(move || plans_of_group(&remote, GROUP, experiments, given, &settings).unwrap())
        };
        let threads: Vec<_> = (1..).zip(&machines).map(plan).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(plans.iter().all(|other| *other == plans[0]), "{plans:?}");
    assert_eq!(plans[0].0["desk"].latencies.len(), 1);
    assert_eq!(plans[0].0["sums"], ShardPlan::default(), "it has neither a run nor a baseline");
}
