//! A scripted model server: it speaks the APIs of OpenAI and Anthropic, but its "model" is a set of rules.
//!
//! It stands in for a provider, so that you can run the example agents, and record them again, without a key. The rules know these two
//! agents and their judges, and nothing else. They are deterministic, and deliberately wrong for a few items.

mod api;
mod conversation;
mod script;
mod text;
mod tokens;

use std::net::Ipv4Addr;

use axum::Router;
use tokio::net::TcpListener;

/// A server that listens on the loopback interface.
#[derive(Debug)]
pub struct ModelServer {
    listener: TcpListener,
    port: u16,
}

impl ModelServer {
    /// Binds to a port on loopback; 0 picks a free one.
    ///
    /// # Errors
    ///
    /// The port is taken.
    pub async fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address, without a path: `http://127.0.0.1:8080`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The environment variables with which clients of both providers find the server. The keys only have to be there.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("OPENAI_BASE_URL", format!("{}/v1", self.url())),
            ("OPENAI_API_KEY", "scripted".to_owned()),
            ("ANTHROPIC_BASE_URL", self.url()),
            ("ANTHROPIC_API_KEY", "scripted".to_owned()),
        ]
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    ///
    /// The listener fails.
    pub async fn serve(self) -> std::io::Result<()> {
        axum::serve(self.listener, router()).await
    }
}

fn router() -> Router {
    api::router()
}
