//! Follows the process of a job until it has ended: its events, its output, and requests to stop it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::report::Timestamp;
use cobalt_core::reporters::Event;
use tokio::io::AsyncRead;
use tokio::process::Child;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::job_output::LineReader;
use super::{JobEntry, Jobs};
use crate::process_group::ProcessGroup;
use crate::serve::job::{JobRun, JobState};
use crate::serve::live::ServerEvent;
use crate::sized_cache::lock;

/// How long a job may take to save finished items after it was interrupted.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
/// The same when the server shuts down.
const SHUTDOWN_GRACE_PERIOD: Duration = Duration::from_secs(3);
/// How long to wait for the last lines of a job that has ended: a process that it started can keep its output open forever.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The shortest time between two events about a job.
const EVENT_INTERVAL: Duration = Duration::from_millis(150);
/// The longest event in bytes. Longer ones, with the traces of items, are not used.
const MAX_EVENT: usize = 1 << 20;
/// The number of lines that wait, each of which may be an event of the longest size.
const QUEUE_CAPACITY: usize = 32;

/// A line of a job.
#[derive(Debug)]
enum Line {
    /// On stdout: an event.
    Event(String),
    /// On stderr: what the build and the run print for people.
    Text(String),
}

/// Follows a job until its process has ended.
pub async fn supervise(jobs: Arc<Jobs>, entry: Arc<JobEntry>, mut child: Child) {
    let group = ProcessGroup::led_by(child.id());
    let (sender, mut lines) = channel(QUEUE_CAPACITY);
    forward(
        child.stdout.take().map(|stdout| LineReader::with_limit(stdout, MAX_EVENT)),
        &sender,
        Line::Event,
    );
    forward(child.stderr.take().map(LineReader::new), &sender, Line::Text);
    drop(sender);
    let mut ticks = interval(EVENT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut places = BTreeMap::new();
    let (mut exit, mut is_open, mut has_news) = (None, true, false);
    let (mut was_stopped, mut is_ending) = (false, false);
    let mut kill_at: Option<Instant> = None;
    let mut drain_until: Option<Instant> = None;
    while exit.is_none() || is_open {
        tokio::select! {
            line = lines.recv(), if is_open => match line {
                Some(line) => {
                    apply(&entry, &mut places, line);
                    has_news = true;
                }
                None => is_open = false,
            },
            status = child.wait(), if exit.is_none() => {
                exit = Some(status);
                drain_until = Some(Instant::now() + DRAIN_TIMEOUT);
                // Processes that it left behind.
                group.kill();
            }
            () = entry.stop.cancelled(), if !was_stopped && exit.is_none() => {
                was_stopped = true;
                has_news = true;
                group.interrupt();
                kill_at = Some(Instant::now() + GRACE_PERIOD);
            }
            () = jobs.end.cancelled(), if !is_ending && exit.is_none() => {
                is_ending = true;
                if !was_stopped {
                    group.interrupt();
                }
                was_stopped = true;
                kill_at = Some(Instant::now() + SHUTDOWN_GRACE_PERIOD);
            }
            () = at(kill_at), if exit.is_none() => {
                kill_at = None;
                group.kill();
                // Where there are no groups.
                let _ = child.start_kill();
            }
            () = at(drain_until) => break,
            _ = ticks.tick(), if has_news => {
                has_news = false;
                send(&jobs, &entry);
            }
        }
    }
    {
        let mut job = lock(&entry.job);
        job.exit_code = exit.and_then(Result::ok).and_then(|status| status.code());
        job.ended_at = Some(Timestamp::now().to_string());
        job.state = match job.exit_code {
            Some(0) => JobState::Finished,
            _ if was_stopped => JobState::Stopped,
            _ => JobState::Failed,
        };
    }
    send(&jobs, &entry);
}

fn send(jobs: &Jobs, entry: &JobEntry) {
    let job = entry.job();
    jobs.live.send(ServerEvent::Job { job });
}

/// Waits until a time; forever without one.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Forwards each line, in its own task.
fn forward<T: AsyncRead + Unpin + Send + 'static>(
    lines: Option<LineReader<T>>,
    sender: &Sender<Line>,
    line: fn(String) -> Line,
) {
    let sender = sender.clone();
    tokio::spawn(async move {
        let Some(mut lines) = lines else { return };
        while let Some(text) = lines.next().await {
            if sender.send(line(text)).await.is_err() {
                return;
            }
        }
    });
}

/// The places of the runs of the current test binary, by the numbers of their experiments.
type RunPlaces = BTreeMap<usize, usize>;

fn apply(entry: &JobEntry, places: &mut RunPlaces, line: Line) {
    match line {
        Line::Text(text) => {
            let mut output = lock(&entry.output);
            output.push(&text);
            let lines = output.len();
            drop(output);
            lock(&entry.job).lines = lines;
        }
        Line::Event(text) => {
            // Lines of later versions may be unknown.
            if let Ok(event) = serde_json::from_str(&text) {
                apply_event(entry, places, event);
            }
        }
    }
}

fn apply_event(entry: &JobEntry, places: &mut RunPlaces, event: Event) {
    let mut job = lock(&entry.job);
    job.is_built = true;
    match event {
        Event::ExperimentStarted(started) => {
            places.insert(started.experiment, job.runs.len());
            job.runs.push(JobRun {
                id: started.id,
                name: started.name,
                total_items: started.items,
                finished_items: 0,
                is_finished: false,
            });
        }
        Event::ItemFinished(item) => {
            let run = places.get(&item.experiment).and_then(|place| job.runs.get_mut(*place));
            if let Some(run) = run {
                run.finished_items += 1;
            }
        }
        Event::ExperimentFinished(finished) => {
            if let Some(run) = job.runs.iter_mut().find(|run| run.id == finished.report.id) {
                run.is_finished = finished.unsaved.is_none();
                run.finished_items = run.total_items;
            }
        }
        _ => {}
    }
}
