//! Runs `cargo cobalt` to the end, and reports its progress.

use std::time::Duration;

use cobalt_core::report::Status;
use cobalt_core::reporters::{Event, ExperimentFinished, ItemFinished, escape_control};
use cobalt_core::wording::{count, format_decimal, truncate};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::Error;
use crate::mcp::past_runs::LoadedRun;
use crate::mcp::plain_errors::CompileErrors;
use crate::mcp::projects::Project;
use crate::mcp::tools::ToolContext;
use crate::results::{ExperimentProgress, RunState};

/// The longest error in a progress message, in characters.
const LONGEST_ERROR: usize = 120;
/// The maximum number of running experiments in a progress message.
const MOST_AT_WORK: usize = 3;

/// The outcome of a command.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The exit code; none if it was killed by a signal.
    pub code: Option<i32>,
    pub state: RunState,
    pub compile_errors: CompileErrors,
    /// The last lines on stderr.
    pub stderr: Vec<String>,
}

impl Outcome {
    /// The outcome of runs that have already finished.
    pub fn of_finished(runs: &[LoadedRun]) -> Self {
        let mut outcome = Self { code: Some(0), ..Self::default() };
        outcome.state.finished = runs
            .iter()
            .map(|run| ExperimentFinished {
                experiment: 0,
                report: run.report().without_items(),
                low: Vec::new(),
                low_items: 0,
                failed: Vec::new(),
                items_in_error: 0,
                diverged: Vec::new(),
                path: Some(run.file.path().display().to_string()),
                unsaved: None,
                kept_workspaces: None,
            })
            .collect();
        outcome
    }
}

/// Runs `cargo cobalt` with arguments, and reports its progress.
pub async fn run(
    call: ToolContext<'_>,
    project: &Project,
    command: &[String],
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let Outcome { state, compile_errors, .. } = &mut outcome;
    let mut running = call.commands.start(project, command, &call.context.ct)?;
    loop {
        tokio::select! {
            line = running.next_line() => {
                let Some(line) = line else { break };
                if compile_errors.parse_line(&line) {
                    continue;
                }
                let Ok(event) = serde_json::from_str(&line) else { continue };
                state.apply(&event);
                if let Some(message) = item_message(&event, state) {
                    progress.report(state.items_done, items(state), &message).await;
                }
            }
            () = progress.wait_until_due() => progress.send_waiting().await,
            () = progress.wait_for_silence() => {
                let message = match running_message(state) {
                    Some(work) => format!("{work}, {} s since the build started", running.seconds()),
                    None => format!("building {} for {}", project.name, running.build_progress()),
                };
                progress.report_partial(items(state), &message).await;
            }
        }
    }
    progress.send_waiting().await;
    state.binary_ended();
    let ended = running.wait().await?;
    outcome.code = ended.status.code();
    outcome.stderr = ended.stderr;
    Ok(outcome)
}

/// The number of items, if known.
fn items(state: &RunState) -> Option<usize> {
    (state.items > 0).then_some(state.items)
}

/// What is running, once the build has finished.
fn running_message(state: &RunState) -> Option<String> {
    if !state.has_begun {
        return None;
    }
    let done = |ExperimentProgress { started, done, .. }: &ExperimentProgress| {
        format!("{}: {done} of {} done", started.name, count(started.items, "item"))
    };
    let mut running: Vec<_> = state.running().take(MOST_AT_WORK).map(done).collect();
    let more = state.running().skip(MOST_AT_WORK).count();
    if more > 0 {
        running.push(format!("{more} more"));
    }
    Some(if running.is_empty() { "running the experiments".to_owned() } else { running.join("; ") })
}

/// The message for a finished item, which the state already counts.
fn item_message(event: &Event, state: &RunState) -> Option<String> {
    let Event::ItemFinished(item) = event else { return None };
    let ExperimentProgress { started, done, .. } = state.experiment(item.experiment)?;
    Some(format!("{}: {done} of {}, {}", started.name, started.items, item_outcome(item)))
}

/// The outcome of an item, in a few words.
fn item_outcome(item: &ItemFinished) -> String {
    let name = &item.item;
    if let Some(error) = &item.error {
        let what = if item.status == Status::Timeout { "timed out" } else { "in error" };
        return format!("{name} {what}: {}", truncate(error, LONGEST_ERROR).replace('\n', " "));
    }
    let score = |evaluator: &String| {
        let score = item.scores.get(evaluator).map(|score| format_decimal(*score, 2));
        format!("{evaluator} {}", score.unwrap_or_default())
    };
    let low: Vec<_> = item.low.iter().map(score).collect();
    match (item.fails(), low.is_empty()) {
        (false, true) => format!("{name} passed"),
        (false, false) => format!("{name} below pass mark ({})", low.join(", ")),
        (true, _) => format!("{name} failed ({})", low.join(", ")),
    }
}

/// The shortest time between two notifications.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time without a notification: an assistant may give up after a longer silence.
const MAX_SILENCE: Duration = Duration::from_secs(3);
/// How long to wait for a notification to be sent.
const SEND_TIMEOUT: Duration = Duration::from_millis(500);

/// Sends progress notifications for a request with a progress token.
#[derive(Debug)]
pub struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// The last progress value. It only increases.
    last_sent: Option<f64>,
    /// The total, if known.
    total: Option<f64>,
    /// How many notifications were sent within steps.
    parts: u32,
    /// When [`MAX_SILENCE`] will have passed without a notification.
    silent: Instant,
    /// When the next notification may be sent.
    next: Instant,
    /// The notification to send next.
    waiting: Option<ProgressNotificationParam>,
}

impl Progress {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let now = Instant::now();
        let (next, silent) = (now, now + MAX_SILENCE);
        Self {
            peer: context.peer.clone(),
            token,
            last_sent: None,
            total: None,
            parts: 0,
            silent,
            next,
            waiting: None,
        }
    }

    /// Reports `done` finished items of `total`, if known.
    pub async fn report(&mut self, done: usize, total: Option<usize>, message: &str) {
        self.queue(done as f64, total.map(|total| total as f64), message).await;
    }

    /// Reports progress within the next of `total` steps, as a growing fraction of it.
    pub async fn report_partial(&mut self, total: Option<usize>, message: &str) {
        self.silent = Instant::now() + MAX_SILENCE;
        self.total = total.map(|total| total as f64);
        let done = self.last_sent.map_or(0.0, f64::floor);
        if self.total.is_some_and(|total| done >= total) {
            return;
        }
        self.parts += 1;
        self.queue(done + 1.0 - 1.0 / (1.0 + f64::from(self.parts)), self.total, message).await;
    }

    async fn queue(&mut self, done: f64, total: Option<f64>, message: &str) {
        let Some(token) = self.token.clone().filter(|_| self.last_sent.is_none_or(|told| told < done)) else {
            return;
        };
        (self.last_sent, self.total) = (Some(done), total);
        let mut progress =
            ProgressNotificationParam::new(token, done).with_message(escape_control(message).into_owned());
        if let Some(total) = total {
            progress = progress.with_total(total);
        }
        self.waiting = Some(progress);
        if self.next <= Instant::now() {
            self.send_waiting().await;
        }
    }

    /// Reports one more finished step of an unknown number, without delay.
    pub async fn step(&mut self, message: &str) {
        self.queue(self.last_sent.map_or(1.0, |told| told.floor() + 1.0), None, message).await;
        self.send_waiting().await;
    }

    /// Returns after [`MAX_SILENCE`] without a notification; never without a progress token.
    pub async fn wait_for_silence(&self) {
        match self.token {
            Some(_) => sleep_until(self.silent).await,
            None => std::future::pending().await,
        }
    }

    /// Returns when the waiting notification may be sent; never without one.
    async fn wait_until_due(&self) {
        match self.waiting {
            Some(_) => sleep_until(self.next).await,
            None => std::future::pending().await,
        }
    }

    /// Sends the waiting notification.
    async fn send_waiting(&mut self) {
        if let Some(progress) = self.waiting.take() {
            let now = Instant::now();
            (self.next, self.silent) = (now + MIN_INTERVAL, now + MAX_SILENCE);
            // The assistant may have disconnected; do not wait if it does not read.
            let _ = timeout(SEND_TIMEOUT, self.peer.notify_progress(progress)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn started(experiment: usize, name: &str) -> Value {
        json!({ "event": "experiment-started", "experiment": experiment, "id": format!("{experiment:012}"), "name": name,
            "tags": [], "items": 2, "done": 0, "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1000,
            "partial": false })
    }

    #[test]
    fn running_experiments_are_reported_with_their_items_once_the_build_has_finished() {
        let mut state = RunState::default();
        let mut hear = |event: Value| {
            state.apply(&serde_json::from_value(event).unwrap());
            running_message(&state)
        };
        assert_eq!(hear(json!({ "event": "nothing" })), None);
        let hello = json!({ "event": "hello", "protocol": "1", "version": "0.1.0" });
        assert_eq!(hear(hello).as_deref(), Some("running the experiments"));
        assert_eq!(hear(started(0, "desk")).as_deref(), Some("desk: 0 of 2 items done"));
        for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
            hear(started(place + 1, name));
        }
        let told = hear(json!({ "event": "nothing" })).unwrap();
        assert!(told.starts_with("desk: 0 of 2 items done; a: ") && told.ends_with("; 1 more"), "{told}");
    }

    #[test]
    fn a_finished_item_is_reported_with_its_number_and_its_outcome() {
        let mut state = RunState::default();
        state.apply(&serde_json::from_value(started(0, "desk")).unwrap());
        let mut hear = |failed: bool, error: Option<&str>| {
            let item = json!({ "event": "item-finished", "experiment": 0, "index": 0, "item": "refund",
                "status": "error", "passed": !failed, "latencyMs": 1.0, "scores": {}, "error": error });
            let event = serde_json::from_value(item).unwrap();
            state.apply(&event);
            item_message(&event, &state).unwrap()
        };
        assert_eq!(hear(false, None), "desk: 1 of 2, refund passed");
        assert_eq!(hear(true, Some("it\nbroke")), "desk: 2 of 2, refund in error: it broke");
    }
}
