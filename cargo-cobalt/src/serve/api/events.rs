//! `/api/events`: what happens, as it happens.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use cobalt::report::Status;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};

use super::live::LiveRun;
use crate::serve::live::Live;
use crate::serve::store::Store;

/// What is told; the event's name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub(in crate::serve) enum Happening {
    /// The runs that have not ended, at first and whenever one of them is new, has got further, or has ended.
    Live { runs: Vec<LiveRun> },
    /// An item of a run was finished.
    #[serde(rename_all = "camelCase")]
    Item {
        /// The run's id.
        run: String,
        key: String,
        /// The item's place in the data set, from 0.
        index: usize,
        passed: bool,
        status: Status,
        /// In milliseconds.
        latency_ms: f64,
        /// Each evaluator's mean score.
        scores: BTreeMap<String, f64>,
    },
    /// There are other results than before: a run has ended, or files came or went.
    Results {},
}

impl Happening {
    /// As it is sent.
    fn event(&self) -> Option<Event> {
        let name = match self {
            Self::Live { .. } => "live",
            Self::Item { .. } => "item",
            Self::Results {} => "results",
        };
        // JSON that cannot be made is told to nobody; none is known.
        Event::default().event(name).json_data(self).ok()
    }
}

/// A stream of what happens. It ends with the server.
pub(super) async fn events(
    State(store): State<Arc<Store>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, events) = channel(1);
    let live = store.live();
    tokio::spawn(async move {
        // Whoever listened has gone, or it is over.
        let _ = pass_on(live, &sender).await;
    });
    Sse::new(ReceiverStream::new(events).map(Ok)).keep_alive(KeepAlive::default())
}

/// Tells one listener what happens, until it is over or nobody listens.
async fn pass_on(live: Arc<Live>, sender: &Sender<Event>) -> Option<()> {
    let (mut runs, mut happenings) = listen(&live).await?;
    send(sender, Happening::Live { runs }).await?;
    loop {
        let happening = tokio::select! {
            () = sender.closed() => return None,
            happening = happenings.recv() => happening,
        };
        match happening {
            Ok(happening) => send(sender, happening).await?,
            // What was missed may be anything.
            Err(RecvError::Lagged(_)) => {
                (runs, happenings) = listen(&live).await?;
                send(sender, Happening::Live { runs }).await?;
                send(sender, Happening::Results {}).await?;
            }
            Err(RecvError::Closed) => return None,
        }
    }
}

/// Looks at the files on a thread that may wait for them.
async fn listen(live: &Arc<Live>) -> Option<(Vec<LiveRun>, Receiver<Happening>)> {
    let live = Arc::clone(live);
    tokio::task::spawn_blocking(move || live.listen()).await.ok()?
}

async fn send(sender: &Sender<Event>, happening: Happening) -> Option<()> {
    let event = happening.event()?;
    sender.send(event).await.ok()
}
