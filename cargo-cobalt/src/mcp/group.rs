//! A command and all that it starts, told and ended together as a terminal does with what runs in it.

use tokio::process::Command;

/// The processes below a command.
#[derive(Clone, Copy, Debug)]
pub struct Group(#[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups"))] Option<u32>);

impl Group {
    /// Has a command begin a group of its own once it starts.
    #[cfg(unix)]
    pub fn begin(command: &mut Command) {
        command.process_group(0);
    }

    #[cfg(not(unix))]
    pub fn begin(_: &mut Command) {}

    /// The group of the process that began it.
    pub fn of(leader: Option<u32>) -> Self {
        Self(leader)
    }

    /// Asks all of them to end, as Ctrl-C does. What hears of it twice at once takes it for one.
    pub fn interrupt(self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGINT);
    }

    /// Ends those that have not.
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
            // There may be none any more.
            let _ = killpg(Pid::from_raw(leader), signal);
        }
    }
}
