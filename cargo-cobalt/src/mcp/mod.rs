//! `cargo cobalt mcp`: the server that coding assistants drive, over stdin and stdout.
//!
//! A request comes to the [`server`], which hands it to one of the [`tools`]. Each is about one of the [`projects`]. What has to
//! be built is left to a [`command`] below this one, which stands in the project's folder as a user would; what was run before
//! is read of the result files.

mod changes;
mod command;
mod complete;
mod guarded;
mod past;
mod paths;
mod plain;
mod projects;
mod prompts;
mod resources;
mod runs;
mod server;
mod shown;
mod stderr;
mod tools;
mod wire;

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
use guarded::Guarded;
use projects::Projects;
use server::Server;
use wire::Wire;

/// How long the last answers have, once the server is to end: assistants do not wait for much longer.
const TIME_FOR_LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Answers an assistant until it hangs up.
pub fn mcp(arguments: &Mcp) -> Result<ExitCode, Error> {
    let end = CancellationToken::new();
    let (projects, commands) = (Projects::of(&arguments.project)?, Commands::new(end.clone())?);
    interrupt::pass_on()?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Server)?;
    let outcome = runtime.block_on(async {
        let outcome = converse(Server::new(projects, commands.clone()), &end).await;
        end.cancel();
        commands.ended().await;
        outcome
    });
    // What reads stdin cannot be stopped, and is not waited for.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Answers until the assistant hangs up, or this program is told to end: then, what is done for it is to `end`.
async fn converse(server: Server, end: &CancellationToken) -> Result<(), Error> {
    let mut answering = pin!(answer(server, end));
    tokio::select! {
        outcome = &mut answering => return outcome,
        () = interrupt::heard() => end.cancel(),
        () = end.cancelled() => {}
    }
    tokio::select! {
        _ = answering => {}
        // Where the assistant does not read, it is not waited for.
        () = sleep(TIME_FOR_LAST_ANSWERS) => {}
    }
    if interrupt::was_heard() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Answers over stdin and stdout.
async fn answer(server: Server, end: &CancellationToken) -> Result<(), Error> {
    let running = match Guarded(server).serve_with_ct(Wire::new(end.clone()), end.clone()).await {
        Ok(running) => running,
        // It went before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(Error::Server(io::Error::other(error))),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(Error::Server(error.into())),
        Ok(_) => Ok(()),
    }
}
