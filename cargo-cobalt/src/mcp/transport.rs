//! The stdio transport, one message per line, and the output of commands, line by line.

use std::future::Future;
use std::io;
use std::time::Duration;

use cobalt_core::redact::redacted_document;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub struct StdioTransport {
    lines: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    has_begun: bool,
    hung_up: CancellationToken,
}

impl StdioTransport {
    /// The stdio of this process. Cancels `hung_up` as soon as the assistant disconnects.
    pub fn new(hung_up: CancellationToken) -> Self {
        let (stdin, stdout) = stdio_pipes();
        Self { lines: AsyncRwTransport::new_server(stdin, stdout), has_begun: false, hung_up }
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sending = match redact_message(message) {
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
                JsonRpcMessage::Request(request) => self.has_begun |= starts_session(&request.request),
                // The library would end a session that has not started.
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

/// A message with known secrets redacted.
fn redact_message(message: ServerJsonRpcMessage) -> io::Result<ServerJsonRpcMessage> {
    let written = serde_json::to_vec(&message)?;
    let shown = redacted_document(written.clone());
    if shown == written { Ok(message) } else { reparse(message, &shown) }
}

/// Parses a redacted message. If it is no longer a valid message, the original is not sent: a response is replaced by an
/// error, since the assistant waits for one.
fn reparse(original: ServerJsonRpcMessage, shown: &[u8]) -> io::Result<ServerJsonRpcMessage> {
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
    let reason = "response withheld: it is not a valid message after known secrets are redacted";
    Ok(JsonRpcMessage::error(ErrorData::internal_error(reason, None), id))
}

/// Whether this request starts the session: `initialize` or, in later protocol versions, any request with all required
/// metadata. Discovery and pings may come first.
fn starts_session(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

/// How long to read output after the command exits.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// No pipe holds more than this many bytes: any further output is not the command's.
const MAX_DRAIN_BYTES: usize = 1 << 20;

/// The lines of an output.
pub struct OutputLines<T> {
    output: BufReader<T>,
    /// The incomplete next line.
    partial_line: Vec<u8>,
    ended: CancellationToken,
    /// The deadline and the remaining bytes, once the command has exited.
    after_end: Option<(Instant, usize)>,
}

impl<T: AsyncRead + Unpin> OutputLines<T> {
    /// The output of a command; `ended` is cancelled when it exits.
    pub fn of(output: T, ended: CancellationToken) -> Self {
        Self { output: BufReader::new(output), partial_line: Vec::new(), ended, after_end: None }
    }

    /// The next line, or `None` after the last one that the command printed.
    pub async fn next(&mut self) -> Option<String> {
        if self.after_end.is_none() {
            if let Some(line) = self.ended.clone().run_until_cancelled(self.read()).await {
                return line;
            }
            self.after_end = Some((Instant::now() + DRAIN_TIMEOUT, MAX_DRAIN_BYTES));
        }
        let (deadline, left) = self.after_end?;
        if left == 0 {
            return None;
        }
        // A line that is ready is read even after the deadline: the reader may have been slow.
        let Ok(line) = timeout_at(deadline, self.read()).await else {
            self.after_end = Some((deadline, 0));
            return (!self.partial_line.is_empty()).then(|| self.take());
        };
        let length = line.as_ref().map_or(0, |line| line.len() + 1);
        self.after_end = Some((deadline, left.saturating_sub(length)));
        line
    }

    /// The next line. Cancel safe.
    async fn read(&mut self) -> Option<String> {
        let is_at_end = self.output.read_until(b'\n', &mut self.partial_line).await.unwrap_or_default() == 0;
        (!is_at_end || !self.partial_line.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.partial_line);
        String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::redact::register_secret;
    use rmcp::model::{CallToolResult, ContentBlock, PingRequest, RequestId, ServerRequest, ServerResult};
    use serde_json::{Value, json};
    use tokio::io::AsyncWriteExt;

    use super::*;

    const SECRET: &str = "wR7kq2ZpX9vT4mLc";

    /// A response that contains the secret.
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
        let (original, sent) = (written(&answer()), written(&redact_message(answer()).unwrap()));
        assert!(!sent.to_string().contains(SECRET), "{sent}");
        let text = |message: &Value| message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text(&sent).starts_with("the key is [redacted:"), "{sent}");
        let mut expected = original;
        expected["result"]["content"][0]["text"] = json!(text(&sent));
        assert_eq!(sent, expected);
    }

    #[test]
    fn an_answer_that_cannot_be_read_without_its_secrets_is_replaced_by_an_error() {
        let sent = written(&reparse(answer(), br#"{ "[redacted:WIRE_KEY]": "2.0" }"#).unwrap());
        assert_eq!((&sent["id"], &sent["error"]["code"]), (&json!(7), &json!(-32603)), "{sent}");
        assert!(!sent.to_string().contains(SECRET), "{sent}");
    }

    #[test]
    fn a_request_that_cannot_be_read_without_its_secrets_is_not_sent() {
        let request = ServerRequest::PingRequest(PingRequest::default());
        let request = ServerJsonRpcMessage::request(request, RequestId::Number(8));
        assert!(reparse(request, b"{}").is_err());
    }

    /// The lines read from an output that stays open after the command has exited.
    async fn heard(printed: &[u8]) -> Vec<String> {
        let (mut kept_open, output) = tokio::io::duplex(4 * MAX_DRAIN_BYTES);
        kept_open.write_all(printed).await.unwrap();
        let ended = CancellationToken::new();
        ended.cancel();
        let (mut lines, mut heard) = (OutputLines::of(output, ended), Vec::new());
        while let Some(line) = lines.next().await {
            heard.push(line);
        }
        drop(kept_open);
        heard
    }

    #[tokio::test]
    async fn lines_printed_before_the_command_ends_are_read_even_if_its_output_stays_open() {
        assert_eq!(heard(b"one\r\ntwo\nand a half").await, ["one", "two", "and a half"]);
        assert!(heard(b"").await.is_empty());
    }

    #[tokio::test]
    async fn output_after_the_end_of_the_command_is_not_read_for_ever() {
        let lines = heard(&b"y\n".repeat(MAX_DRAIN_BYTES)).await;
        assert_eq!(lines.len(), MAX_DRAIN_BYTES / 2);
    }
}
