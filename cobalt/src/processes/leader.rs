//! The leader of a process group: a shell that waits for the end of its stdin, which only this process holds open. However this process
//! ends, also by SIGKILL, the shell then ends the group.

use crate::log;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::table::{Members, start_of};

/// How long programs have to end by themselves, and to disappear after they were killed.
const GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How often nothing must be left. If a process exits while the table is read, what it started may be missing.
const LAST_LOOKS: usize = 2;

/// The variable that marks the programs of a group, in whichever group or session they are later.
pub const MARKER: &str = "_COBALT_PROCESS_GROUP";

/// Ends the group when stdin ends, even if it can start nothing any more; `$0` is the marker with its value. Programs that left the group
/// are looked for until none is found.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM
trap 'kill -KILL 0' EXIT
read -r line
kill -TERM 0
sleep 1
rounds=100
while files=$(grep -lsF "$0" /proc/[0-9]*/environ); [ -n "$files" ] && [ $rounds -gt 0 ]; do
    for file in $files; do
        process=${file#/proc/}
        kill -KILL "${process%/environ}"
    done
    rounds=$((rounds - 1))
done"#;

/// No process group has this ID, so no process can join it.
const NO_GROUP: i32 = i32::MAX;

/// The leader of a process group. Its ID stays the group's until it was waited for.
#[derive(Debug)]
pub struct Leader {
    shell: Child,
    /// When the shell started, as [`Members`] identify it.
    started: u64,
    marker: String,
}

impl Leader {
    pub fn start() -> io::Result<Self> {
        let marker = format!("{:016x}", fastrand::u64(..));
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, &format!("{MARKER}={marker}")]);
        shell.current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let shell = shell.spawn()?;
        log::debug!(group = shell.id(), "started a process group");
        Ok(Self { started: start_of(shell.id()), shell, marker })
    }

    /// Makes a command start in the group.
    pub fn lead(&self, command: &mut Command) {
        command.process_group(self.shell.id().try_into().unwrap_or(NO_GROUP)).env(MARKER, &self.marker);
    }

    /// Ends the programs of the group, and those that left it, such as programs that work in `folder`.
    pub fn end_group(mut self, folder: Option<&Path>) {
        let variable = format!("{MARKER}={}", self.marker);
        let mut members = Members::new((self.shell.id(), self.started), variable, folder);
        // The groups include that of the leader, so that no program that just started survives.
        let ended =
            terminate(&mut members).and_then(|left| signal("KILL", &[left, members.groups()].concat()));
        if ended.is_err() {
            // No further program can start, or no file be opened. The leader needs neither to end the group.
            drop(self.shell.stdin.take());
        }
        let _ = self.shell.wait();
        // Until the leader was waited for, programs could join.
        kill_all(&mut members);
    }
}

/// Makes a command fail to start.
pub fn prevent_start(command: &mut Command) {
    command.process_group(NO_GROUP);
}

/// Asks programs to end, and returns the targets that are left after the time limit.
fn terminate(members: &mut Members<'_>) -> io::Result<Vec<String>> {
    let targets = members.targets()?;
    if targets.is_empty() {
        return Ok(targets);
    }
    log::debug!(targets = targets.join(" "), "asks programs to end");
    signal("TERM", &targets)?;
    wait_for_end(members)
}

/// Waits until no program is running, and returns the targets that are left after the time limit.
fn wait_for_end(members: &mut Members<'_>) -> io::Result<Vec<String>> {
    let deadline = Instant::now() + GRACE;
    loop {
        let targets = members.targets()?;
        if targets.is_empty() || Instant::now() >= deadline {
            return Ok(targets);
        }
        sleep(POLL_INTERVAL);
    }
}

/// Kills the programs, and those that they started meanwhile, until none is left or the time is up.
fn kill_all(members: &mut Members<'_>) {
    let deadline = Instant::now() + GRACE;
    let mut looks = 0;
    while looks < LAST_LOOKS && Instant::now() < deadline {
        let Ok(targets) = members.targets() else { return };
        if targets.is_empty() {
            looks += 1;
            continue;
        }
        looks = 0;
        log::debug!(targets = targets.join(" "), "kills programs that did not end");
        // If no shell can start now, it may next time.
        let _ = signal("KILL", &[targets, members.groups()].concat());
        sleep(POLL_INTERVAL);
    }
}

/// Sends a signal to processes and groups. Some may be gone already.
fn signal(name: &str, targets: &[String]) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"kill "$@""#, "sh", &format!("-{name}")]).args(targets);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().map(drop)
}
