//! The wire to the assistant: stdin and stdout, a message in a line.

use std::future::Future;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage,
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
        self.lines.send(message)
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

/// Whether the conversation begins with this request: it says hello or, as later versions of the protocol have it, says by
/// itself all that a hello would. What is said to find out about the server comes before.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}
