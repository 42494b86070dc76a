//! The process group of a child, signalled as a whole, as a terminal does.

use tokio::process::Command;

/// A process group, by its leader.
#[derive(Clone, Copy, Debug)]
pub struct ProcessGroup(
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups"))] Option<u32>,
);

impl ProcessGroup {
    /// Makes a command start its own process group.
    #[cfg(unix)]
    pub fn create(command: &mut Command) {
        command.process_group(0);
    }

    #[cfg(not(unix))]
    pub fn create(_: &mut Command) {}

    /// The group led by this process.
    pub fn led_by(leader: Option<u32>) -> Self {
        Self(leader)
    }

    /// Sends SIGINT, as Ctrl-C does. A process that gets it twice at once treats it as one.
    pub fn interrupt(self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGINT);
    }

    /// Kills those that are still running.
    pub fn kill(self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGKILL);
    }

    #[cfg(unix)]
    fn send(self, signal: nix::sys::signal::Signal) {
        use nix::sys::signal::killpg;
        use nix::unistd::Pid;

        // 0 would be the group of this process.
        if let Some(leader) = self.0.and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 0) {
            // The group may be gone.
            let _ = killpg(Pid::from_raw(leader), signal);
        }
    }
}
