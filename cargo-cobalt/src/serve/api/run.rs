//! `/api/runs/ID`: a run with all of its items, as its result file has it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use cobalt::Report;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

use super::ApiError;
use super::asked::Named;
use super::tagged::{Asking, respond};
use crate::serve::store::{RunText, Store};

/// A run with all of its items.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct WholeRun {
    pub(in crate::serve) run: Report,
}

/// How many bytes are sent at a time.
const PIECE: usize = 64 << 10;
/// What stands before the file in the answer, and behind it.
const BEFORE: &[u8] = b"{\"run\":";
const AFTER: &[u8] = b"}";

/// The file is sent as it is read: it may be large.
pub(super) async fn run(
    State(store): State<Arc<Store>>,
    Named(id): Named<String>,
    asking: Asking,
) -> Result<Response, ApiError> {
    let of = id.clone();
    respond(
        store,
        asking,
        move |store| store.run_state(&of),
        move |store, tag| {
            Ok(match store.text(&id)? {
                RunText::File(file) => {
                    let text = BEFORE.chain(tokio::fs::File::from_std(file)).chain(AFTER);
                    tag.json(Body::from_stream(ReaderStream::with_capacity(text, PIECE)))
                }
                RunText::Unfinished(run) => {
                    tag.json(serde_json::to_vec(&WholeRun { run: *run }).unwrap_or_default())
                }
            })
        },
    )
    .await
}
