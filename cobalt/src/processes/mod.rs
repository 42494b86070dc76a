//! Programs that end together with everything they started.
//!
//! On Unix, each [`ProcessGroup`] has a [`leader`] that also ends it if this process is killed. Processes that left their group are found
//! in the [`table`] of processes. Elsewhere, only the programs themselves end.

#[cfg(unix)]
mod leader;
#[cfg(unix)]
mod table;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeMap;
#[cfg(any(test, feature = "workspace"))]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{io, thread};

#[cfg(unix)]
use leader::Leader;

/// The programs of one execution, or of one evaluator. They end with [`end`](Self::end), or when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct ProcessGroup(Arc<Group>);

#[derive(Debug)]
struct Group {
    number: u64,
    /// A folder in which only programs of this group work.
    folder: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    has_ended: bool,
    /// Started with the first program.
    #[cfg(unix)]
    leader: Option<Leader>,
    children: Vec<Arc<Mutex<Child>>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { groups: BTreeMap::new(), is_closed: false });

struct Registry {
    /// Those that may have programs, by number.
    groups: BTreeMap<u64, Weak<Group>>,
    /// Set when the test binary is about to exit: no program is started any more.
    is_closed: bool,
}

impl Default for ProcessGroup {
    fn default() -> Self {
        Self::new(None)
    }
}

impl ProcessGroup {
    /// A group of programs that work in this folder, in which no others do.
    #[cfg(any(test, feature = "workspace"))]
    pub fn in_folder(folder: &Path) -> Self {
        Self::new(Some(folder.to_owned()))
    }

    fn new(folder: Option<PathBuf>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Group { number, folder, state: Mutex::default() }))
    }

    /// Makes a command start in the group. After the group's end, it will not start.
    ///
    /// # Errors
    ///
    /// The group has ended, or its leader cannot be started; then the command starts outside the group.
    #[cfg(feature = "workspace")]
    pub fn join(&self, command: &mut Command) -> io::Result<()> {
        self.join_locked(&mut lock(&self.0.state), command)
    }

    /// Starts a program in the group.
    ///
    /// # Errors
    ///
    /// The program or the group's leader cannot be started, or the group has ended.
    pub fn start(&self, command: &mut Command) -> io::Result<ChildGuard> {
        let mut state = lock(&self.0.state);
        self.join_locked(&mut state, command)?;
        let child = Arc::new(Mutex::new(command.spawn()?));
        state.children.push(Arc::clone(&child));
        Ok(ChildGuard { child, group: self.clone() })
    }

    fn join_locked(&self, state: &mut State, command: &mut Command) -> io::Result<()> {
        if state.has_ended || !self.register() {
            #[cfg(unix)]
            leader::prevent_start(command);
            return Err(io::Error::other("the item or the run is over"));
        }
        #[cfg(unix)]
        {
            let leader = state.leader.take().map_or_else(Leader::start, Ok)?;
            state.leader.insert(leader).lead(command);
        }
        #[cfg(not(unix))]
        let _ = command;
        Ok(())
    }

    /// Whether programs may still start.
    fn register(&self) -> bool {
        let mut registry = lock(&REGISTRY);
        registry.groups.insert(self.0.number, Arc::downgrade(&self.0));
        !registry.is_closed
    }

    /// Ends all programs: asks them to, then kills those that are left. Blocks.
    pub fn end(&self) {
        self.0.end();
    }
}

impl Group {
    fn end(&self) {
        // Who comes second waits for the end, too.
        let mut state = lock(&self.state);
        state.has_ended = true;
        #[cfg(unix)]
        if let Some(leader) = state.leader.take() {
            leader.end_group(self.folder.as_deref());
        }
        for child in state.children.drain(..) {
            let mut child = lock(&child);
            // It may have exited already.
            let _ = child.kill();
            let _ = child.wait();
        }
        drop(state);
        lock(&REGISTRY).groups.remove(&self.number);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// Ends all programs and prevents new ones: for the exit of the test binary.
pub fn end_all() {
    let mut registry = lock(&REGISTRY);
    registry.is_closed = true;
    let groups: Vec<_> = registry.groups.values().filter_map(Weak::upgrade).collect();
    drop(registry);
    thread::scope(|scope| {
        for group in &groups {
            // Without a thread, the group ends with this process.
            let _ = thread::Builder::new().spawn_scoped(scope, || group.end());
        }
    });
}

/// A program whose group ends on drop.
#[derive(Debug)]
pub struct ChildGuard {
    child: Arc<Mutex<Child>>,
    group: ProcessGroup,
}

impl ChildGuard {
    pub fn child(&self) -> MutexGuard<'_, Child> {
        lock(&self.child)
    }

    /// Its exit status, if it has exited.
    pub fn status(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.group.end();
    }
}

/// Ignores poisoning: after a panic elsewhere, the data is still valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
