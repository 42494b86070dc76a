//! `cargo cobalt mcp`: the server that coding assistants drive, over stdin and stdout.
//!
//! A request comes to the [`server`], which hands it to one of the [`tools`]. Each is about one of the [`projects`]. What has to
//! be built is left to a [`command`] below this one, which stands in the project's folder as a user would; what was run before
//! is read of the result files.

mod command;
mod diagnostics;
mod past;
mod paths;
mod projects;
mod prompts;
mod server;
mod stderr;
mod tools;

use std::process::ExitCode;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::runtime::Builder;

use self::command::Commands;
use self::projects::Projects;
use self::server::Server;
use crate::cli::Mcp;
use crate::error::Error;
use crate::interrupt;

/// Answers an assistant until it hangs up.
pub(crate) fn mcp(arguments: &Mcp) -> Result<ExitCode, Error> {
    let (projects, commands) = (Projects::of(&arguments.project)?, Commands::new()?);
    interrupt::pass_on()?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Server)?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            ended = converse(Server::new(projects, commands.clone())) => ended,
            () = interrupt::heard() => Err(Error::Interrupted),
        }
    });
    runtime.block_on(commands.end());
    // What reads stdin cannot be stopped, and is not waited for.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Answers over stdin and stdout until the assistant closes one of them.
async fn converse(server: Server) -> Result<(), Error> {
    let failed = |error: std::io::Error| Err(Error::Server(error));
    let running = match server.serve(rmcp::transport::stdio_pipes()).await {
        Ok(running) => running,
        // It went before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return failed(std::io::Error::other(error)),
    };
    match running.waiting().await {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
        Ok(QuitReason::JoinError(error)) | Err(error) => failed(error.into()),
        Ok(_) => Ok(()),
    }
}
