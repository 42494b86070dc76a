//! The command that builds and runs, heard to its end.

use super::super::Call;
use super::heard::Heard;
use super::progress::Progress;
use crate::error::Error;
use crate::mcp::diagnostics::CompileErrors;
use crate::mcp::projects::Project;

/// What a command came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The exit code; none where a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) heard: Heard,
    pub(super) compile_errors: CompileErrors,
    /// The last lines on stderr.
    pub(super) stderr: Vec<String>,
}

/// Runs `cargo cobalt` with arguments, and tells how far it is.
pub(super) async fn run(
    call: Call<'_>,
    project: &Project,
    command: &[String],
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let Outcome { heard, compile_errors, .. } = &mut outcome;
    let mut running = call.commands.start(project, command, &call.context.ct)?;
    loop {
        tokio::select! {
            line = running.line() => {
                let Some(line) = line else { break };
                if compile_errors.hear(&line) {
                    continue;
                }
                if let Some(message) = heard.line(&line) {
                    progress.tell(heard.done, heard.total(), &message).await;
                }
            }
            () = progress.is_due() => progress.tell_waiting().await,
            () = progress.is_silent() => {
                let message = match heard.at_work() {
                    Some(work) => format!("{work}, {} s after the start of the build", running.seconds()),
                    None => format!("building {} for {}", project.name, running.build()),
                };
                progress.tell_part(heard.total(), &message).await;
            }
        }
    }
    progress.tell_waiting().await;
    heard.cut_off();
    let ended = running.end().await?;
    outcome.code = ended.status.code();
    outcome.stderr = ended.stderr;
    Ok(outcome)
}
