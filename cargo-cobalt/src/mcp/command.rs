//! `cargo cobalt` as a command below this one, in a project's folder, so that it does what it does for a user there: with the
//! settings, the toolchain and the variables of that place.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::projects::Project;
use crate::error::Error;
use crate::interrupt::interrupt;
use crate::project::{cargo, variables_of_this_process};

/// How long a command has for its end once it was told: what is finished is kept by then.
const TIME_TO_END: Duration = Duration::from_secs(10);
/// How many lines may wait to be heard.
const MOST_WAITING: usize = 1024;
/// How many of the last lines of stderr are kept.
const LAST_LINES: usize = 200;

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Whether it was told to end.
    pub(super) was_cancelled: bool,
    /// The last lines of stderr.
    pub(super) stderr: Vec<String>,
}

/// Starts commands, and sees that none outlives this one.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    /// This program: the path that it was started by, under which a later build lies, too.
    program: Arc<PathBuf>,
    running: TaskTracker,
    end: CancellationToken,
}

impl Commands {
    pub(super) fn new() -> Result<Self, Error> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Start { program: "cargo cobalt".to_owned(), source })?;
        Ok(Self { program: Arc::new(program), running: TaskTracker::new(), end: CancellationToken::new() })
    }

    /// Starts `cargo cobalt` with arguments. When `cancelled`, or when nobody waits for it any more, it is told to end.
    pub(super) fn start(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<Running, Error> {
        let mut command = Command::new(&*self.program);
        command.arg("cobalt").args(arguments).current_dir(&project.root);
        self.spawn(command, cancelled)
    }

    /// The same with cargo itself.
    pub(super) fn start_cargo(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<Running, Error> {
        let mut command = Command::new(cargo());
        variables_of_this_process().for_each(|name| drop(command.env_remove(name)));
        command.args(arguments).current_dir(&project.root);
        self.spawn(command, cancelled)
    }

    fn spawn(&self, mut command: Command, cancelled: &CancellationToken) -> Result<Running, Error> {
        command.env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = command
            .spawn()
            .map_err(|source| Error::Start { program: program_of(&command), source })?;
        let end = cancelled.child_token();
        let (sender, lines) = channel(MOST_WAITING);
        let ended = self.running.spawn(see_through(child, sender, end.clone(), self.end.clone()));
        Ok(Running { lines, ended, _told_to_end: end.drop_guard() })
    }

    /// Sees work through that must not be cut off, even where nobody waits for it any more. It is told when it has to end early:
    /// when `cancelled`, or with all commands.
    pub(super) fn see_to<Work: Future<Output: Send> + Send + 'static>(
        &self,
        cancelled: &CancellationToken,
        work: impl FnOnce(CancellationToken) -> Work,
    ) -> JoinHandle<Work::Output> {
        let (told, end) = (cancelled.child_token(), self.end.clone());
        let work = work(told.clone());
        self.running.spawn(async move {
            let mut work = pin!(work);
            tokio::select! {
                done = &mut work => return done,
                () = end.cancelled() => told.cancel(),
            }
            work.await
        })
    }

    /// Tells all commands to end, and waits for them.
    pub(super) async fn end(&self) {
        self.end.cancel();
        self.running.close();
        self.running.wait().await;
    }
}

fn program_of(command: &Command) -> String {
    command.as_std().get_program().to_string_lossy().into_owned()
}

/// A command that was started; told to end when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    lines: Receiver<String>,
    ended: JoinHandle<io::Result<Ended>>,
    _told_to_end: DropGuard,
}

impl Running {
    /// The next line of its stdout.
    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Waits for its end; lines that nobody has taken are lost.
    pub(super) async fn end(mut self) -> Result<Ended, Error> {
        while self.line().await.is_some() {}
        let ended = self.ended.await.unwrap_or_else(|error| Err(error.into()));
        ended.map_err(|source| Error::Wait { program: "`cargo cobalt`".to_owned(), source })
    }
}

/// Sees a command through to its end.
async fn see_through(
    mut child: Child,
    lines: Sender<String>,
    cancelled: CancellationToken,
    end: CancellationToken,
) -> io::Result<Ended> {
    let mut stdout = Lines::of(child.stdout.take());
    let hear = async move {
        // Where nobody listens any more it was told to end, and may print until it has.
        while let Some(line) = stdout.next().await {
            let _ = lines.send(line).await;
        }
    };
    let mut stderr = Lines::of(child.stderr.take());
    let keep = async move {
        let mut last = VecDeque::new();
        while let Some(line) = stderr.next().await {
            if last.len() == LAST_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        last.into()
    };
    let wait = async move {
        tokio::select! {
            status = child.wait() => return Ok((status?, false)),
            () = cancelled.cancelled() => {}
            () = end.cancelled() => {}
        }
        child.id().into_iter().for_each(interrupt);
        let status = match timeout(TIME_TO_END, child.wait()).await {
            Ok(status) => status?,
            Err(_) => {
                child.kill().await?;
                child.wait().await?
            }
        };
        Ok((status, true))
    };
    let (ended, (), stderr) = tokio::join!(wait, hear, keep);
    ended.map(|(status, was_cancelled)| Ended { status, was_cancelled, stderr })
}

/// The lines of an output.
struct Lines<T>(Option<BufReader<T>>);

impl<T: AsyncRead + Unpin> Lines<T> {
    fn of(output: Option<T>) -> Self {
        Self(output.map(BufReader::new))
    }

    async fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let read = self.0.as_mut()?.read_until(b'\n', &mut line).await.ok()?;
        let text = || String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        (read > 0).then(text)
    }
}
