//! `cargo run -p model-server -- cargo test` runs a command with the scripted model server; `-- --port 8080` only serves.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use model_server::ModelServer;

/// The port for a command, unless it is taken. Recordings contain it, so it should not change each time.
const PORT: u16 = 8414;

const USAGE: &str = "usage: model-server COMMAND [ARGUMENT]...\n       model-server --port PORT";

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(|first| &**first) {
        Some("--port") => {
            let [_, port] = &arguments[..] else { bail!(USAGE) };
            let port = port.parse().with_context(|| format!("not a port: {port}"))?;
            let server =
                ModelServer::bind(port).await.with_context(|| format!("cannot listen on port {port}"))?;
            for (name, value) in server.environment() {
                println!("export {name}={value}");
            }
            server.serve().await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(program) if !program.starts_with('-') => {
            let server = match ModelServer::bind(PORT).await {
                Ok(server) => server,
                Err(_) => ModelServer::bind(0).await?,
            };
            let mut command = Command::new(program);
            command.args(&arguments[1..]).envs(server.environment());
            tokio::spawn(server.serve());
            let status = tokio::task::spawn_blocking(move || command.status()).await?;
            let status = status.with_context(|| format!("cannot run {program}"))?;
            // Ended by a signal: no code.
            Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8)))
        }
        _ => bail!(USAGE),
    }
}
