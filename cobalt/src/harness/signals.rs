//! Ctrl-C and the request to terminate: the first stops the run and keeps what is finished, the second ends at once.
//!
//! They are waited for on a thread of its own: agents may block every thread of the runtime that they run on.

use std::time::Duration;
use std::{io, thread};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};

use super::exit_code::INTERRUPTED;
use crate::evaluators::EndsAll;

/// How long after a signal another one counts as the same.
const ECHO: Duration = Duration::from_millis(250);

/// Signals that no longer end the process by themselves, but wait to be heard.
pub(super) struct Signals {
    runtime: Runtime,
    source: Source,
}

impl Signals {
    /// Catches the signals from now on.
    pub(super) fn catch() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let source = runtime.block_on(async { Source::new() })?;
        Ok(Self { runtime, source })
    }

    /// Calls `stop` when the process is first asked to end.
    pub(super) fn hear(mut self, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let listener = thread::Builder::new().name("cobalt-signals".to_owned()).spawn(move || {
            self.wait();
            thread::spawn(stop);
            self.drop_echoes();
            self.wait();
            drop(EndsAll);
            std::process::exit(INTERRUPTED);
        });
        listener.map(drop)
    }

    /// One Ctrl-C may come twice: from the terminal, and from whoever has started this process.
    fn drop_echoes(&mut self) {
        self.runtime.block_on(async {
            let deadline = Instant::now() + ECHO;
            while timeout_at(deadline, self.source.next()).await.is_ok() {}
        });
    }

    fn wait(&mut self) {
        self.runtime.block_on(self.source.next());
    }
}

#[cfg(unix)]
struct Source {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Source {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        std::future::poll_fn(|cx| {
            let ready = self.interrupt.poll_recv(cx).is_ready() || self.terminate.poll_recv(cx).is_ready();
            if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

#[cfg(not(unix))]
struct Source(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Source {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
