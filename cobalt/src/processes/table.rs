//! The system's table of processes, and which of them belong to a group.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
use std::{fs, path::PathBuf};

/// The time in which no ID is used again.
const REUSE_TIME: Duration = Duration::from_millis(100);

/// A process of the system.
#[derive(Clone, Copy, Debug)]
struct Process {
    id: u32,
    parent: u32,
    group: u32,
    /// When it started, in clock ticks since the start of the system; 0 if that is unknown.
    started: u64,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reports the folder"))]
    has_terminal: bool,
    /// It has exited, and its parent has not waited for it.
    is_zombie: bool,
}

impl Process {
    /// Its ID and its start.
    fn identity(&self) -> (u32, u64) {
        (self.id, self.started)
    }
}

/// The processes that belong to a group: those in it, those that left it, and all that these started.
#[derive(Debug)]
pub struct Members<'a> {
    /// By ID and start.
    leader: (u32, u64),
    /// A variable with its value that they inherit.
    variable: String,
    /// A folder in which no other processes work.
    folder: Option<&'a Path>,
    /// By ID and start: members stay members when their parent ends.
    known: BTreeSet<(u32, u64)>,
    /// Groups of which only members were seen, and when they were last.
    groups: BTreeMap<u32, Instant>,
}

impl<'a> Members<'a> {
    pub fn new(leader: (u32, u64), variable: String, folder: Option<&'a Path>) -> Self {
        Self { leader, variable, folder, known: BTreeSet::new(), groups: BTreeMap::new() }
    }

    /// What a signal must be sent to so that all running members except the leader receive it: IDs of processes, and negative ones of
    /// groups. Only a group as a whole cannot start a program that the signal misses.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub fn targets(&mut self) -> io::Result<Vec<String>> {
        let table = self.read_table();
        if !table.iter().any(|process| process.id == std::process::id()) {
            return Err(io::Error::other("failed to read the table of processes"));
        }
        self.update(&table);
        let (members, others): (Vec<&Process>, Vec<&Process>) =
            table.iter().partition(|process| self.known.contains(&process.identity()));
        let mixed: BTreeSet<_> = others.iter().map(|process| process.group).collect();
        self.groups.retain(|group, _| !mixed.contains(group));
        let own = members.iter().map(|process| process.group).filter(|group| !mixed.contains(group));
        self.groups.extend(own.map(|group| (group, Instant::now())));
        let running =
            members.iter().filter(|process| !process.is_zombie && process.identity() != self.leader);
        let targets: BTreeSet<_> = running
            .map(|Process { id, group, .. }| match mixed.get(group) {
                Some(_) => id.to_string(),
                None => format!("-{group}"),
            })
            .collect();
        Ok(targets.into_iter().collect())
    }

    /// The groups that had only members a moment ago, as in [`targets`](Self::targets).
    pub fn groups(&self) -> Vec<String> {
        self.groups.keys().map(|group| format!("-{group}")).collect()
    }

    /// Reads the table. Marks are read at once, as a process may exit any time.
    fn read_table(&mut self) -> Vec<Process> {
        let (leader, since) = self.leader;
        let mut marked = Vec::new();
        let table = processes(|process| {
            // Others are members anyway: with thousands of them, each read counts.
            let is_open = process.group != leader && !self.known.contains(&process.identity());
            if is_open && process.started >= since && self.is_marked(process) {
                marked.push(process.identity());
            }
        });
        self.known.extend(marked);
        table
    }

    /// Adds those that are members now.
    fn update(&mut self, table: &[Process]) {
        let (leader, since) = self.leader;
        // After the leader was waited for, and its group is empty, the ID can be that of another group.
        let is_reused =
            since > 0 && table.iter().any(|process| process.id == leader && process.started != since);
        self.groups.retain(|group, seen| seen.elapsed() < REUSE_TIME && !(is_reused && *group == leader));
        for process in table {
            if process.group == leader && !is_reused || self.groups.contains_key(&process.group) {
                self.known.insert(process.identity());
            }
        }
        // Others may be in groups with an older process, and with this one.
        let older = table.iter().filter(|it| it.started < since || it.id == std::process::id());
        let older: BTreeSet<_> = older.map(|process| process.group).collect();
        loop {
            let members = table.iter().filter(|process| self.known.contains(&process.identity()));
            let (parents, groups): (BTreeSet<_>, BTreeSet<_>) =
                members.map(|process| (process.id, process.group)).unzip();
            let count = self.known.len();
            let related = table.iter().filter(|process| {
                let is_in_group = groups.contains(&process.group) && !older.contains(&process.group);
                is_in_group || parents.contains(&process.parent)
            });
            self.known.extend(related.map(Process::identity));
            if self.known.len() == count {
                break;
            }
        }
    }

    /// Whether a process has the variable, or works in the folder. A person's shell in the folder has a terminal.
    #[cfg(target_os = "linux")]
    fn is_marked(&self, process: &Process) -> bool {
        let entry = |name: &str| PathBuf::from(format!("/proc/{}/{name}", process.id));
        let works_in =
            |folder: &Path| fs::read_link(entry("cwd")).is_ok_and(|current| current.starts_with(folder));
        let has_variable = || {
            let variables = fs::read(entry("environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == self.variable.as_bytes())
        };
        process.id != std::process::id()
            && (has_variable() || !process.has_terminal && self.folder.is_some_and(works_in))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_marked(&self, _: &Process) -> bool {
        let _ = (&self.variable, self.folder);
        false
    }
}

/// When a process started, as in [`Members::new`].
#[cfg(target_os = "linux")]
pub fn start_of(id: u32) -> u64 {
    process(id).map_or(0, |process| process.started)
}

#[cfg(not(target_os = "linux"))]
pub fn start_of(_: u32) -> u64 {
    0
}

/// How often new processes are looked for while the table is read.
#[cfg(target_os = "linux")]
const MAX_ROUNDS: usize = 10;

/// All processes that this user can see; calls `read` with each at once. Those that start meanwhile follow, as their parents may be gone.
#[cfg(target_os = "linux")]
fn processes(mut read: impl FnMut(&Process)) -> Vec<Process> {
    let (mut table, mut seen) = (Vec::new(), BTreeSet::new());
    for _ in 0..MAX_ROUNDS {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let new: Vec<_> = ids.filter(|id| seen.insert(*id)).collect();
        if new.is_empty() {
            break;
        }
        table.extend(new.into_iter().filter_map(process).inspect(&mut read));
    }
    table
}

#[cfg(target_os = "linux")]
fn process(id: u32) -> Option<Process> {
    parse_stat(id, &fs::read(format!("/proc/{id}/stat")).ok()?)
}

/// Reads `/proc/…/stat`, described in `proc_pid_stat(5)`. The name of the program, in parentheses, may contain anything.
#[cfg(target_os = "linux")]
fn parse_stat(id: u32, stat: &[u8]) -> Option<Process> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<_> = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_whitespace().collect();
    Some(Process {
        id,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        has_terminal: *fields.get(4)? != "0",
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

#[cfg(not(target_os = "linux"))]
fn processes(read: impl FnMut(&Process)) -> Vec<Process> {
    let columns = ["-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat="];
    let Ok(output) = std::process::Command::new("ps").args(columns).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let process = |line: &str| {
        let mut fields = line.split_whitespace();
        let mut number = || fields.next()?.parse().ok();
        let (id, parent, group) = (number()?, number()?, number()?);
        let is_zombie = fields.next()?.starts_with('Z');
        Some(Process { id, parent, group, started: 0, has_terminal: true, is_zombie })
    };
    text.lines().filter_map(process).inspect(read).collect()
}

/// Whether a process exists and has not exited.
#[cfg(test)]
pub fn is_running(id: u32) -> bool {
    processes(|_| ()).iter().any(|process| process.id == id && !process.is_zombie)
}

/// The process group of a process.
#[cfg(all(test, target_os = "linux"))]
pub fn group_of(id: u32) -> Option<u32> {
    process(id).map(|process| process.group)
}

/// Whether a process of these process groups exists and has not exited.
#[cfg(all(test, target_os = "linux"))]
pub fn has_members(groups: &[u32]) -> bool {
    processes(|_| ()).iter().any(|process| groups.contains(&process.group) && !process.is_zombie)
}
