//! A witness of the process's exit: a shell that reports a process that ended without its own exit code.
//!
//! Native code that calls `_exit(0)` lets `cargo test` pass, whatever failed before. No code of this process runs after it, but the end of
//! a pipe that only this process holds is seen elsewhere.

use std::io::Write as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Prints an error unless the last line before the end of stdin is `done`. The other lines are the exit code that this process is about to
/// return.
const SCRIPT: &str = r#"trap '' HUP INT TERM
while read -r line; do
    [ "$line" != done ] || exit 0
    last=$line
done
case $last in
'') echo "error: this process ended before it reported its result, so its exit code is not the result; something in it, such as \
native code, called \`_exit\`, or it was killed" >&2 ;;
*) echo "error: this process failed (exit code $last), but something in it, such as native code, called \`_exit\`, so its exit code may \
differ" >&2 ;;
esac"#;

static WITNESS: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Starts the witness. Without a shell, there is none.
pub fn start() {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SCRIPT]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    if let Ok(mut shell) = shell.spawn() {
        *WITNESS.lock().unwrap_or_else(PoisonError::into_inner) = shell.stdin.take();
    }
}

/// Reports the code with which the process is about to exit. Exit handlers of native code may still prevent that.
pub fn report(code: i32) {
    match code {
        // Whatever a handler does, it does not hide a failure.
        0 => tell("done"),
        code => tell(&code.to_string()),
    }
}

/// Reports that all exit handlers have run.
pub fn report_end() {
    tell("done");
}

fn tell(line: &str) {
    // During the exit, a thread that holds the lock may be gone.
    if let Ok(mut witness) = WITNESS.try_lock()
        && let Some(witness) = &mut *witness
    {
        // It may have been killed.
        let _ = writeln!(witness, "{line}");
    }
}
