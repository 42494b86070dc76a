//! The leader of a process group: a shell that waits for the end of its stdin, which only this process holds open. However this process
//! ends, also by SIGKILL, the shell then ends the group.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::table::Members;

/// How long programs have to end by themselves, and to disappear after they were killed.
const GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The variable that marks the programs of a group, in whichever group or session they are later.
pub const MARKER: &str = "_COBALT_PROCESS_GROUP";

/// Ends the group when stdin ends; `$0` is the marker with its value.
const SCRIPT: &str = r#"trap '' HUP INT TERM
read -r line
kill -TERM 0
sleep 1
for file in $(grep -lsF "$0" /proc/[0-9]*/environ); do
    process=${file#/proc/}
    kill -KILL "${process%/environ}"
done
kill -KILL 0"#;

/// No process group has this ID, so no process can join it.
const NO_GROUP: i32 = i32::MAX;

/// The leader of a process group. Its ID stays the group's until it was waited for.
#[derive(Debug)]
pub struct Leader {
    shell: Child,
    marker: String,
}

impl Leader {
    pub fn start() -> io::Result<Self> {
        let marker = format!("{:016x}", fastrand::u64(..));
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, &format!("{MARKER}={marker}")]);
        shell.current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { shell: shell.spawn()?, marker })
    }

    /// Makes a command start in the group.
    pub fn lead(&self, command: &mut Command) {
        command.process_group(self.shell.id().try_into().unwrap_or(NO_GROUP)).env(MARKER, &self.marker);
    }

    /// Ends the programs of the group, and those that left it, such as programs that work in `folder`.
    pub fn end_group(mut self, folder: Option<&Path>) {
        let group = self.shell.id();
        let mut members = Members::new(group, format!("{MARKER}={}", self.marker), folder);
        let mut running = members.running();
        let had_any = !running.is_empty();
        if had_any {
            signal("TERM", Some(group), &running);
            running = wait_for_end(&mut members);
            if !running.is_empty() {
                signal("KILL", Some(group), &running);
            }
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
        if had_any {
            // Until the leader was waited for, programs could join.
            signal("KILL", None, &members.running());
            wait_for_end(&mut members);
        }
    }
}

/// Makes a command fail to start.
pub fn prevent_start(command: &mut Command) {
    command.process_group(NO_GROUP);
}

/// Waits until no program is running, and returns those that still are after the time limit.
fn wait_for_end(members: &mut Members<'_>) -> Vec<u32> {
    let deadline = Instant::now() + GRACE;
    loop {
        let running = members.running();
        if running.is_empty() || Instant::now() >= deadline {
            return running;
        }
        sleep(POLL_INTERVAL);
    }
}

/// Sends a signal to a group and to processes.
fn signal(name: &str, group: Option<u32>, processes: &[u32]) {
    if group.is_none() && processes.is_empty() {
        return;
    }
    let groups = group.map(|id| format!("-{id}"));
    let targets: Vec<_> = groups.into_iter().chain(processes.iter().map(u32::to_string)).collect();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("kill -{name} {}", targets.join(" "))]);
    // Some may be gone already.
    let _ = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
