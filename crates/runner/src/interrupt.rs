//! Ctrl-C and termination signals: forwarded to the running child process, which saves finished items and exits; this process
//! then exits, too.

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cobalt::command::log;
use tokio::sync::Notify;

use crate::error::CommandError;

static INSTALLED: AtomicBool = AtomicBool::new(false);
static RECEIVED: AtomicBool = AtomicBool::new(false);
/// Notifies waiters.
static NOTIFY: Notify = Notify::const_new();
/// The process ID of the child, or 0.
static CHILD_ID: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, thiserror::Error)]
#[error("failed to catch Ctrl-C: {0}")]
pub struct SignalError(ctrlc::Error);

impl CommandError for SignalError {}

/// Installs the handler: from now on, signals are recorded and forwarded and do not terminate this process. Idempotent.
pub fn install_handler() -> Result<(), SignalError> {
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    ctrlc::set_handler(stop).map_err(SignalError)
}

/// Does what a signal does: the running child process saves finished items and exits, and this process ends.
pub fn stop() {
    RECEIVED.store(true, Ordering::SeqCst);
    NOTIFY.notify_waiters();
    log::info!(child = CHILD_ID.load(Ordering::SeqCst), "received a signal; passes it on");
    interrupt(CHILD_ID.load(Ordering::SeqCst));
}

/// Whether a signal was received.
pub fn was_received() -> bool {
    RECEIVED.load(Ordering::SeqCst)
}

/// Waits for a signal.
pub async fn received() {
    // Register before checking, so that no signal is missed.
    let woken = NOTIFY.notified();
    if !was_received() {
        woken.await;
    }
}

/// Registers a child process to forward signals to, until dropped.
#[derive(Debug)]
pub struct ForwardGuard;

impl ForwardGuard {
    pub fn new(child: &Child) -> Self {
        CHILD_ID.store(child.id(), Ordering::SeqCst);
        if was_received() {
            interrupt(child.id());
        }
        Self
    }
}

impl Drop for ForwardGuard {
    fn drop(&mut self) {
        CHILD_ID.store(0, Ordering::SeqCst);
    }
}

/// Sends SIGINT to a process. The terminal sends it, too; test binaries treat two signals at once as one.
#[cfg(unix)]
fn interrupt(id: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    if let Some(id) = i32::try_from(id).ok().filter(|id| *id > 0) {
        // It may have exited already.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// On other platforms the console notifies all its processes.
#[cfg(not(unix))]
fn interrupt(_: u32) {}
