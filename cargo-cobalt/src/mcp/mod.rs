//! `cargo cobalt mcp`: an MCP server for coding assistants, over stdin and stdout.
//!
//! The [`server`] dispatches a request to one of the [`tools`], for one of the [`projects`]. Builds and runs are child
//! processes started by [`command`] in the project's folder. Past runs are read from the result files.

mod changes;
mod command;
mod complete;
mod panic_guard;
mod past_runs;
mod paths;
mod plain_errors;
mod projects;
mod prompts;
mod resources;
mod run_list;
mod server;
mod stderr;
mod tools;
mod transport;
mod view;

use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::runtime::Builder;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::cli::Mcp;
use crate::error::Error;
use crate::interrupt;
use command::Commands;
use panic_guard::PanicGuard;
use projects::Projects;
use server::Server;
use transport::StdioTransport;

/// How long the last responses may take at shutdown: assistants do not wait much longer.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves an assistant until it closes the connection.
pub fn mcp(arguments: &Mcp) -> Result<ExitCode, Error> {
    let end = CancellationToken::new();
    let (projects, commands) = (Projects::new(&arguments.project)?, Commands::new(end.clone())?);
    interrupt::install_handler()?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Server)?;
    let outcome = runtime.block_on(async {
        let outcome = serve_until_end(Server::new(projects, commands.clone()), &end).await;
        end.cancel();
        commands.wait_all().await;
        outcome
    });
    // The thread that reads stdin cannot be stopped, so do not wait for it.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Serves until the assistant disconnects or this process is interrupted; then cancels `end`.
async fn serve_until_end(server: Server, end: &CancellationToken) -> Result<(), Error> {
    let mut answering = pin!(serve(server, end));
    tokio::select! {
        outcome = &mut answering => return outcome,
        () = interrupt::received() => end.cancel(),
        () = end.cancelled() => {}
    }
    tokio::select! {
        _ = answering => {}
        // Do not wait for an assistant that does not read.
        () = sleep(SHUTDOWN_TIMEOUT) => {}
    }
    if interrupt::was_received() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Serves over stdin and stdout.
async fn serve(server: Server, end: &CancellationToken) -> Result<(), Error> {
    let running = match PanicGuard(server).serve_with_ct(StdioTransport::new(end.clone()), end.clone()).await
    {
        Ok(running) => running,
        // It disconnected before its first message.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(Error::Server(io::Error::other(error))),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(Error::Server(error.into())),
        Ok(_) => Ok(()),
    }
}
