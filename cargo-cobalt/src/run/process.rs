//! A test binary that runs: its events, and what it prints, in one order.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use cobalt::Request;
use cobalt::pattern::Pattern;
use cobalt::reporters::Event;

use super::pipe::{Ends, Pipe};
use crate::error::Error;
use crate::project::Binary;

/// How long the last lines of a binary that has ended are waited for: a program that it left behind may hold its output
/// open for ever.
const LAST_LINES: Duration = Duration::from_millis(100);

/// Something that came from a binary.
#[derive(Debug)]
pub(crate) enum Message {
    /// An event, and the line it came in.
    Event(Event, String),
    /// A line that the agent, or anything else in it, printed.
    Stdout(String),
    Stderr(String),
    /// No more events come.
    NoMoreEvents,
    /// The process has ended.
    Ended(io::Result<ExitStatus>),
}

/// What a binary is asked to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) filters: &'a [Pattern],
    pub(crate) list: bool,
    /// Arguments for the harness.
    pub(crate) arguments: &'a [String],
    /// What is added to the variables of this process; of two with a name, the later counts.
    pub(crate) variables: &'a [(String, OsString)],
    /// Whether what the binary prints is handed over line by line, rather than printed by itself.
    pub(crate) captured: bool,
}

/// Runs a binary, hands over what comes from it, and answers with how it ended.
pub(crate) fn run(
    binary: &Binary,
    asked: Asked<'_>,
    mut hear: impl FnMut(Message) -> Result<(), Error>,
) -> Result<ExitStatus, Error> {
    let pipe = Pipe::new().map_err(Error::Pipe)?;
    let ends = pipe.ends().map_err(Error::Pipe)?;
    let child = start(binary, asked, &pipe)?;
    let messages = listen(child, ends);
    let (mut status, mut more_events) = (None, true);
    while status.is_none() || more_events {
        // The one who waits for the process sends, whatever happens.
        let Ok(message) = messages.recv() else { break };
        match message {
            Message::Ended(ended) => status = Some(ended.map_err(Error::Messages)?),
            Message::NoMoreEvents => more_events = false,
            other => hear(other)?,
        }
    }
    while let Ok(message) = messages.recv_timeout(LAST_LINES) {
        hear(message)?;
    }
    pipe.close().map_err(Error::Pipe)?;
    status.ok_or_else(|| Error::Messages(io::ErrorKind::UnexpectedEof.into()))
}

fn start(binary: &Binary, asked: Asked<'_>, pipe: &Pipe) -> Result<Child, Error> {
    let program = binary.path.display().to_string();
    let failed = |source| Error::Start { program, source };
    let request = Request::new(pipe.path().to_owned(), asked.filters.to_vec(), asked.list);
    let (name, value) = request.variable().map_err(|error| Error::Pipe(error.into()))?;
    let mut command = Command::new(&binary.path);
    command.args(asked.arguments).env(name, value);
    command.envs(asked.variables.iter().map(|(name, value)| (name, value)));
    command.current_dir(&binary.root);
    if asked.captured {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    command.spawn().map_err(failed)
}

fn listen(mut child: Child, Ends { reader, keeper }: Ends) -> Receiver<Message> {
    let (sender, messages) = channel();
    forward(child.stdout.take(), &sender, Message::Stdout);
    forward(child.stderr.take(), &sender, Message::Stderr);
    let hears = sender.clone();
    let hear_events = move || {
        for line in BufReader::with_capacity(1 << 16, reader).lines().map_while(Result::ok) {
            // A line of a later version may be anything.
            if let Ok(event) = serde_json::from_str(&line) {
                let _ = hears.send(Message::Event(event, line));
            }
        }
        let _ = hears.send(Message::NoMoreEvents);
    };
    // Without a pipe, the events are read when all are there.
    if cfg!(unix) {
        thread::spawn(hear_events);
        thread::spawn(move || wait(child, &sender, || drop(keeper)));
    } else {
        thread::spawn(move || wait(child, &sender, hear_events));
    }
    messages
}

fn wait(mut child: Child, sender: &Sender<Message>, then: impl FnOnce()) {
    let ended = child.wait();
    then();
    // Nobody listens any more only when the command itself ends.
    let _ = sender.send(Message::Ended(ended));
}

fn forward(
    output: Option<impl Read + Send + 'static>,
    sender: &Sender<Message>,
    message: fn(String) -> Message,
) {
    let Some(output) = output else { return };
    let sender = sender.clone();
    thread::spawn(move || {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            let _ = sender.send(message(text));
            line.clear();
        }
    });
}
