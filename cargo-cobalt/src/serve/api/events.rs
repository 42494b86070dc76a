//! `/api/events`: server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};

use crate::serve::live::{LiveRun, LiveUpdates, ServerEvent};
use crate::serve::store::Store;

/// After a silence this long, [`ServerEvent::Alive`] is sent. Clients reconnect after a longer one.
const MAX_SILENCE: Duration = Duration::from_secs(15);

/// Converts an event for sending.
fn to_sse_event(event: &ServerEvent) -> Option<Event> {
    let name = match event {
        ServerEvent::Alive {} => "alive",
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
    Sse::new(ReceiverStream::new(events).filter_map(|event| to_sse_event(&event)).map(Ok))
}

/// Forwards events to one client until it disconnects or the server shuts down.
async fn forward(live: Arc<LiveUpdates>, sender: &Sender<ServerEvent>) -> Option<()> {
    let (mut runs, mut events) = subscribe(&live).await?;
    send(sender, ServerEvent::Live { runs }).await?;
    loop {
        let event = tokio::select! {
            () = sender.closed() => return None,
            event = timeout(MAX_SILENCE, events.recv()) => event,
        };
        let Ok(event) = event else {
            send(sender, ServerEvent::Alive {}).await?;
            continue;
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

async fn send(sender: &Sender<ServerEvent>, event: ServerEvent) -> Option<()> {
    sender.send(event).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without events, clients could not tell a quiet server from a lost connection.
    #[tokio::test(start_paused = true)]
    async fn quiet_streams_send_alive() {
        let live = Arc::new(LiveUpdates::without_files());
        let (sender, mut events) = channel(1);
        let forwarded = tokio::spawn(async move { forward(live, &sender).await });
        assert_eq!(events.recv().await, Some(ServerEvent::Live { runs: Vec::new() }));
        for _ in 0..2 {
            assert_eq!(events.recv().await, Some(ServerEvent::Alive {}));
        }
        drop(events);
        assert_eq!(forwarded.await.unwrap(), None);
    }
}
