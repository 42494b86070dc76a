//! Startup and shutdown of the server and of the commands that it starts.

use std::time::{Duration, Instant};

use serde_json::json;

use super::assistant::Assistant;
use crate::project::Project;

/// Maximum time until the tools are listed. On an idle machine it takes at most 50 ms.
const SOON: Duration = Duration::from_millis(500);

#[test]
fn tools_are_listed_soon_after_the_start() {
    let project = Project::empty();
    let listed_in = |_| {
        let started = Instant::now();
        let mut assistant = Assistant::of(&project);
        assistant.ask("tools/list", json!({}));
        started.elapsed()
    };
    let fastest = (0..5).map(listed_in).min().unwrap();
    eprintln!("tools listed {fastest:?} after the start");
    assert!(fastest < SOON, "{fastest:?}");
}

#[test]
fn an_assistant_that_says_nothing_may_leave() {
    let project = Project::empty();
    assert_eq!(Assistant::silent(&project, &[]).hang_up(), Some(0));
}

/// Commands that wait for a fake cargo that does nothing.
#[cfg(unix)]
mod commands {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::thread::sleep;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use serde_json::Value;

    use super::*;

    /// Writes the IDs of its own process and its child to a file, and waits.
    const WAITS: &str = "#!/bin/sh\nsleep 100 &\necho $$ $! > pids.new\nmv pids.new pids\nwait\n";

    /// An assistant in a project with this script as cargo.
    fn with_cargo(project: &Project, script: &str) -> Assistant {
        project.write("cargo.sh", script);
        fs::set_permissions(project.path("cargo.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = project.command(&["mcp"]);
        command.env("CARGO", project.path("cargo.sh")).env_remove("RUSTUP_TOOLCHAIN_SOURCE");
        let mut assistant = Assistant::by(command);
        assistant.hello("2025-11-25", json!({}));
        assistant
    }

    /// Calls a tool and waits until its command runs.
    fn call(project: &Project, assistant: &mut Assistant) -> (u64, Vec<Pid>) {
        let id = assistant.begin("tools/call", json!({ "name": "cobalt_list", "arguments": {} }));
        (id, at_work(project))
    }

    /// Waits until a command runs; returns its process and its child process.
    fn at_work(project: &Project) -> Vec<Pid> {
        within(Duration::from_secs(60), || project.path("pids").is_file());
        let pids =
            project.read("pids").split_whitespace().map(|id| Pid::from_raw(id.parse().unwrap())).collect();
        fs::remove_file(project.path("pids")).unwrap();
        pids
    }

    #[track_caller]
    fn within(patience: Duration, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + patience;
        while !is_so() {
            assert!(Instant::now() < deadline, "timed out after {patience:?}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Whether a process runs. Zombies do not count, although they still have their ID.
    fn runs(pid: &Pid) -> bool {
        let state = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
        let is_dead = state.is_ok_and(|state| state.contains(") Z "));
        kill(*pid, None).is_ok() && !is_dead
    }

    #[track_caller]
    fn are_gone(pids: &[Pid]) {
        within(Duration::from_secs(1), || !pids.iter().any(runs));
    }

    #[test]
    fn when_the_assistant_hangs_up_commands_end_with_all_that_they_have_started() {
        let project = Project::empty();
        let mut assistant = with_cargo(&project, WAITS);
        let (_, pids) = call(&project, &mut assistant);
        assert!(pids.iter().all(runs));
        let hung_up = Instant::now();
        assert_eq!(assistant.hang_up(), Some(0));
        assert!(hung_up.elapsed() < Duration::from_secs(3), "{:?}", hung_up.elapsed());
        are_gone(&pids);
    }

    #[test]
    fn when_the_server_is_told_to_end_commands_do_and_what_they_came_to_is_answered() {
        let project = Project::empty();
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let mut assistant = with_cargo(&project, WAITS);
            let (id, pids) = call(&project, &mut assistant);
            kill(assistant.server(), signal).unwrap();
            assert_eq!(assistant.answer_to(id)["result"]["isError"], true);
            assert_eq!(assistant.left(), Some(130));
            are_gone(&pids);
        }
    }

    #[test]
    fn a_command_that_does_not_listen_does_not_outlive_the_server() {
        let project = Project::empty();
        let deaf = WAITS.replace("#!/bin/sh\n", "#!/bin/sh\ntrap '' INT\n") + "sleep 100\n";
        let mut assistant = with_cargo(&project, &deaf);
        let (_, pids) = call(&project, &mut assistant);
        assert_eq!(assistant.hang_up(), Some(0));
        are_gone(&pids);
    }

    #[test]
    fn a_request_that_is_cancelled_ends_its_command_alone_and_is_not_answered() {
        let project = Project::empty();
        let mut assistant = with_cargo(&project, WAITS);
        let (cancelled, ends) = call(&project, &mut assistant);
        let (_, goes_on) = call(&project, &mut assistant);
        assistant.notify("notifications/cancelled", json!({ "requestId": cancelled, "reason": "enough" }));
        within(Duration::from_secs(5), || !ends.iter().any(runs));
        assert!(goes_on.iter().all(runs));
        assert_eq!(assistant.ask("ping", json!({})), json!({}));
        assert_eq!(assistant.notifications, Vec::<Value>::new());
        assert_eq!(assistant.hang_up(), Some(0));
        are_gone(&goes_on);
    }

    #[test]
    fn a_second_run_of_a_project_waits_for_the_first_and_says_so() {
        let project = Project::empty();
        let mut assistant = with_cargo(&project, WAITS);
        let run = |token: &str| json!({ "name": "cobalt_run", "_meta": { "progressToken": token } });
        let first = assistant.begin("tools/call", run("first"));
        let ends = at_work(&project);
        assert_eq!(assistant.hear()["params"]["progressToken"], "first");
        assistant.begin("tools/call", run("second"));
        let told = assistant.hear();
        assert_eq!(told["params"]["progressToken"], "second");
        assert!(told["params"]["message"].as_str().unwrap().starts_with("waiting for another run"), "{told}");
        // Other tools do not wait.
        call(&project, &mut assistant);
        assistant.notify("notifications/cancelled", json!({ "requestId": first }));
        let runs_now = at_work(&project);
        assert!(!ends.iter().any(runs));
        assert_eq!(assistant.hang_up(), Some(0));
        are_gone(&runs_now);
    }

    #[test]
    fn the_toolchain_is_that_of_the_projects_folder_unless_the_user_chose_another() {
        let project = Project::steered();
        for (chosen_by, is_kept) in [("default", false), ("toolchain-file", false), ("env", true)] {
            let mut command = project.command(&["mcp"]);
            command.env("CARGO", "/no/such/cargo").env("RUSTUP_TOOLCHAIN_SOURCE", chosen_by);
            command.env("RUSTUP_TOOLCHAIN", std::env::var("RUSTUP_TOOLCHAIN").unwrap_or_default());
            let mut assistant = Assistant::by(command);
            assistant.hello("2025-11-25", json!({}));
            let call = json!({ "name": "cobalt_list", "arguments": {} });
            let result = assistant.ask("tools/call", call);
            assert_eq!(result["isError"] == true, is_kept, "{chosen_by}: {result}");
        }
    }

    #[test]
    fn a_project_whose_folder_is_gone_is_told_of() {
        let (here, folder) = (Project::empty(), Project::empty());
        let gone = folder.path(".").canonicalize().unwrap();
        let arguments = ["--project", gone.to_str().unwrap()];
        let mut assistant = Assistant::speaking(&here, &arguments, "2025-11-25", json!({}));
        drop(folder);
        let result = assistant.fails("cobalt_list", json!({}));
        assert!(
            result["content"][0]["text"].as_str().unwrap().contains("is not in a Cargo project"),
            "{result}"
        );
    }
}
