//! The wire to the assistant: stdin and stdout, a message in a line.

use std::future::Future;
use std::io;

use cobalt::redact::redacted_document;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio_util::sync::CancellationToken;

pub(super) struct Wire {
    lines: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    has_begun: bool,
    hung_up: CancellationToken,
}

impl Wire {
    /// The one of this process. When the assistant hangs up, `hung_up` is cancelled at once.
    pub(super) fn new(hung_up: CancellationToken) -> Self {
        let (stdin, stdout) = stdio_pipes();
        Self { lines: AsyncRwTransport::new_server(stdin, stdout), has_begun: false, hung_up }
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sending = match without_secrets(message) {
            Ok(message) => Ok(self.lines.send(message)),
            Err(error) => Err(error),
        };
        async move { sending?.await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(message) = self.lines.receive().await else {
                self.hung_up.cancel();
                return None;
            };
            match &message {
                JsonRpcMessage::Request(request) => self.has_begun |= begins(&request.request),
                // It would be the end of a conversation that has not begun.
                _ if !self.has_begun => continue,
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}

/// A message without the values that are known to be secret.
fn without_secrets(message: ServerJsonRpcMessage) -> io::Result<ServerJsonRpcMessage> {
    let written = serde_json::to_vec(&message)?;
    let shown = redacted_document(written.clone());
    if shown == written { Ok(message) } else { read_back(message, &shown) }
}

/// Reads a message of which secrets were removed. If what remains is no message, the original is not sent: an answer is
/// replaced by an error, since the assistant waits for one.
fn read_back(original: ServerJsonRpcMessage, shown: &[u8]) -> io::Result<ServerJsonRpcMessage> {
    let error = match serde_json::from_slice(shown) {
        Ok(message) => return Ok(message),
        Err(error) => io::Error::from(error),
    };
    let id = match original {
        JsonRpcMessage::Response(response) => Some(response.id),
        JsonRpcMessage::Error(error) => error.id,
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    };
    if id.is_none() {
        return Err(error);
    }
    let reason = "the answer is not sent, as it cannot be read once the known secrets are removed from it";
    Ok(JsonRpcMessage::error(ErrorData::internal_error(reason, None), id))
}

/// Whether the conversation begins with this request: it says hello or, as later versions of the protocol have it, says by
/// itself all that a hello would. What is said to find out about the server comes before.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use cobalt::redact::register_secret;
    use rmcp::model::{CallToolResult, ContentBlock, PingRequest, RequestId, ServerRequest, ServerResult};
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "wR7kq2ZpX9vT4mLc";

    /// An answer with the secret in it.
    fn answer() -> ServerJsonRpcMessage {
        let result = CallToolResult::success(vec![ContentBlock::text(format!("the key is {SECRET}"))]);
        ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), RequestId::Number(7))
    }

    fn written(message: &ServerJsonRpcMessage) -> Value {
        serde_json::to_value(message).unwrap()
    }

    #[test]
    fn a_known_secret_is_removed_and_nothing_else_changes() {
        register_secret("WIRE_KEY", SECRET);
        let (original, sent) = (written(&answer()), written(&without_secrets(answer()).unwrap()));
        assert!(!sent.to_string().contains(SECRET), "{sent}");
        let text = |message: &Value| message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text(&sent).starts_with("the key is [redacted:"), "{sent}");
        let mut expected = original;
        expected["result"]["content"][0]["text"] = json!(text(&sent));
        assert_eq!(sent, expected);
    }

    #[test]
    fn an_answer_that_cannot_be_read_without_its_secrets_is_replaced_by_an_error() {
        let sent = written(&read_back(answer(), br#"{ "[redacted:WIRE_KEY]": "2.0" }"#).unwrap());
        assert_eq!((&sent["id"], &sent["error"]["code"]), (&json!(7), &json!(-32603)), "{sent}");
        assert!(!sent.to_string().contains(SECRET), "{sent}");
    }

    #[test]
    fn a_request_that_cannot_be_read_without_its_secrets_is_not_sent() {
        let request = ServerRequest::PingRequest(PingRequest::default());
        let request = ServerJsonRpcMessage::request(request, RequestId::Number(8));
        assert!(read_back(request, b"{}").is_err());
    }
}
