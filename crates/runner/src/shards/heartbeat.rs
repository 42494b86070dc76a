//! The thread that reports a running shard to the remote store: its state as a heartbeat, and its journals as they grow.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cobalt_core::report::Shard;
use cobalt_core::store::Layout;

use super::journal::{SentJournal, delete_journal};
use super::layout;
use super::status::{InvalidStatus, ShardState, ShardStatus};
use crate::error::CommandError;
use crate::remote::{Remote, RemoteError};

/// How often the state is written.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// How often the journals are read for new items. Each time, a journal that has grown becomes an object.
const JOURNAL_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum HeartbeatError {
    #[error(
        "shard {shard} of group `{group}` is run by another process now, so this one has stopped; give each set of jobs a group of \
         its own with --shard-group"
    )]
    Superseded { shard: Shard, group: String },

    #[error(transparent)]
    Remote(#[from] RemoteError),

    #[error(transparent)]
    Invalid(#[from] InvalidStatus),
}

impl CommandError for HeartbeatError {}

enum Message {
    Started { experiment: String, id: String },
    Ended(ShardState),
}

/// A shard that runs in this process. If it is dropped before it ends, the shard is stopped.
#[derive(Debug)]
pub struct Heartbeat {
    sender: Sender<Message>,
    thread: Option<JoinHandle<Result<(), HeartbeatError>>>,
}

/// Where a shard reports to.
#[derive(Clone, Debug)]
pub struct Channel {
    pub remote: Arc<Remote>,
    pub group: String,
    pub layout: Layout,
    /// Whether the journals are sent: they contain inputs and outputs.
    pub sends_journals: bool,
    /// Stops the run if another process runs the shard.
    pub stop: fn(),
}

impl Heartbeat {
    /// Writes the state, and starts the thread.
    pub fn start(to: Channel, status: ShardStatus) -> Result<Self, RemoteError> {
        let mut beating = Beating::new(to, status);
        beating.write_status()?;
        Ok(Self::spawn(beating))
    }

    /// Adds to the state of another process with the same token, and starts the thread.
    pub fn share(to: Channel, status: ShardStatus) -> Result<Self, HeartbeatError> {
        let mut beating = Beating::new(to, status);
        beating.renew_status()?;
        Ok(Self::spawn(beating))
    }

    fn spawn(beating: Beating) -> Self {
        let (sender, messages) = channel();
        let thread = thread::spawn(move || beating.beat(&messages));
        Self { sender, thread: Some(thread) }
    }

    /// Notes a run that has started.
    pub fn run_started(&self, experiment: &str, id: &str) {
        let (experiment, id) = (experiment.to_owned(), id.to_owned());
        let _ = self.sender.send(Message::Started { experiment, id });
    }

    /// Writes the last state. The error is the last one of the thread: earlier ones were repeated.
    pub fn end(mut self, state: ShardState) -> Result<(), HeartbeatError> {
        self.join(state)
    }

    fn join(&mut self, state: ShardState) -> Result<(), HeartbeatError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let _ = self.sender.send(Message::Ended(state));
        thread.join().unwrap_or(Ok(()))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let _ = self.join(ShardState::Stopped);
    }
}

/// The state of the thread.
struct Beating {
    to: Channel,
    status: ShardStatus,
    journals: Vec<SentJournal>,
    /// When the state was written.
    last: Instant,
}

impl Beating {
    fn new(to: Channel, status: ShardStatus) -> Self {
        let journals = status.runs.values().map(|id| SentJournal::new(id.clone(), &to.layout)).collect();
        Self { to, status, journals, last: Instant::now() }
    }

    fn beat(mut self, messages: &Receiver<Message>) -> Result<(), HeartbeatError> {
        let mut journals_sent = Instant::now();
        loop {
            let next = JOURNAL_INTERVAL.saturating_sub(journals_sent.elapsed());
            let has_changed = match messages.recv_timeout(next) {
                Ok(Message::Started { experiment, id }) => {
                    self.add_run(experiment, id);
                    true
                }
                Ok(Message::Ended(state)) => return self.end(state),
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return self.end(ShardState::Stopped),
            };
            // What fails is repeated in the next round; the end of the run reports it if it still fails.
            if (has_changed || self.is_due())
                && let Err(error @ HeartbeatError::Superseded { .. }) = self.renew_status()
            {
                (self.to.stop)();
                return Err(error);
            }
            if journals_sent.elapsed() >= JOURNAL_INTERVAL {
                let _ = self.send_journals();
                journals_sent = Instant::now();
            }
        }
    }

    fn is_due(&self) -> bool {
        self.last.elapsed() >= HEARTBEAT_INTERVAL
    }

    fn add_run(&mut self, experiment: String, id: String) {
        self.journals.push(SentJournal::new(id.clone(), &self.to.layout));
        self.status.runs.insert(experiment, id);
    }

    /// Sends what is new in the journals, with heartbeats in between. One that cannot be read does not hold up the others.
    fn send_journals(&mut self) -> Result<(), HeartbeatError> {
        if !self.to.sends_journals {
            return Ok(());
        }
        let mut outcome = Ok(());
        let mut journals = std::mem::take(&mut self.journals);
        for journal in &mut journals {
            loop {
                match journal.send(&self.to.remote, &self.to.group) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        outcome = Err(error.into());
                        break;
                    }
                }
                if self.is_due() {
                    outcome = self.renew_status().and(outcome);
                }
            }
        }
        self.journals = journals;
        outcome
    }

    /// Writes the state, with what a process that shares the token has added. An error if another process runs the shard.
    fn renew_status(&mut self) -> Result<(), HeartbeatError> {
        let Channel { remote, group, .. } = &self.to;
        let object = layout::status(group, self.status.shard);
        if let Some(content) = remote.get(&object)? {
            let stored = ShardStatus::parse(group, &object, &content, remote)?;
            if stored.token != self.status.token {
                return Err(HeartbeatError::Superseded { shard: self.status.shard, group: group.clone() });
            }
            for (experiment, id) in stored.runs {
                self.status.runs.entry(experiment).or_insert(id);
            }
            let known = std::mem::take(&mut self.status.experiments);
            let added = stored.experiments.into_iter().filter(|name| !known.contains(name));
            self.status.experiments = added.chain(known.iter().cloned()).collect();
        }
        Ok(self.write_status()?)
    }

    fn write_status(&mut self) -> Result<(), RemoteError> {
        // A struct of texts can always be serialized.
        let text = serde_json::to_vec(&self.status).unwrap_or_default();
        self.to.remote.put(&layout::status(&self.to.group, self.status.shard), text)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Writes the state first: journals may take long, and the process may be about to be killed.
    fn end(mut self, state: ShardState) -> Result<(), HeartbeatError> {
        self.status.state = state;
        self.renew_status()?;
        match state {
            ShardState::Finished => {
                let delete = |id: &String| delete_journal(&self.to.remote, &self.to.group, id);
                Ok(self.status.runs.values().try_for_each(delete)?)
            }
            ShardState::Running | ShardState::Stopped | ShardState::BudgetSpent => self.send_journals(),
        }
    }
}
