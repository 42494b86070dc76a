//! The thread that tells the remote store about a running shard: its state, signs of life, and its journals as they grow.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cobalt_core::store::Layout;

use super::journal::{SentJournal, delete_journal};
use super::layout;
use super::status::{ShardState, ShardStatus};
use crate::remote::{Remote, RemoteError};

/// How often the journals are read for new items.
const JOURNALS_EVERY: Duration = Duration::from_secs(2);
/// How often a shard without new items gives a sign of life.
const BEAT_EVERY: Duration = Duration::from_secs(10);

enum Message {
    Started { experiment: String, id: String },
    Ended(ShardState),
}

/// A shard that runs in this process. If it is dropped before it ends, the shard is stopped.
#[derive(Debug)]
pub struct Heartbeat {
    sender: Sender<Message>,
    thread: Option<JoinHandle<Result<(), RemoteError>>>,
}

/// Where a shard reports to.
#[derive(Clone, Debug)]
pub struct Channel {
    pub remote: Arc<Remote>,
    pub group: String,
    pub layout: Layout,
    /// Whether the journals are sent: they contain inputs and outputs.
    pub sends_journals: bool,
}

impl Heartbeat {
    /// Writes the state, and starts to give signs of life.
    pub fn start(channel_to: Channel, status: ShardStatus) -> Result<Self, RemoteError> {
        let journals =
            status.runs.values().map(|id| SentJournal::new(id.clone(), &channel_to.layout)).collect();
        let mut beating = Beating { to: channel_to, status, journals, last: Instant::now() };
        beating.write_status()?;
        let (sender, messages) = channel();
        let thread = thread::spawn(move || beating.beat(&messages));
        Ok(Self { sender, thread: Some(thread) })
    }

    /// Tells that a run has started.
    pub fn run_started(&self, experiment: &str, id: &str) {
        let (experiment, id) = (experiment.to_owned(), id.to_owned());
        let _ = self.sender.send(Message::Started { experiment, id });
    }

    /// Writes the last state. The error is the last one of the thread: earlier ones were repeated.
    pub fn end(mut self, state: ShardState) -> Result<(), RemoteError> {
        self.join(state)
    }

    fn join(&mut self, state: ShardState) -> Result<(), RemoteError> {
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
    /// The last sign of life.
    last: Instant,
}

impl Beating {
    fn beat(mut self, messages: &Receiver<Message>) -> Result<(), RemoteError> {
        let mut is_written = true;
        loop {
            match messages.recv_timeout(JOURNALS_EVERY) {
                Ok(Message::Started { experiment, id }) => {
                    self.journals.push(SentJournal::new(id.clone(), &self.to.layout));
                    self.status.runs.insert(experiment, id);
                    is_written = false;
                }
                Ok(Message::Ended(state)) => return self.end(state),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end(ShardState::Stopped),
            }
            // What fails is repeated in the next round; the end of the run tells if it is still failing.
            let has_grown = self.send_journals().unwrap_or(false);
            if has_grown {
                self.last = Instant::now();
            }
            if !is_written || self.last.elapsed() >= BEAT_EVERY {
                is_written = self.write_status().is_ok();
            }
        }
    }

    fn send_journals(&mut self) -> Result<bool, RemoteError> {
        if !self.to.sends_journals {
            return Ok(false);
        }
        let mut has_grown = false;
        for journal in &mut self.journals {
            has_grown |= journal.send(&self.to.remote, &self.to.group)?;
        }
        Ok(has_grown)
    }

    fn write_status(&mut self) -> Result<(), RemoteError> {
        // A struct of texts can always be serialized.
        let text = serde_json::to_vec(&self.status).unwrap_or_default();
        self.to.remote.put(&layout::status(&self.to.group, self.status.shard), text)?;
        self.last = Instant::now();
        Ok(())
    }

    fn end(mut self, state: ShardState) -> Result<(), RemoteError> {
        self.status.state = state;
        if state == ShardState::Stopped {
            self.send_journals()?;
        }
        self.write_status()?;
        if state == ShardState::Finished {
            let delete = |id: &String| delete_journal(&self.to.remote, &self.to.group, id);
            self.status.runs.values().try_for_each(delete)?;
        }
        Ok(())
    }
}
