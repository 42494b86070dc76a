//! A running test binary: its events and output, in one sequence.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use cobalt::command::log;
use cobalt::command::{Request, RequestKind};
use cobalt_core::reporters::Event;
use tempfile::TempDir;

use crate::cli::Selection;
use crate::error::{CommandError, Error, temp_folder_remedy};
use crate::interrupt::ForwardGuard;
use crate::project::Binary;

/// How long to wait for the last lines of a binary that has exited: a process it left behind can keep its output open forever.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// Capacity of the message queue; an agent that prints faster than the terminal blocks.
const QUEUE_CAPACITY: usize = 4096;
/// Number of reader threads: events, stdout, stderr.
const READERS: usize = 3;

/// A message from a binary.
#[derive(Debug)]
pub enum Message {
    /// An event and its line.
    Event(Box<Event>, String),
    /// A line printed by the agent or other code in the binary.
    Stdout(String),
    Stderr(String),
}

/// A message from a thread that reads from a binary.
enum ProcessEvent {
    Message(Message),
    /// The end of the events or of an output.
    End,
    /// The process has exited.
    Exit(io::Result<ExitStatus>),
}

/// A request to a binary.
#[derive(Clone, Copy, Debug)]
pub struct BinaryRequest<'a> {
    /// Which experiments.
    pub selection: &'a Selection,
    pub wanted: RequestKind,
    /// Whether the events of items have their traces.
    pub traces: bool,
    /// Arguments for the harness.
    pub arguments: &'a [String],
    /// Additional environment variables; of two with the same name, the later one wins.
    pub variables: &'a [(String, OsString)],
}

/// A binary and its additional environment variables.
pub type BinaryWithEnv<'a> = (&'a Binary, Vec<(String, OsString)>);

/// How a binary exited.
#[derive(Clone, Copy, Debug)]
pub struct ProcessExit {
    pub status: ExitStatus,
    /// The exit code reported in its last event. A library in the binary can exit with a different code.
    pub reported_code: Option<i32>,
}

impl ProcessExit {
    /// Whether the exit code and the last event both report success.
    pub fn is_success(self) -> bool {
        self.status.success() && self.reported_code == Some(0)
    }
}

/// Runs a binary until it exits and passes its messages to `hear`.
pub fn run(
    binary: &Binary,
    asked: BinaryRequest<'_>,
    mut hear: impl FnMut(Message),
) -> Result<ProcessExit, Error> {
    let pipe = Pipe::new().map_err(PipeError)?;
    let ends = pipe.open_ends().map_err(PipeError)?;
    let child = start(binary, asked, &pipe)?;
    let _below = ForwardGuard::new(&child);
    let heard = spawn_readers(child, ends);
    let (mut status, mut reported_code, mut listening, mut deadline) = (None, None, READERS, None);
    while status.is_none() || listening > 0 {
        let next = match deadline {
            None => heard.recv().ok(),
            Some(deadline) => {
                heard.recv_timeout(Instant::saturating_duration_since(&deadline, Instant::now())).ok()
            }
        };
        match next {
            Some(ProcessEvent::Message(message)) => match message {
                Message::Event(event, line) => match *event {
                    Event::Ended { exit_code } => reported_code = Some(exit_code),
                    _ => hear(Message::Event(event, line)),
                },
                message => hear(message),
            },
            Some(ProcessEvent::End) => listening -= 1,
            Some(ProcessEvent::Exit(ended)) => {
                status = Some(ended.map_err(|source| Error::Wait { program: binary.name(), source })?);
                deadline = Some(Instant::now() + OUTPUT_GRACE);
            }
            None => {
                log::warn!(
                    binary = binary.name(),
                    "stops waiting for output; a process that the binary left behind keeps it open"
                );
                break;
            }
        }
    }
    pipe.close().map_err(PipeError)?;
    if let Some(status) = &status {
        log::debug!(
            binary = binary.name(),
            status = status,
            reported_code = format_args!("{reported_code:?}"),
            "the test binary has ended"
        );
    }
    let gone = || Error::Wait { program: binary.name(), source: io::ErrorKind::UnexpectedEof.into() };
    status.map(|status| ProcessExit { status, reported_code }).ok_or_else(gone)
}

#[derive(Debug, thiserror::Error)]
#[error("failed to create the pipe for events: {}; {}", .0, temp_folder_remedy(.0))]
struct PipeError(io::Error);

impl CommandError for PipeError {}

fn start(binary: &Binary, asked: BinaryRequest<'_>, pipe: &Pipe) -> Result<Child, Error> {
    let mut request = Request::new(pipe.path().to_owned(), asked.wanted);
    request.filters.clone_from(&asked.selection.filter);
    request.experiments.clone_from(&asked.selection.experiment);
    request.traces = asked.traces;
    let (name, value) = request.variable().map_err(|error| PipeError(error.into()))?;
    let mut command = Command::new(&binary.path);
    command.args(asked.arguments).current_dir(&binary.root).env(name, value);
    command.envs(asked.variables.iter().map(|(name, value)| (name, value)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(filter) = log::filter() {
        command.env(log::VARIABLE, filter);
    }
    log::debug!(
        binary = binary.name(),
        request = format_args!("{:?}", asked.wanted),
        filters = asked.selection.filter.len(),
        variables = asked.variables.len(),
        "starts the test binary"
    );
    command.spawn().map_err(|source| Error::Start { program: binary.path.display().to_string(), source })
}

fn spawn_readers(mut child: Child, PipeEnds { reader, keeper }: PipeEnds) -> Receiver<ProcessEvent> {
    let (sender, heard) = sync_channel(QUEUE_CAPACITY);
    forward(child.stdout.take(), &sender, |line| Some(Message::Stdout(line)));
    forward(child.stderr.take(), &sender, |line| Some(Message::Stderr(line)));
    // Lines of later versions may be unknown.
    let event = |line: String| Some(Message::Event(serde_json::from_str(&line).ok()?, line));
    if cfg!(unix) {
        forward(Some(reader), &sender, event);
        thread::spawn(move || {
            let ended = child.wait();
            drop(keeper);
            // The receiver is gone only when the command itself exits.
            let _ = sender.send(ProcessEvent::Exit(ended));
        });
    } else {
        // Without a pipe, the events are read after the binary has exited.
        thread::spawn(move || {
            let ended = child.wait();
            forward(Some(reader), &sender, event);
            let _ = sender.send(ProcessEvent::Exit(ended));
        });
    }
    heard
}

/// Forwards each line, on its own thread.
fn forward(
    output: Option<impl Read + Send + 'static>,
    sender: &SyncSender<ProcessEvent>,
    message: impl Fn(String) -> Option<Message> + Send + 'static,
) {
    let sender = sender.clone();
    thread::spawn(move || {
        let mut lines = output.map(|output| BufReader::with_capacity(1 << 16, output));
        let mut line = Vec::new();
        while lines
            .as_mut()
            .is_some_and(|lines| lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0))
        {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            line.clear();
            if let Some(message) = message(text)
                && sender.send(ProcessEvent::Message(message)).is_err()
            {
                return;
            }
        }
        let _ = sender.send(ProcessEvent::End);
    });
}

/// The pipe for the events of a test binary, in its own folder that only this user can access. It is a named pipe, as passing a
/// descriptor would need unsafe code.
#[derive(Debug)]
struct Pipe {
    folder: TempDir,
    path: PathBuf,
}

/// Both ends of the pipe, held by this process.
#[derive(Debug)]
struct PipeEnds {
    /// Reads events until the last writer closes the pipe.
    reader: File,
    /// Keeps the pipe open until the binary has exited; the binary may never open it.
    keeper: File,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("cobalt-events-").tempdir()?;
        let path = folder.path().join("events");
        create_pipe(&path)?;
        Ok(Self { folder, path })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn open_ends(&self) -> io::Result<PipeEnds> {
        open_pipe(&self.path)
    }

    /// Removes the pipe.
    fn close(self) -> io::Result<()> {
        self.folder.close()
    }
}

#[cfg(unix)]
fn create_pipe(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;
    nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)
}

#[cfg(unix)]
fn open_pipe(path: &Path) -> io::Result<PipeEnds> {
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;

    use nix::fcntl::{FcntlArg, OFlag, fcntl};

    // A blocking reader opens only when there is a writer, and a writer only when there is a reader.
    let reader = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let keeper = OpenOptions::new().write(true).open(path)?;
    fcntl(&reader, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(PipeEnds { reader, keeper })
}

/// On other platforms a file replaces the pipe and is read after the binary has exited.
#[cfg(not(unix))]
fn create_pipe(path: &Path) -> io::Result<()> {
    File::create_new(path).map(drop)
}

#[cfg(not(unix))]
fn open_pipe(path: &Path) -> io::Result<PipeEnds> {
    Ok(PipeEnds { reader: File::open(path)?, keeper: File::open(path)? })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn the_reader_ends_when_all_writers_are_gone_even_if_none_came() {
        for told in ["", "event\n"] {
            let pipe = Pipe::new().unwrap();
            let PipeEnds { mut reader, keeper } = pipe.open_ends().unwrap();
            if !told.is_empty() {
                let mut writer = OpenOptions::new().append(true).open(pipe.path()).unwrap();
                writer.write_all(told.as_bytes()).unwrap();
            }
            drop(keeper);
            let mut heard = String::new();
            reader.read_to_string(&mut heard).unwrap();
            assert_eq!(heard, told);
            pipe.close().unwrap();
        }
    }
}
