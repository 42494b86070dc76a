//! Ctrl-C and requests to end: they are for the program that runs below, which keeps what is finished and ends; this one
//! then ends with it.

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::error::CommandError;

static LISTENING: AtomicBool = AtomicBool::new(false);
static HEARD: AtomicBool = AtomicBool::new(false);
/// Wakes those that wait for it.
static WAITING: Notify = Notify::const_new();
/// The process id of the program that runs below, or 0.
static BELOW: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, thiserror::Error)]
#[error("failed to catch Ctrl-C: {0}")]
pub struct SignalError(ctrlc::Error);

impl CommandError for SignalError {}

/// From now on a request to end is noted and passed on, and does not end this program. To say so again changes nothing.
pub fn pass_on() -> Result<(), SignalError> {
    if LISTENING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let hear = || {
        HEARD.store(true, Ordering::SeqCst);
        WAITING.notify_waiters();
        interrupt(BELOW.load(Ordering::SeqCst));
    };
    ctrlc::set_handler(hear).map_err(SignalError)
}

/// Whether this program was asked to end.
pub fn was_heard() -> bool {
    HEARD.load(Ordering::SeqCst)
}

/// Waits until this program is asked to end.
pub async fn heard() {
    // From here on no call is missed.
    let woken = WAITING.notified();
    if !was_heard() {
        woken.await;
    }
}

/// Takes a program for the one that runs below, until this is dropped.
#[derive(Debug)]
pub struct Below;

impl Below {
    pub fn runs(child: &Child) -> Self {
        BELOW.store(child.id(), Ordering::SeqCst);
        if was_heard() {
            interrupt(child.id());
        }
        Self
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        BELOW.store(0, Ordering::SeqCst);
    }
}

/// Tells a process. A terminal tells it by itself, too: what hears of it twice at once takes it for one.
#[cfg(unix)]
fn interrupt(id: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    if let Some(id) = i32::try_from(id).ok().filter(|id| *id > 0) {
        // It may have ended by now.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// Elsewhere the console tells all of its programs.
#[cfg(not(unix))]
fn interrupt(_: u32) {}
