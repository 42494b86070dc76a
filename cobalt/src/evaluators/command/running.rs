//! The processes that are running, so that none is left behind.
//!
//! Each has a group of its own, and what it has started itself ends with it. To signal a group takes unsafe code or a
//! crate of its own, so `sh` does it, which every Unix has.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static RUNNING: Mutex<Registry> = Mutex::new(Registry { children: BTreeMap::new(), closed: false });

struct Registry {
    /// By their process ids, which are those of their groups.
    children: BTreeMap<u32, Arc<Mutex<Child>>>,
    /// Set when the process is about to end: no further one is started.
    closed: bool,
}

/// A process that ends with this.
#[derive(Debug)]
pub(super) struct Running {
    id: u32,
    child: Arc<Mutex<Child>>,
}

impl Running {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let mut registry = lock(&RUNNING);
        if registry.closed {
            return Err(io::Error::other("the run is over"));
        }
        let child = command.spawn()?;
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        registry.children.insert(id, Arc::clone(&child));
        Ok(Self { id, child })
    }

    pub(super) fn child(&self) -> MutexGuard<'_, Child> {
        lock(&self.child)
    }

    /// How it ended, if it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, and what it has started may be left. Whoever ends all may have been first.
        if lock(&RUNNING).children.contains_key(&self.id) {
            kill_groups(&[self.id]);
            kill(&mut self.child());
        }
        lock(&RUNNING).children.remove(&self.id);
    }
}

/// Ends all processes when it goes, and has no further one started: for the end of this process.
#[derive(Debug)]
pub(crate) struct EndsAll;

impl Drop for EndsAll {
    fn drop(&mut self) {
        let mut registry = lock(&RUNNING);
        registry.closed = true;
        let children = std::mem::take(&mut registry.children);
        drop(registry);
        let groups: Vec<_> = children.keys().copied().collect();
        kill_groups(&groups);
        children.values().for_each(|child| kill(&mut lock(child)));
    }
}

/// Ends a process, and waits until it is gone.
fn kill(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn kill_groups(ids: &[u32]) {
    if ids.is_empty() {
        return;
    }
    use std::process::Stdio;

    let groups: String = ids.iter().map(|id| format!(" -{id}")).collect();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("kill -KILL{groups}")]);
    // A group may be gone already; without `sh`, its first process is ended all the same.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(not(unix))]
fn kill_groups(_: &[u32]) {}

/// What a panic elsewhere has left is still a list of processes.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
