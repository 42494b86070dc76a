//! The system's table of processes, and which of them belong to a group.

use std::collections::BTreeSet;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::{fs, path::PathBuf};

/// A process of the system.
#[derive(Clone, Copy, Debug)]
struct Process {
    id: u32,
    parent: u32,
    group: u32,
    /// When it started; with `id`, this identifies it.
    started: u64,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reports the folder"))]
    has_terminal: bool,
    /// It has exited, and its parent has not waited for it.
    is_zombie: bool,
}

/// The processes that belong to a group: those in it, those that left it, and all that these started.
#[derive(Debug)]
pub struct Members<'a> {
    leader: u32,
    /// A variable with its value that they inherit.
    variable: String,
    /// A folder in which no other processes work.
    folder: Option<&'a Path>,
    /// By ID and start: members stay members when their parent ends.
    known: BTreeSet<(u32, u64)>,
}

impl<'a> Members<'a> {
    pub fn new(leader: u32, variable: String, folder: Option<&'a Path>) -> Self {
        Self { leader, variable, folder, known: BTreeSet::new() }
    }

    /// The members that are running now, without the leader.
    pub fn running(&mut self) -> Vec<u32> {
        let table = processes();
        let leader = table.iter().find(|process| process.id == self.leader);
        let since = leader.map_or(0, |leader| leader.started);
        for process in &table {
            if process.group == self.leader || process.started >= since && self.is_marked(process) {
                self.known.insert((process.id, process.started));
            }
        }
        let is_known =
            |known: &BTreeSet<_>, process: &Process| known.contains(&(process.id, process.started));
        loop {
            let parents: BTreeSet<_> =
                table.iter().filter(|process| is_known(&self.known, process)).map(|it| it.id).collect();
            let count = self.known.len();
            let children = table.iter().filter(|process| parents.contains(&process.parent));
            self.known.extend(children.map(|process| (process.id, process.started)));
            if self.known.len() == count {
                break;
            }
        }
        let running = table.iter().filter(|process| {
            !process.is_zombie && process.id != self.leader && is_known(&self.known, process)
        });
        running.map(|process| process.id).collect()
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

/// All processes that this user can see.
#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| parse_stat(id, &fs::read(format!("/proc/{id}/stat")).ok()?)).collect()
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
fn processes() -> Vec<Process> {
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
    text.lines().filter_map(process).collect()
}

/// Whether a process exists and has not exited.
#[cfg(test)]
pub fn is_running(id: u32) -> bool {
    processes().iter().any(|process| process.id == id && !process.is_zombie)
}
