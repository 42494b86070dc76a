//! How far a run is, told to who asked for it: never more often than somebody can read, and always the last.

use std::time::Duration;

use cobalt::reporters::printable;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{Instant, sleep_until, timeout};

/// The shortest time between two notifications.
const BETWEEN: Duration = Duration::from_millis(50);
/// The longest time without a notification: an assistant that hears nothing for longer may give up.
const SILENCE: Duration = Duration::from_secs(3);
/// How long is waited for somebody to take one.
const PATIENCE: Duration = Duration::from_millis(500);

/// Tells of a request's progress, where a token for it was given.
#[derive(Debug)]
pub(in crate::mcp::tools) struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// How much was done when it was told last. It only ever grows.
    told: Option<f64>,
    /// Of how much, as far as it is known.
    total: Option<f64>,
    /// How many notifications said that a step is still in progress.
    parts: u32,
    /// When [`SILENCE`] will have passed without a notification.
    silent: Instant,
    /// When the next may be told.
    next: Instant,
    /// What waits to be told.
    waiting: Option<ProgressNotificationParam>,
}

impl Progress {
    pub(in crate::mcp::tools) fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let now = Instant::now();
        let (next, silent) = (now, now + SILENCE);
        Self {
            peer: context.peer.clone(),
            token,
            told: None,
            total: None,
            parts: 0,
            silent,
            next,
            waiting: None,
        }
    }

    /// So much is done, of so much as far as it is known.
    pub(in crate::mcp::tools) async fn tell(&mut self, done: usize, total: Option<usize>, message: &str) {
        self.tell_figures(done as f64, total.map(|total| total as f64), message).await;
    }

    /// The next step, of so many as far as they are known, is in progress: a part of it that grows, and whose size is not known.
    pub(in crate::mcp::tools) async fn tell_part(&mut self, total: Option<usize>, message: &str) {
        self.silent = Instant::now() + SILENCE;
        self.total = total.map(|total| total as f64);
        let done = self.told.map_or(0.0, f64::floor);
        if self.total.is_some_and(|total| done >= total) {
            return;
        }
        self.parts += 1;
        self.tell_figures(done + 1.0 - 1.0 / (1.0 + f64::from(self.parts)), self.total, message).await;
    }

    async fn tell_figures(&mut self, done: f64, total: Option<f64>, message: &str) {
        let Some(token) = self.token.clone().filter(|_| self.told.is_none_or(|told| told < done)) else {
            return;
        };
        (self.told, self.total) = (Some(done), total);
        let mut progress =
            ProgressNotificationParam::new(token, done).with_message(printable(message).into_owned());
        if let Some(total) = total {
            progress = progress.with_total(total);
        }
        self.waiting = Some(progress);
        if self.next <= Instant::now() {
            self.tell_waiting().await;
        }
    }

    /// One more step is done, of an unknown number; that is told at once.
    pub(in crate::mcp::tools) async fn step(&mut self, message: &str) {
        self.tell_figures(self.told.map_or(1.0, |told| told.floor() + 1.0), None, message).await;
        self.tell_waiting().await;
    }

    /// Comes back after [`SILENCE`] without a notification; never, if nobody asked for any.
    pub(in crate::mcp::tools) async fn is_silent(&self) {
        match self.token {
            Some(_) => sleep_until(self.silent).await,
            None => std::future::pending().await,
        }
    }

    /// Comes back when what waits may be told; never, where nothing does.
    pub(in crate::mcp::tools) async fn is_due(&self) {
        match self.waiting {
            Some(_) => sleep_until(self.next).await,
            None => std::future::pending().await,
        }
    }

    /// Tells what waits.
    pub(in crate::mcp::tools) async fn tell_waiting(&mut self) {
        if let Some(progress) = self.waiting.take() {
            let now = Instant::now();
            (self.next, self.silent) = (now + BETWEEN, now + SILENCE);
            // Who has hung up is told nothing, and who does not read is not waited for.
            let _ = timeout(PATIENCE, self.peer.notify_progress(progress)).await;
        }
    }
}
