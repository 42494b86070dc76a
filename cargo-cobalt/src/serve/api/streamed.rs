//! A long list that is sent while it is read, so that it is never in memory as a whole.

use std::io;
use std::thread;

use axum::body::{Body, Bytes};
use serde::Serialize;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

/// How many bytes are sent at a time, and how many times as many wait for whoever reads slowly.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

/// The list's items, as they are written.
#[derive(Debug)]
pub(super) struct Pieces {
    to: Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
    is_begun: bool,
}

/// Whoever asked reads no more.
#[derive(Debug)]
pub(super) struct Gone;

impl Pieces {
    /// Adds an item.
    pub(super) fn push(&mut self, item: &impl Serialize) -> Result<(), Gone> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.piece.push(b',');
        }
        // Writing to memory cannot fail, and there are no keys but texts in what is answered.
        let _ = serde_json::to_writer(&mut self.piece, item);
        if self.piece.len() < PIECE { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Gone> {
        let piece = std::mem::take(&mut self.piece);
        self.to.blocking_send(Ok(piece.into())).map_err(|_| Gone)
    }
}

/// A body of `head`, the text of an object whose last field is an empty list, and of the items of that list, which `write` is to push on a
/// thread of its own. Where that fails, the body ends too early, which whoever reads notices.
pub(super) fn streamed<E: Send + 'static>(
    mut head: Vec<u8>,
    write: impl FnOnce(&mut Pieces) -> Result<(), E> + Send + 'static,
) -> Body {
    /// How an object ends whose last field is an empty list.
    const END: &[u8] = b"]}";
    if head.ends_with(END) {
        head.truncate(head.len() - END.len());
    }
    let (to, from) = channel(WAITING);
    // Whoever reads slowly holds up no other answer. Where there is no thread to be had, the body ends at once.
    let _ = thread::Builder::new().spawn(move || {
        let mut pieces = Pieces { to, piece: head, is_begun: false };
        match write(&mut pieces) {
            Ok(()) => {
                pieces.piece.extend_from_slice(END);
                // Whoever reads no more wants no end, either.
                let _ = pieces.send();
            }
            Err(_) => {
                let _ = pieces.to.blocking_send(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    });
    Body::from_stream(ReceiverStream::new(from))
}
