//! A program at work: asked, heard, and ended.

use std::io;
use std::process::ExitStatus;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc as channel;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::time::{sleep, timeout};

use super::program::Program;
use super::running::Running;
use super::streams::{self, Ends, Heard, Messages};

/// How often it is looked whether a process has ended.
const LOOK: Duration = Duration::from_millis(2);
/// How long a process that has closed its stdout may take to end, and its last messages to come.
const ENDING: Duration = Duration::from_millis(500);

/// A program at work. When this is dropped it is killed, with what it has started.
#[derive(Debug)]
pub(super) struct Process {
    running: Running,
    /// Its stdin, which is closed with this.
    requests: Option<mpsc::Sender<Vec<u8>>>,
    answers: channel::Receiver<Heard>,
    pub(super) messages: Messages,
    /// How many answers it has given.
    pub(super) answered: usize,
}

/// How a program is while nobody asks it.
pub(super) enum Between {
    Quiet,
    Ended,
    /// It wrote something that nobody had asked for.
    Spoke(Heard),
}

impl Process {
    pub(super) fn start(program: &Program, ends: Ends) -> Result<Self, String> {
        let mut command = program.command()?;
        let file = command.get_program().to_owned();
        let failed = |error| format!("failed to start `{}`: {error}", file.display());
        Self::of(Running::start(&mut command).map_err(failed)?, ends).map_err(failed)
    }

    fn of(running: Running, ends: Ends) -> io::Result<Self> {
        let (stdin, stdout, stderr) = {
            let mut child = running.child();
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        };
        let lost = || io::Error::other("a pipe is missing");
        let requests = Some(streams::write(stdin.ok_or_else(lost)?)?);
        let answers = streams::read(stdout.ok_or_else(lost)?, ends)?;
        let messages = Messages::of(stderr.ok_or_else(lost)?)?;
        Ok(Self { running, requests, answers, messages, answered: 0 })
    }

    /// Writes a request.
    pub(super) fn ask(&self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // A program that has closed its stdin, or ended, is known by what it answers.
            let _ = requests.send(request);
        }
    }

    /// Says that no further request will come.
    pub(super) fn close_stdin(&mut self) {
        self.requests = None;
    }

    /// Waits for an answer; `None` if none will come.
    pub(super) async fn hear(&mut self) -> Option<Heard> {
        self.answers.recv().await
    }

    /// What became of it since its last answer.
    pub(super) fn between(&mut self) -> Between {
        match self.answers.try_recv() {
            Ok(heard) => Between::Spoke(heard),
            Err(TryRecvError::Disconnected) => Between::Ended,
            Err(TryRecvError::Empty) => Between::Quiet,
        }
    }

    /// Waits for its end and its last messages; `None` if it goes on for long, without its stdout.
    pub(super) async fn ending(&self) -> Option<ExitStatus> {
        let ended = timeout(ENDING, self.ended()).await.ok();
        let told = async {
            while !self.messages.is_complete() {
                sleep(LOOK).await;
            }
        };
        // Something that it started may go on writing there.
        let _ = timeout(ENDING, told).await;
        ended
    }

    /// How it ended, if it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.running.status()
    }

    /// Waits for its end.
    pub(super) async fn ended(&self) -> ExitStatus {
        loop {
            if let Some(status) = self.status() {
                return status;
            }
            sleep(LOOK).await;
        }
    }

    /// Lets it end by itself until the deadline, and kills it and what it has started then. Blocks. Its stdin must be
    /// closed.
    pub(super) fn finish(mut self, deadline: Instant) {
        loop {
            // Nothing that it still says matters, and it must not wait to be heard.
            while self.answers.try_recv().is_ok() {}
            if self.status().is_some() || Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}
