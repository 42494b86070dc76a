//! Tells an assistant that asked for it how far the work has come.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// The steps up to now.
#[derive(Debug)]
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    /// Absent where nobody asked.
    token: Option<ProgressToken>,
    step: f64,
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), step: 0.0 }
    }

    /// Tells of the next step.
    pub(super) async fn step(&mut self, message: String) {
        self.step += 1.0;
        if let Some(token) = self.token.clone() {
            let told = ProgressNotificationParam::new(token, self.step).with_message(message);
            // Who has gone need not be told.
            let _ = self.peer.notify_progress(told).await;
        }
    }
}
