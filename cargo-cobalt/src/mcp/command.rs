//! Runs `cargo cobalt` as a child process in a project's folder, with that folder's settings, toolchain and variables.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};
use tokio::sync::OwnedMutexGuard;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::panic_guard::ProjectLocks;
use super::projects::Project;
use super::transport::OutputLines;
use crate::error::Error;
use crate::process_group::ProcessGroup;
use crate::project::{cargo, variables_of_this_process};

/// How long a command may take to exit after an interrupt, to save finished items.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
/// The same when the server shuts down: the assistant may kill it soon.
const SHUTDOWN_GRACE_PERIOD: Duration = Duration::from_secs(3);
/// Capacity of the queue of stdout lines.
const QUEUE_CAPACITY: usize = 1024;
/// How many of the last lines of stderr are kept.
const LAST_LINES: usize = 200;

/// How a command ended.
#[derive(Debug)]
pub struct CommandResult {
    pub status: ExitStatus,
    /// Whether it was told to end.
    pub was_cancelled: bool,
    /// The last lines of stderr.
    pub stderr: Vec<String>,
}

/// Starts commands, and makes sure that none outlives this process.
#[derive(Clone, Debug)]
pub struct Commands {
    /// The path this program was started from; a later build is at the same path.
    program: Arc<PathBuf>,
    running: TaskTracker,
    turns: ProjectLocks,
    /// Cancelled when the server shuts down.
    end: CancellationToken,
}

impl Commands {
    /// All commands are interrupted when `end` is cancelled.
    pub fn new(end: CancellationToken) -> Result<Self, Error> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Start { program: "cargo cobalt".to_owned(), source })?;
        Ok(Self {
            program: Arc::new(program),
            running: TaskTracker::new(),
            turns: ProjectLocks::default(),
            end,
        })
    }

    /// Waits until no other call runs experiments of the project; awaits `has_to` first if it must wait. Dropping the guard
    /// ends the turn.
    pub async fn lock_project(
        &self,
        project: &Project,
        cancelled: &CancellationToken,
        has_to: impl Future<Output = ()>,
    ) -> Result<OwnedMutexGuard<()>, Error> {
        let turn = self.turns.lock(project.root.clone(), has_to);
        cancelled.run_until_cancelled(turn).await.ok_or(Error::Interrupted)
    }

    /// Starts `cargo cobalt` with arguments. It is interrupted on `cancelled`, or when the result is dropped.
    pub fn start(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<RunningCommand, Error> {
        let mut command = Command::new(&*self.program);
        command.arg("cobalt").args(arguments);
        self.spawn(command, project, cancelled)
    }

    /// Like [`Self::start`], for cargo itself.
    pub fn start_cargo(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<RunningCommand, Error> {
        let program = if folder_has_toolchain() { "cargo".to_owned() } else { cargo() };
        let mut command = Command::new(program);
        for name in variables_of_this_process() {
            command.env_remove(name);
        }
        command.args(arguments);
        self.spawn(command, project, cancelled)
    }

    fn spawn(
        &self,
        mut command: Command,
        project: &Project,
        cancelled: &CancellationToken,
    ) -> Result<RunningCommand, Error> {
        if self.end.is_cancelled() || cancelled.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if !project.root.is_dir() {
            return Err(Error::NoProject(project.root.clone()));
        }
        command.current_dir(&project.root).env("NO_COLOR", "1");
        leave_toolchain_to_folder(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        ProcessGroup::create(&mut command);
        let child =
            command.spawn().map_err(|source| Error::Start { program: program_of(&command), source })?;
        let told = cancelled.child_token();
        let (sender, lines) = channel(QUEUE_CAPACITY);
        let build = Arc::<Mutex<BuildProgress>>::default();
        let hears = Arc::clone(&build);
        let ended = self.running.spawn(supervise(child, sender, hears, told.clone(), self.end.clone()));
        Ok(RunningCommand { lines, ended, build, begun: Instant::now(), _told_to_end: told.drop_guard() })
    }

    /// Runs work to completion even if its caller is gone. Its token is cancelled when it must stop early: on `cancelled`, or
    /// when the server shuts down.
    pub fn spawn_to_completion<Work: Future<Output: Send> + Send + 'static>(
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

    /// Waits until all commands have exited, after `end` is cancelled.
    pub async fn wait_all(&self) {
        self.running.close();
        self.running.wait().await;
    }
}

/// A running command; interrupted when this is dropped.
#[derive(Debug)]
pub struct RunningCommand {
    lines: Receiver<String>,
    ended: JoinHandle<io::Result<CommandResult>>,
    build: Arc<Mutex<BuildProgress>>,
    begun: Instant,
    _told_to_end: DropGuard,
}

/// Cargo's build progress, parsed from stderr.
#[derive(Debug, Default)]
struct BuildProgress {
    /// Number of crates it has started to compile.
    crates: usize,
    /// Its latest status line.
    doing: String,
}

impl BuildProgress {
    /// Parses a line of stderr. Cargo's status lines begin with a verb.
    fn parse_line(&mut self, line: &str) {
        const DOING: [&str; 5] = ["Compiling ", "Checking ", "Blocking ", "Downloading ", "Updating "];
        let line = line.trim_start();
        if DOING.iter().any(|verb| line.starts_with(verb)) {
            self.crates += usize::from(["Compiling ", "Checking "].iter().any(|verb| line.starts_with(verb)));
            // Without the path that follows a package of the project.
            self.doing = line.split(" (").next().unwrap_or(line).to_owned();
        }
    }
}

impl RunningCommand {
    /// The next line of its stdout.
    pub async fn next_line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Seconds since it was started.
    pub fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    /// The build progress: `12 s, crate 31: Compiling serde v1.0.228`.
    pub fn build_progress(&self) -> String {
        let seconds = self.seconds();
        let build = self.build.lock().unwrap_or_else(PoisonError::into_inner);
        match (build.crates, &*build.doing) {
            (_, "") => format!("{seconds} s"),
            (0, doing) => format!("{seconds} s: {doing}"),
            (crates, doing) => format!("{seconds} s, crate {crates}: {doing}"),
        }
    }

    /// Waits until it exits; discards unread lines.
    pub async fn wait(mut self) -> Result<CommandResult, Error> {
        while self.next_line().await.is_some() {}
        let ended = self.ended.await.unwrap_or_else(|error| Err(error.into()));
        ended.map_err(|source| Error::Wait { program: "`cargo cobalt`".to_owned(), source })
    }
}

fn program_of(command: &Command) -> String {
    command.as_std().get_program().to_string_lossy().into_owned()
}

/// Whether rustup chose this program's toolchain by the folder it was started in.
fn folder_has_toolchain() -> bool {
    let source = std::env::var("RUSTUP_TOOLCHAIN_SOURCE").unwrap_or_default();
    ["default", "path-override", "toolchain-file"].contains(&&*source)
}

/// If rustup chose the toolchain by folder, lets it choose again in the command's folder.
fn leave_toolchain_to_folder(command: &mut Command) {
    if folder_has_toolchain() {
        // `CARGO` is a path in the toolchain.
        for name in ["RUSTUP_TOOLCHAIN", "RUSTUP_TOOLCHAIN_SOURCE", "CARGO"] {
            command.env_remove(name);
        }
    }
}

/// Reads a command's output until it exits.
async fn supervise(
    mut child: Child,
    lines: Sender<String>,
    build: Arc<Mutex<BuildProgress>>,
    cancelled: CancellationToken,
    server_ends: CancellationToken,
) -> io::Result<CommandResult> {
    let has_ended = CancellationToken::new();
    let mut stdout = child.stdout.take().map(|stdout| OutputLines::of(stdout, has_ended.clone()));
    let gives_up = server_ends.clone();
    let hear = async move {
        while let Some(stdout) = &mut stdout
            && let Some(line) = stdout.next().await
        {
            // Without a listener it has been interrupted, and may print until it exits.
            tokio::select! {
                biased;
                _ = lines.send(line) => {}
                () = gives_up.cancelled() => {}
            }
        }
    };
    let mut stderr = child.stderr.take().map(|stderr| OutputLines::of(stderr, has_ended.clone()));
    let keep = async move {
        let mut last = VecDeque::new();
        while let Some(stderr) = &mut stderr
            && let Some(line) = stderr.next().await
        {
            build.lock().unwrap_or_else(PoisonError::into_inner).parse_line(&line);
            if last.len() == LAST_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        last.into()
    };
    let wait = async move {
        let _however_this_ends = has_ended.drop_guard();
        tokio::select! {
            status = child.wait() => return Ok((status?, false)),
            () = cancelled.cancelled() => {}
            () = server_ends.cancelled() => {}
        }
        terminate(&mut child, &server_ends).await.map(|status| (status, true))
    };
    let (ended, (), stderr) = tokio::join!(wait, hear, keep);
    ended.map(|(status, was_cancelled)| CommandResult { status, was_cancelled, stderr })
}

/// Interrupts a command and everything it started; kills them after a grace period.
async fn terminate(child: &mut Child, server_ends: &CancellationToken) -> io::Result<ExitStatus> {
    let group = ProcessGroup::led_by(child.id());
    group.interrupt();
    let with_server = async {
        server_ends.cancelled().await;
        sleep(SHUTDOWN_GRACE_PERIOD).await;
    };
    tokio::select! {
        _ = child.wait() => {}
        () = sleep(GRACE_PERIOD) => child.start_kill()?,
        () = with_server => child.start_kill()?,
    }
    group.kill();
    // The status is cached if it was awaited above.
    child.wait().await
}

#[cfg(all(test, unix))]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Starts a script instead of this program, with a temporary folder as project.
    fn started(
        script: &str,
        end: &CancellationToken,
        cancelled: &CancellationToken,
    ) -> (TempDir, RunningCommand) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cobalt"), script).unwrap();
        let project = Project { name: "trial".to_owned(), root: folder.path().to_owned() };
        let commands = Commands { program: Arc::new("sh".into()), ..Commands::new(end.clone()).unwrap() };
        (folder, commands.start(&project, &[], cancelled).unwrap())
    }

    async fn lines(running: &mut RunningCommand) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = running.next_line().await {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn a_build_is_reported_by_its_last_crate() {
        let script = "echo '   Compiling serde v1.0.228' >&2\necho '   Compiling desk v0.1.0 (/home/me/desk)' >&2\n\
                      echo 'warning: something' >&2\nsleep 1\necho done\n";
        let never = CancellationToken::new();
        let (_folder, mut running) = started(script, &never, &never);
        assert_eq!(running.next_line().await.unwrap(), "done");
        let told = running.build_progress();
        assert!(told.ends_with(" s, crate 2: Compiling desk v0.1.0"), "{told}");
        running.wait().await.unwrap();
    }

    #[tokio::test]
    async fn a_command_has_ended_even_if_a_process_it_started_keeps_its_outputs_open() {
        let script = "sleep 30 &\necho one\necho wrong >&2\nprintf two\nexit 3\n";
        let never = CancellationToken::new();
        let (_folder, mut running) = started(script, &never, &never);
        let heard = tokio::time::timeout(Duration::from_secs(10), async {
            (lines(&mut running).await, running.wait().await.unwrap())
        });
        let (lines, ended) = heard.await.unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!((ended.status.code(), ended.was_cancelled), (Some(3), false));
        assert_eq!(ended.stderr, ["wrong"]);
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn a_cancelled_command_may_print_before_it_ends() {
        // A shell cannot trap a signal that was ignored when it was started, nor reliably while it starts a program.
        let listening = "[ -n \"$AGAIN\" ] || AGAIN=1 exec env --default-signal=INT sh \"$0\"\n";
        let script = format!("{listening}trap 'echo kept; exit 2' INT\nsleep 30 &\necho ready\nwait\n");
        let cancelled = CancellationToken::new();
        let (_folder, mut running) = started(&script, &CancellationToken::new(), &cancelled);
        assert_eq!(running.next_line().await.unwrap(), "ready");
        cancelled.cancel();
        assert_eq!(lines(&mut running).await, ["kept"]);
        let ended = running.wait().await.unwrap();
        assert_eq!((ended.status.code(), ended.was_cancelled), (Some(2), true));
    }

    #[tokio::test]
    async fn a_cancelled_commands_children_end_with_it_even_if_they_ignore_the_signal() {
        let script = "(trap '' INT; while :; do echo on >>beats; sleep 0.02; done) &\ntrap 'exit 2' INT\necho ready\nwait\n";
        let cancelled = CancellationToken::new();
        let (folder, mut running) = started(script, &CancellationToken::new(), &cancelled);
        assert_eq!(running.next_line().await.unwrap(), "ready");
        let beats = || std::fs::metadata(folder.path().join("beats")).map_or(0, |file| file.len());
        while beats() == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        cancelled.cancel();
        assert!(running.wait().await.unwrap().was_cancelled);
        let last = beats();
        sleep(Duration::from_millis(200)).await;
        assert_eq!(beats(), last);
    }

    #[tokio::test]
    async fn the_last_lines_of_stderr_are_kept_and_a_slow_listener_loses_nothing() {
        let never = CancellationToken::new();
        let script = "i=0\nwhile [ $i -lt 3000 ]; do echo $i; echo $i >&2; i=$((i+1)); done\n";
        let (_folder, mut running) = started(script, &never, &never);
        // By now it has exited, except for unread output.
        tokio::time::sleep(SHUTDOWN_GRACE_PERIOD / 2).await;
        assert_eq!(lines(&mut running).await.len(), 3000);
        let last: Vec<_> = (3000 - LAST_LINES..3000).map(|line| line.to_string()).collect();
        assert_eq!(running.wait().await.unwrap().stderr, last);
    }

    #[tokio::test]
    async fn nothing_is_started_once_the_server_ends() {
        let end = CancellationToken::new();
        let commands = Commands::new(end.clone()).unwrap();
        end.cancel();
        let project = Project { name: "trial".to_owned(), root: std::env::temp_dir() };
        let refused = commands.start(&project, &[], &CancellationToken::new());
        assert!(matches!(refused, Err(Error::Interrupted)));
        commands.wait_all().await;
    }
}
