//! `Process`: a running program, with its streams, its exit and its errors.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cobalt_core::wording::count;
use tokio::sync::mpsc as channel;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::time::{sleep, timeout};

use super::program::CommandConfig;
use super::protocol::quoted;
use crate::evaluators::EvalError;
use crate::processes::{ChildGuard, ProcessGroup};

/// The interval for polling whether a process has exited.
pub const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The time for a process to exit after closing stdout, and for its last messages to arrive.
pub const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A running program. It ends on drop, with everything that it started.
#[derive(Debug)]
pub struct Process {
    running: ChildGuard,
    /// Its stdin, which is closed when this is dropped.
    requests: Option<mpsc::Sender<Vec<u8>>>,
    answers: channel::Receiver<ProgramOutput>,
    pub(super) messages: OutputTail,
    /// The number of its responses.
    pub(super) response_count: usize,
}

/// The state of an idle program.
pub enum IdleState {
    Quiet,
    Exited,
    /// It wrote something without a request.
    UnexpectedOutput(ProgramOutput),
}

impl Process {
    pub fn start(program: &CommandConfig<'_>, ends: Framing) -> Result<Self, String> {
        let mut command = program.command()?;
        let file = command.get_program().to_owned();
        let failed = |error| format!("failed to start `{}`: {error}", file.display());
        Self::of(ProcessGroup::default().start(&mut command).map_err(failed)?, ends).map_err(failed)
    }

    fn of(running: ChildGuard, ends: Framing) -> io::Result<Self> {
        let (stdin, stdout, stderr) = {
            let mut child = running.child();
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        };
        let lost = || io::Error::other("a pipe is missing");
        let requests = Some(spawn_writer(stdin.ok_or_else(lost)?)?);
        let answers = spawn_reader(stdout.ok_or_else(lost)?, ends)?;
        let messages = OutputTail::of(stderr.ok_or_else(lost)?)?;
        Ok(Self { running, requests, answers, messages, response_count: 0 })
    }

    /// Writes a request.
    pub fn send(&self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // If the program has closed stdin or exited, its stdout shows that.
            let _ = requests.send(request);
        }
    }

    /// Closes stdin: there are no further requests.
    pub fn close_stdin(&mut self) {
        self.requests = None;
    }

    /// Waits for a response; `None` if stdout is closed.
    pub async fn next_output(&mut self) -> Option<ProgramOutput> {
        self.answers.recv().await
    }

    /// Checks the state of the idle program.
    pub fn idle_state(&mut self) -> IdleState {
        match self.answers.try_recv() {
            Ok(heard) => IdleState::UnexpectedOutput(heard),
            Err(TryRecvError::Disconnected) => IdleState::Exited,
            Err(TryRecvError::Empty) => IdleState::Quiet,
        }
    }

    /// Waits for its exit and its last messages; `None` if it keeps running without stdout.
    pub async fn wait_for_exit_and_messages(&self) -> Option<ExitStatus> {
        let ended = timeout(EXIT_GRACE, self.ended()).await.ok();
        // A child process may keep writing to stderr.
        self.messages.wait(EXIT_GRACE).await;
        ended
    }

    /// Its exit status, if it has exited.
    pub fn status(&self) -> Option<ExitStatus> {
        self.running.status()
    }

    /// Waits for its exit.
    pub async fn ended(&self) -> ExitStatus {
        loop {
            if let Some(status) = self.status() {
                return status;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the deadline for it to exit, then ends it with everything that it started. Blocks. Its stdin must be closed.
    pub fn finish(mut self, deadline: Instant) {
        loop {
            // Discard its output, so that it does not block on writing.
            while self.answers.try_recv().is_ok() {}
            if self.status().is_some() || Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The maximum size of a response, in bytes.
pub const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// The number of last lines of output to keep, and the maximum size of each, in bytes.
const MAX_LINES: usize = 20;
const MAX_LINE_BYTES: usize = 500;

/// Output of a program.
#[derive(Debug)]
pub enum ProgramOutput {
    /// A response, and whether more output followed it.
    Response { bytes: Vec<u8>, more: bool },
    /// More than the maximum size.
    TooLong,
}

/// What ends a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The end of a line.
    Lines,
    /// The end of stdout.
    WholeStream,
}

/// Writes everything from the channel to a stream, and closes it when the channel is closed.
pub fn spawn_writer(mut to: impl Write + Send + 'static) -> io::Result<mpsc::Sender<Vec<u8>>> {
    let (sender, requests) = mpsc::channel::<Vec<u8>>();
    spawn_thread("stdin", move || {
        for request in requests {
            // A program may respond without reading everything; if it has exited, its stdout shows that.
            if to.write_all(&request).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}

/// Reads responses. The next one is read only after the last one was taken, so endless output does not fill memory.
pub fn spawn_reader(
    from: impl Read + Send + 'static,
    ends: Framing,
) -> io::Result<channel::Receiver<ProgramOutput>> {
    let (sender, answers) = channel::channel(1);
    spawn_thread("stdout", move || {
        let mut from = BufReader::with_capacity(1 << 16, from);
        while let Some(heard) = next_response(&mut from, ends) {
            let is_last = matches!(heard, ProgramOutput::TooLong);
            if sender.blocking_send(heard).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(answers)
}

/// The next response, `None` at the end of the stream. Blank lines are skipped.
fn next_response<R: Read>(from: &mut BufReader<R>, ends: Framing) -> Option<ProgramOutput> {
    loop {
        match next_bytes(from, ends)? {
            ProgramOutput::Response { bytes, .. }
                if ends == Framing::Lines && bytes.trim_ascii().is_empty() => {}
            heard => return Some(heard),
        }
    }
}

fn next_bytes<R: Read>(from: &mut BufReader<R>, ends: Framing) -> Option<ProgramOutput> {
    let mut bytes = Vec::new();
    let mut limited = from.take(MAX_RESPONSE_BYTES + 1);
    let read = match ends {
        Framing::Lines => limited.read_until(b'\n', &mut bytes),
        Framing::WholeStream => limited.read_to_end(&mut bytes),
    };
    if read.is_err() || bytes.is_empty() {
        return None;
    }
    if bytes.len() as u64 > MAX_RESPONSE_BYTES {
        return Some(ProgramOutput::TooLong);
    }
    Some(ProgramOutput::Response { bytes, more: !from.buffer().trim_ascii().is_empty() })
}

/// The last lines that a program wrote.
#[derive(Clone, Debug, Default)]
pub struct OutputTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    is_complete: Arc<AtomicBool>,
}

impl OutputTail {
    /// Collects the last lines of a stream.
    pub fn of(from: impl Read + Send + 'static) -> io::Result<Self> {
        let messages = Self::default();
        let kept = messages.clone();
        spawn_thread("output", move || {
            let mut from = BufReader::new(from);
            let mut bytes = Vec::new();
            // A long line is split.
            while from
                .by_ref()
                .take(MAX_LINE_BYTES as u64)
                .read_until(b'\n', &mut bytes)
                .is_ok_and(|read| read > 0)
            {
                kept.push(String::from_utf8_lossy(&bytes).trim_end());
                bytes.clear();
            }
            kept.is_complete.store(true, Ordering::Release);
        })?;
        Ok(messages)
    }

    fn push(&self, line: &str) {
        if line.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Waits for the end of the stream, up to a limit.
    pub async fn wait(&self, limit: Duration) {
        let ended = async {
            while !self.is_complete() {
                sleep(POLL_INTERVAL).await;
            }
        };
        let _ = timeout(limit, ended).await;
    }

    /// Whether the stream has ended.
    pub fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// The lines collected so far.
    pub fn last_lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

fn spawn_thread(stream: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("cobalt-{stream}")).spawn(work).map(drop)
}

/// An error with the last lines that the program wrote to stderr.
pub fn with_stderr(problem: &str, process: &Process) -> EvalError {
    let lines = process.messages.last_lines();
    EvalError::new(match lines.is_empty() {
        true => format!("{problem}; it wrote nothing to stderr"),
        false => format!("{problem}; its last lines on stderr:\n{}", lines.join("\n")),
    })
}

/// Describes the exit, to follow "the program".
pub fn describe_exit(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => status.code().map_or_else(
            || format!("was killed by {}", describe_signal(status)),
            |code| format!("exited with code {code}"),
        ),
        None => "closed its stdout".to_owned(),
    }
}

#[cfg(unix)]
fn describe_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map_or_else(|| "a signal".to_owned(), |number| format!("signal {number}"))
}

#[cfg(not(unix))]
fn describe_signal(_: ExitStatus) -> String {
    "a signal".to_owned()
}

/// A kept program exited before it responded.
pub fn exited_early(status: Option<ExitStatus>, answered: usize) -> String {
    let how = describe_exit(status);
    match answered {
        0 => format!("the program {how} before its first answer"),
        1 => format!(
            "the program {how} after one answer, but must answer one line per request until its stdin is closed; for a \
             program that answers only once, set `keep-alive = false`"
        ),
        answered => format!("the program {how} after {} and before this one", count(answered, "answer")),
    }
}

/// The program timed out.
pub fn timed_out(limit: Duration, keep_alive: bool, is_first: bool) -> String {
    let limit = humantime::format_duration(limit);
    let start = if is_first { " (including its start)" } else { "" };
    match keep_alive {
        true => format!(
            "the program gave no answer within {limit}{start}. It must flush its stdout after each line. If it reads \
             stdin to the end before it answers, set `keep-alive = false`; otherwise increase `timeout`"
        ),
        false => format!("the program did not exit within {limit}; increase `timeout`"),
    }
}

/// The response exceeds the maximum size.
pub fn too_long() -> String {
    format!("the program's answer is longer than {} MiB", MAX_RESPONSE_BYTES >> 20)
}

/// The program wrote more than one response.
pub fn extra_output(heard: &ProgramOutput) -> String {
    match heard {
        ProgramOutput::TooLong => too_long(),
        ProgramOutput::Response { bytes, .. } => format!(
            "the program wrote more than one line for an output, such as {}; write only one line of JSON per output \
             to stdout",
            quoted(&String::from_utf8_lossy(bytes))
        ),
    }
}
