//! Ctrl-C and the request to terminate: the first stops the run and keeps what is finished, the second ends at once.
//!
//! They are waited for on a thread of its own: agents may block every thread of the runtime that they run on.

use std::time::Duration;
use std::{io, thread};

use super::exit_code::INTERRUPTED;
use super::exit_guard::leave;
use crate::evaluators::EndsAll;

/// How long after a signal another one counts as the same.
const ECHO: Duration = Duration::from_millis(250);

/// Signals that no longer end the process by themselves, but wait to be heard.
pub(super) struct Signals(Source);

impl Signals {
    /// Catches the signals from now on.
    pub(super) fn catch() -> io::Result<Self> {
        Source::new().map(Self)
    }

    /// Calls `stop` when the process is first asked to end.
    pub(super) fn hear(self, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Self(mut source) = self;
        let listener = thread::Builder::new().name("cobalt-signals".to_owned()).spawn(move || {
            source.wait();
            thread::spawn(stop);
            // One Ctrl-C may come twice: from the terminal, and from the program that has started this process.
            source.drop_all_for(ECHO);
            source.wait();
            drop(EndsAll);
            leave(INTERRUPTED);
        });
        listener.map(drop)
    }
}

#[cfg(unix)]
struct Source(signal_hook::iterator::Signals);

#[cfg(unix)]
impl Source {
    fn new() -> io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map(Self)
    }

    fn wait(&mut self) {
        while self.0.wait().next().is_none() {}
    }

    fn drop_all_for(&mut self, time: Duration) {
        thread::sleep(time);
        self.0.pending().for_each(drop);
    }
}

#[cfg(not(unix))]
struct Source {
    runtime: tokio::runtime::Runtime,
    ctrl_c: tokio::signal::windows::CtrlC,
}

#[cfg(not(unix))]
impl Source {
    fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ctrl_c = runtime.block_on(async { tokio::signal::windows::ctrl_c() })?;
        Ok(Self { runtime, ctrl_c })
    }

    fn wait(&mut self) {
        self.runtime.block_on(self.ctrl_c.recv());
    }

    fn drop_all_for(&mut self, time: Duration) {
        self.runtime.block_on(async {
            let deadline = tokio::time::Instant::now() + time;
            while tokio::time::timeout_at(deadline, self.ctrl_c.recv()).await.is_ok() {}
        });
    }
}
