//! The three streams of a program, each with a thread: so a long request, a long answer and many messages at once hold up
//! nobody.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use tokio::sync::mpsc as channel;

/// The longest answer, in bytes.
pub(super) const LONGEST: u64 = 64 << 20;
/// How many of the last lines of stderr are kept, and how many bytes of each.
const LINES: usize = 20;
const LINE: usize = 500;

/// What was heard of a program.
#[derive(Debug)]
pub(super) enum Heard {
    /// An answer, and whether more came with it.
    Answer { bytes: Vec<u8>, more: bool },
    /// More than an answer may have.
    TooLong,
}

/// How the answers are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// At the end of a line.
    WithLine,
    /// At the end of all.
    WithStream,
}

/// Writes what comes through the channel. When nothing more will come, the stream is closed.
pub(super) fn write(mut to: impl Write + Send + 'static) -> io::Result<mpsc::Sender<Vec<u8>>> {
    let (sender, requests) = mpsc::channel::<Vec<u8>>();
    named("stdin", move || {
        for request in requests {
            // A program that does not read to the end may answer all the same; if it is gone, that is seen by its stdout.
            if to.write_all(&request).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}

/// Reads answers. No further one is read before the last was taken, so that a program that never stops fills no memory.
pub(super) fn read(from: impl Read + Send + 'static, ends: Ends) -> io::Result<channel::Receiver<Heard>> {
    let (sender, answers) = channel::channel(1);
    named("stdout", move || {
        let mut from = BufReader::with_capacity(1 << 16, from);
        while let Some(heard) = next(&mut from, ends) {
            let is_last = matches!(heard, Heard::TooLong);
            if sender.blocking_send(heard).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(answers)
}

/// The next answer, `None` at the end of the stream. Blank lines are none.
fn next<R: Read>(from: &mut BufReader<R>, ends: Ends) -> Option<Heard> {
    loop {
        match next_bytes(from, ends)? {
            Heard::Answer { bytes, .. } if ends == Ends::WithLine && bytes.trim_ascii().is_empty() => {}
            heard => return Some(heard),
        }
    }
}

fn next_bytes<R: Read>(from: &mut BufReader<R>, ends: Ends) -> Option<Heard> {
    let mut bytes = Vec::new();
    let mut limited = from.take(LONGEST + 1);
    let read = match ends {
        Ends::WithLine => limited.read_until(b'\n', &mut bytes),
        Ends::WithStream => limited.read_to_end(&mut bytes),
    };
    if read.is_err() || bytes.is_empty() {
        return None;
    }
    if bytes.len() as u64 > LONGEST {
        return Some(Heard::TooLong);
    }
    Some(Heard::Answer { bytes, more: !from.buffer().trim_ascii().is_empty() })
}

/// The last lines that a program wrote to stderr.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    lines: Arc<Mutex<VecDeque<String>>>,
    is_complete: Arc<AtomicBool>,
}

impl Messages {
    /// Keeps the last lines of a stream.
    pub(super) fn of(from: impl Read + Send + 'static) -> io::Result<Self> {
        let messages = Self::default();
        let kept = messages.clone();
        named("stderr", move || {
            let mut from = BufReader::new(from);
            let mut bytes = Vec::new();
            // A line that is too long comes in pieces.
            while from.by_ref().take(LINE as u64).read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
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
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Whether the stream is at its end.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// What is kept at this moment.
    pub(super) fn last_lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

fn named(stream: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("cobalt-{stream}")).spawn(work).map(drop)
}
