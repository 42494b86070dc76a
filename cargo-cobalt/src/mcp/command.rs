//! `cargo cobalt` as a command below this one, in a project's folder, so that it does what it does for a user there: with the
//! settings, the toolchain and the variables of that place.

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

use super::guarded::Turns;
use super::projects::Project;
use super::wire::Lines;
use crate::error::Error;
use crate::project::{cargo, variables_of_this_process};

/// How long a command has for its end once it was told: what is finished is kept by then.
const TIME_TO_END: Duration = Duration::from_secs(10);
/// The same where the server ends, which the assistant may kill before long.
const TIME_TO_END_WITH_SERVER: Duration = Duration::from_secs(3);
/// How many lines may wait to be heard.
const MOST_WAITING: usize = 1024;
/// How many of the last lines of stderr are kept.
const LAST_LINES: usize = 200;

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// Whether it was told to end.
    pub was_cancelled: bool,
    /// The last lines of stderr.
    pub stderr: Vec<String>,
}

/// Starts commands, and sees that none outlives this one.
#[derive(Clone, Debug)]
pub struct Commands {
    /// This program: the path that it was started by, under which a later build lies, too.
    program: Arc<PathBuf>,
    running: TaskTracker,
    turns: Turns,
    /// That the server ends.
    end: CancellationToken,
}

impl Commands {
    /// Those of a server: when it is to `end`, they are.
    pub fn new(end: CancellationToken) -> Result<Self, Error> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Start { program: "cargo cobalt".to_owned(), source })?;
        Ok(Self { program: Arc::new(program), running: TaskTracker::new(), turns: Turns::default(), end })
    }

    /// Waits until no other call runs experiments of a project; where it `has_to`, that is said first. The turn lasts until it
    /// is dropped.
    pub async fn turn(
        &self,
        project: &Project,
        cancelled: &CancellationToken,
        has_to: impl Future<Output = ()>,
    ) -> Result<OwnedMutexGuard<()>, Error> {
        let turn = self.turns.wait(project.root.clone(), has_to);
        cancelled.run_until_cancelled(turn).await.ok_or(Error::Interrupted)
    }

    /// Starts `cargo cobalt` with arguments. When `cancelled`, or when nobody waits for it any more, it is told to end.
    pub fn start(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<Running, Error> {
        let mut command = Command::new(&*self.program);
        command.arg("cobalt").args(arguments);
        self.spawn(command, project, cancelled)
    }

    /// The same with cargo itself.
    pub fn start_cargo(
        &self,
        project: &Project,
        arguments: &[String],
        cancelled: &CancellationToken,
    ) -> Result<Running, Error> {
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
    ) -> Result<Running, Error> {
        if self.end.is_cancelled() || cancelled.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if !project.root.is_dir() {
            return Err(Error::NoProject(project.root.clone()));
        }
        command.current_dir(&project.root).env("NO_COLOR", "1");
        leave_toolchain_to_folder(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Group::begin(&mut command);
        let child =
            command.spawn().map_err(|source| Error::Start { program: program_of(&command), source })?;
        let told = cancelled.child_token();
        let (sender, lines) = channel(MOST_WAITING);
        let build = Arc::<Mutex<Build>>::default();
        let hears = Arc::clone(&build);
        let ended = self.running.spawn(see_through(child, sender, hears, told.clone(), self.end.clone()));
        Ok(Running { lines, ended, build, begun: Instant::now(), _told_to_end: told.drop_guard() })
    }

    /// Sees work through that must not be cut off, even where nobody waits for it any more. It is told when it has to end early:
    /// when `cancelled`, or with the server.
    pub fn see_to<Work: Future<Output: Send> + Send + 'static>(
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

    /// Waits for the end of all commands, once they were told.
    pub async fn ended(&self) {
        self.running.close();
        self.running.wait().await;
    }
}

/// A command that was started; told to end when this is dropped.
#[derive(Debug)]
pub struct Running {
    lines: Receiver<String>,
    ended: JoinHandle<io::Result<Ended>>,
    build: Arc<Mutex<Build>>,
    begun: Instant,
    _told_to_end: DropGuard,
}

/// How far cargo is with what it builds, by what it says on stderr.
#[derive(Debug, Default)]
struct Build {
    /// How many crates it has begun to compile.
    crates: usize,
    /// What it says it is doing.
    doing: String,
}

impl Build {
    /// Takes a line of stderr in. A line in which cargo says what it does begins with a verb in a column of its own.
    fn hear(&mut self, line: &str) {
        const DOING: [&str; 5] = ["Compiling ", "Checking ", "Blocking ", "Downloading ", "Updating "];
        let line = line.trim_start();
        if DOING.iter().any(|verb| line.starts_with(verb)) {
            self.crates += usize::from(["Compiling ", "Checking "].iter().any(|verb| line.starts_with(verb)));
            // Without the path that follows a package of the project.
            self.doing = line.split(" (").next().unwrap_or(line).to_owned();
        }
    }
}

impl Running {
    /// The next line of its stdout.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// How many seconds ago it was started.
    pub fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    /// How far the build is: `12 s, crate 31: Compiling serde v1.0.228`.
    pub fn build(&self) -> String {
        let seconds = self.seconds();
        let build = self.build.lock().unwrap_or_else(PoisonError::into_inner);
        match (build.crates, &*build.doing) {
            (_, "") => format!("{seconds} s"),
            (0, doing) => format!("{seconds} s: {doing}"),
            (crates, doing) => format!("{seconds} s, crate {crates}: {doing}"),
        }
    }

    /// Waits for its end; lines that nobody has taken are lost.
    pub async fn end(mut self) -> Result<Ended, Error> {
        while self.line().await.is_some() {}
        let ended = self.ended.await.unwrap_or_else(|error| Err(error.into()));
        ended.map_err(|source| Error::Wait { program: "`cargo cobalt`".to_owned(), source })
    }
}

fn program_of(command: &Command) -> String {
    command.as_std().get_program().to_string_lossy().into_owned()
}

/// Whether rustup has chosen this program's toolchain by the folder that it was started in.
fn folder_has_toolchain() -> bool {
    let source = std::env::var("RUSTUP_TOOLCHAIN_SOURCE").unwrap_or_default();
    ["default", "path-override", "toolchain-file"].contains(&&*source)
}

/// Where rustup has chosen by the folder, it chooses again in the command's.
fn leave_toolchain_to_folder(command: &mut Command) {
    if folder_has_toolchain() {
        // Cargo's own path is that of the toolchain.
        for name in ["RUSTUP_TOOLCHAIN", "RUSTUP_TOOLCHAIN_SOURCE", "CARGO"] {
            command.env_remove(name);
        }
    }
}

/// Sees a command through to its end.
async fn see_through(
    mut child: Child,
    lines: Sender<String>,
    build: Arc<Mutex<Build>>,
    cancelled: CancellationToken,
    server_ends: CancellationToken,
) -> io::Result<Ended> {
    let has_ended = CancellationToken::new();
    let mut stdout = child.stdout.take().map(|stdout| Lines::of(stdout, has_ended.clone()));
    let gives_up = server_ends.clone();
    let hear = async move {
        while let Some(stdout) = &mut stdout
            && let Some(line) = stdout.next().await
        {
            // Where nobody listens any more it was told to end, and may print until it has.
            tokio::select! {
                biased;
                _ = lines.send(line) => {}
                () = gives_up.cancelled() => {}
            }
        }
    };
    let mut stderr = child.stderr.take().map(|stderr| Lines::of(stderr, has_ended.clone()));
    let keep = async move {
        let mut last = VecDeque::new();
        while let Some(stderr) = &mut stderr
            && let Some(line) = stderr.next().await
        {
            build.lock().unwrap_or_else(PoisonError::into_inner).hear(&line);
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
        end(&mut child, &server_ends).await.map(|status| (status, true))
    };
    let (ended, (), stderr) = tokio::join!(wait, hear, keep);
    ended.map(|(status, was_cancelled)| Ended { status, was_cancelled, stderr })
}

/// Has a command end, with all that it has started: it may finish what it does, for some time.
async fn end(child: &mut Child, server_ends: &CancellationToken) -> io::Result<ExitStatus> {
    let group = Group::of(child.id());
    group.interrupt();
    let with_server = async {
        server_ends.cancelled().await;
        sleep(TIME_TO_END_WITH_SERVER).await;
    };
    tokio::select! {
        _ = child.wait() => {}
        () = sleep(TIME_TO_END) => child.start_kill()?,
        () = with_server => child.start_kill()?,
    }
    group.kill();
    // What was waited for is known from then on.
    child.wait().await
}

/// A command and all that it starts, told and ended together as a terminal does with what runs in it.
#[derive(Clone, Copy, Debug)]
struct Group(#[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups"))] Option<u32>);

impl Group {
    /// Has a command begin a group of its own once it starts.
    #[cfg(unix)]
    fn begin(command: &mut Command) {
        command.process_group(0);
    }

    #[cfg(not(unix))]
    fn begin(_: &mut Command) {}

    /// The group of the process that began it.
    fn of(leader: Option<u32>) -> Self {
        Self(leader)
    }

    /// Asks all of them to end, as Ctrl-C does. What hears of it twice at once takes it for one.
    fn interrupt(self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGINT);
    }

    /// Ends those that have not.
    fn kill(self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGKILL);
    }

    #[cfg(unix)]
    fn send(self, signal: nix::sys::signal::Signal) {
        use nix::sys::signal::killpg;
        use nix::unistd::Pid;

        // 0 would be the group of this process.
        if let Some(leader) = self.0.and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 0) {
            // There may be none any more.
            let _ = killpg(Pid::from_raw(leader), signal);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Starts a script instead of this program; the folder is its project.
    fn started(script: &str, end: &CancellationToken, cancelled: &CancellationToken) -> (TempDir, Running) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cobalt"), script).unwrap();
        let project = Project { name: "trial".to_owned(), root: folder.path().to_owned() };
        let commands = Commands { program: Arc::new("sh".into()), ..Commands::new(end.clone()).unwrap() };
        (folder, commands.start(&project, &[], cancelled).unwrap())
    }

    async fn lines(running: &mut Running) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = running.line().await {
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
        assert_eq!(running.line().await.unwrap(), "done");
        let told = running.build();
        assert!(told.ends_with(" s, crate 2: Compiling desk v0.1.0"), "{told}");
        running.end().await.unwrap();
    }

    #[tokio::test]
    async fn a_command_has_ended_though_something_that_it_has_started_holds_its_outputs_open() {
        let script = "sleep 30 &\necho one\necho wrong >&2\nprintf two\nexit 3\n";
        let never = CancellationToken::new();
        let (_folder, mut running) = started(script, &never, &never);
        let heard = tokio::time::timeout(Duration::from_secs(10), async {
            (lines(&mut running).await, running.end().await.unwrap())
        });
        let (lines, ended) = heard.await.unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!((ended.status.code(), ended.was_cancelled), (Some(3), false));
        assert_eq!(ended.stderr, ["wrong"]);
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn a_cancelled_command_says_what_it_has_to_say_before_it_ends() {
        // A shell cannot be told what whoever started the tests had it ignore; nor, for sure, at the moment in which it starts a
        // program.
        let listening = "[ -n \"$AGAIN\" ] || AGAIN=1 exec env --default-signal=INT sh \"$0\"\n";
        let script = format!("{listening}trap 'echo kept; exit 2' INT\nsleep 30 &\necho ready\nwait\n");
        let cancelled = CancellationToken::new();
        let (_folder, mut running) = started(&script, &CancellationToken::new(), &cancelled);
        assert_eq!(running.line().await.unwrap(), "ready");
        cancelled.cancel();
        assert_eq!(lines(&mut running).await, ["kept"]);
        let ended = running.end().await.unwrap();
        assert_eq!((ended.status.code(), ended.was_cancelled), (Some(2), true));
    }

    #[tokio::test]
    async fn what_a_cancelled_command_has_started_ends_with_it_though_it_does_not_listen() {
        let script = "(trap '' INT; while :; do echo on >>beats; sleep 0.02; done) &\ntrap 'exit 2' INT\necho ready\nwait\n";
        let cancelled = CancellationToken::new();
        let (folder, mut running) = started(script, &CancellationToken::new(), &cancelled);
        assert_eq!(running.line().await.unwrap(), "ready");
        let beats = || std::fs::metadata(folder.path().join("beats")).map_or(0, |file| file.len());
        while beats() == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        cancelled.cancel();
        assert!(running.end().await.unwrap().was_cancelled);
        let last = beats();
        sleep(Duration::from_millis(200)).await;
        assert_eq!(beats(), last);
    }

    #[tokio::test]
    async fn the_last_lines_of_stderr_are_kept_and_a_slow_listener_loses_nothing() {
        let never = CancellationToken::new();
        let script = "i=0\nwhile [ $i -lt 3000 ]; do echo $i; echo $i >&2; i=$((i+1)); done\n";
        let (_folder, mut running) = started(script, &never, &never);
        // By now it has ended, but for what waits to be heard.
        tokio::time::sleep(TIME_TO_END_WITH_SERVER / 2).await;
        assert_eq!(lines(&mut running).await.len(), 3000);
        let last: Vec<_> = (3000 - LAST_LINES..3000).map(|line| line.to_string()).collect();
        assert_eq!(running.end().await.unwrap().stderr, last);
    }

    #[tokio::test]
    async fn nothing_is_started_once_the_server_ends() {
        let end = CancellationToken::new();
        let commands = Commands::new(end.clone()).unwrap();
        end.cancel();
        let project = Project { name: "trial".to_owned(), root: std::env::temp_dir() };
        let refused = commands.start(&project, &[], &CancellationToken::new());
        assert!(matches!(refused, Err(Error::Interrupted)));
        commands.ended().await;
    }
}
