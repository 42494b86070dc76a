//! Has cargo check the test target, without running any of it.

use cargo_metadata::Message;
use tokio_util::sync::CancellationToken;

use super::super::run::Progress;
use super::Wanted;
use super::place::Place;
use crate::error::Error;
use crate::mcp::command::Commands;
use crate::mcp::diagnostics::Diagnostic;

/// What cargo says of the target.
pub(super) enum Checked {
    Compiles,
    /// What is wrong with the target, as the compiler prints it.
    Errors(Vec<String>),
    /// What keeps it from being checked at all: errors elsewhere in the project, or of cargo.
    Elsewhere(String),
}

/// Checks the target in the project's own target folder.
pub(super) async fn check(
    commands: &Commands,
    wanted: &Wanted,
    cancelled: &CancellationToken,
    progress: &mut Progress,
) -> Result<Checked, Error> {
    let Wanted { project, agent, place, .. } = wanted;
    let Place { target, .. } = place;
    let arguments = [
        "check".to_owned(),
        format!("--manifest-path={}", agent.package.manifest_path),
        // In the root of a workspace, cargo checks its default members otherwise.
        format!("--package={}", agent.package.id),
        format!("--test={target}"),
        "--message-format=json".to_owned(),
    ];
    let mut running = commands.start_cargo(project, &arguments, cancelled)?;
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    loop {
        tokio::select! {
            line = running.line() => {
                let Some(line) = line else { break };
                if let Some(Diagnostic { rendered, .. }) = Diagnostic::read(&line) {
                    if is_of_target(&line, place) { &mut ours } else { &mut others }.push(rendered);
                }
            }
            () = progress.is_silent() => progress.tell_part(None, &format!("checking it for {}", running.build())).await,
        }
    }
    let ended = running.end().await?;
    if ended.was_cancelled || cancelled.is_cancelled() {
        return Err(Error::Interrupted);
    }
    if ended.status.success() {
        return Ok(Checked::Compiles);
    }
    if others.is_empty() && !ours.is_empty() {
        return Ok(Checked::Errors(ours));
    }
    let said = if others.is_empty() { ended.stderr } else { others };
    Ok(Checked::Elsewhere(said.join("\n")))
}

/// Whether a message of the compiler is about the target.
fn is_of_target(line: &str, place: &Place) -> bool {
    let Ok(Message::CompilerMessage(message)) = serde_json::from_str(line) else { return false };
    message.target.name == place.target && message.target.src_path == *place.test
}
