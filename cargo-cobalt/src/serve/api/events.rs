//! `/api/events`: server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};

use crate::serve::live::{LiveRun, LiveUpdates, ServerEvent};
use crate::serve::store::Store;

/// Converts an event for sending.
fn to_sse_event(event: &ServerEvent) -> Option<Event> {
    let name = match event {
        ServerEvent::Live { .. } => "live",
        ServerEvent::Item { .. } => "item",
        ServerEvent::Job { .. } => "job",
        ServerEvent::Results {} => "results",
        ServerEvent::Remote {} => "remote",
    };
    // An event that cannot be serialized is dropped; no such event is known.
    Event::default().event(name).json_data(event).ok()
}

/// The event stream. It ends with the server.
pub async fn events(State(store): State<Arc<Store>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, events) = channel(1);
    let live = store.live();
    tokio::spawn(async move {
        // The client has disconnected, or the server shuts down.
        let _ = forward(live, &sender).await;
    });
    Sse::new(ReceiverStream::new(events).map(Ok)).keep_alive(KeepAlive::default())
}

/// Forwards events to one client until it disconnects or the server shuts down.
async fn forward(live: Arc<LiveUpdates>, sender: &Sender<Event>) -> Option<()> {
    let (mut runs, mut events) = subscribe(&live).await?;
    send(sender, ServerEvent::Live { runs }).await?;
    loop {
        let event = tokio::select! {
            () = sender.closed() => return None,
            event = events.recv() => event,
        };
        match event {
            Ok(event) => send(sender, event).await?,
            // Any events may have been missed.
            Err(RecvError::Lagged(_)) => {
                (runs, events) = subscribe(&live).await?;
                send(sender, ServerEvent::Live { runs }).await?;
                send(sender, ServerEvent::Results {}).await?;
            }
            Err(RecvError::Closed) => return None,
        }
    }
}

/// Reads the files on a blocking thread.
async fn subscribe(live: &Arc<LiveUpdates>) -> Option<(Vec<LiveRun>, Receiver<ServerEvent>)> {
    let live = Arc::clone(live);
    tokio::task::spawn_blocking(move || live.subscribe()).await.ok()?
}

async fn send(sender: &Sender<Event>, event: ServerEvent) -> Option<()> {
    sender.send(to_sse_event(&event)?).await.ok()
}
