//! Responds to a request even if its handler panics, runs one call at a time per project, and formats errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use cobalt_core::redact::redacted;
use cobalt_core::reporters::escape_control;
use cobalt_core::wording::truncate;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, Service};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use super::plain_errors::simplify;
use crate::error::Error;

/// Wraps a service: if it panics, responds with an error.
#[derive(Debug)]
pub struct PanicGuard<S>(pub S);

impl<S: Service<RoleServer>> Service<RoleServer> for PanicGuard<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let mut answering = pin!(self.0.handle_request(request, context));
        // Unwind safe: state that outlives the request is changed in a single step, or not at all.
        poll_fn(|waker| {
            let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(waker)));
            polled.unwrap_or_else(|_| Poll::Ready(Err(internal_error())))
        })
        .await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }
}

fn internal_error() -> ErrorData {
    let message = "internal error in cobalt while handling this request; see the server's stderr; other requests still work";
    ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None)
}

/// A queue of calls for each project folder.
#[derive(Clone, Debug, Default)]
pub struct ProjectLocks(Arc<Mutex<HashMap<PathBuf, Arc<Turn<()>>>>>);

impl ProjectLocks {
    /// Waits for a turn in a project, in the order of the calls; awaits `has_to` first if it must wait. Dropping the guard ends
    /// the turn.
    pub async fn lock(&self, project: PathBuf, has_to: impl Future<Output = ()>) -> OwnedMutexGuard<()> {
        let turn =
            Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(project).or_default());
        match Arc::clone(&turn).try_lock_owned() {
            Ok(turn) => turn,
            Err(_) => {
                has_to.await;
                turn.lock_owned().await
            }
        }
    }
}

/// The longest text, in characters: requested names may have any length.
const LONGEST: usize = 4_000;

/// The error's message in plain words, redacted and truncated.
pub fn error_message(error: &Error) -> String {
    escape_control(&truncate(&redacted(&simplify(&error.to_string())), LONGEST)).into_owned()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ListToolsResult, PaginatedRequestParams};
    use rmcp::{ServerHandler, ServiceExt};
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

    use super::*;

    struct Panics;

    impl ServerHandler for Panics {
        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            panic!("on purpose");
        }
    }

    #[tokio::test]
    async fn a_panic_is_answered_with_an_error_and_the_next_request_works() {
        let (assistant, server) = duplex(1 << 16);
        tokio::spawn(async { PanicGuard(Panics).serve(split(server)).await.unwrap().waiting().await });
        let (heard, mut said) = split(assistant);
        let mut heard = BufReader::new(heard).lines();
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "tests", "version": "1" }
        });
        let mut answers = Vec::new();
        for (method, params) in [("initialize", hello), ("tools/list", json!({})), ("ping", json!({}))] {
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            said.write_all(format!("{request}\n").as_bytes()).await.unwrap();
            let answer = heard.next_line().await.unwrap().unwrap();
            answers.push(serde_json::from_str::<Value>(&answer).unwrap());
        }
        assert_eq!(answers[1]["error"]["code"], -32603, "{answers:?}");
        assert_eq!(answers[2]["result"], json!({}), "{answers:?}");
    }

    #[tokio::test]
    async fn a_turn_starts_when_the_previous_one_ends_and_other_projects_do_not_wait() {
        let turns = ProjectLocks::default();
        let first = turns.lock("a".into(), async { panic!("it is free") }).await;
        drop(turns.lock("b".into(), async { panic!("it is free") }).await);
        let mut first = Some(first);
        turns.lock("a".into(), async { drop(first.take()) }).await;
        assert!(first.is_none());
    }
}
