//! How `run` links to the dashboard.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::server::{Server, command};
use crate::command::{COBALT, program};
use crate::project::{ProgramOutput, Project};
use crate::stored_runs::package;

/// Timeout for things that should happen immediately.
const PATIENCE: Duration = Duration::from_secs(60);

/// A fake browser that writes the URL that it opens to a file.
fn browser(folder: &Path) -> String {
    let path = folder.join("browser");
    let script = "#!/bin/sh\nhere=\"$(dirname \"$0\")\"\nprintf %s \"$1\" > \"$here/part\"\nmv \"$here/part\" \"$here/address\"\n";
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Waits until the browser, which runs concurrently with the command, has opened a URL.
fn opened(folder: &Path) -> String {
    let begin = Instant::now();
    while !folder.join("address").exists() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    let opened = fs::read_to_string(folder.join("address")).unwrap();
    let Some(file) = opened.strip_prefix("file://") else { return opened };
    // A page that only this user can read leads to the dashboard, with the token.
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let page = fs::read_to_string(file).unwrap();
    let (_, link) = page.split_once("<a href=\"").unwrap();
    let (address, token) = link.split_once('"').unwrap().0.split_once("#token=").unwrap();
    assert_eq!(token.len(), 64, "{link}");
    address.to_owned()
}

/// The page path of the latest run.
fn path(project: &Project) -> String {
    format!("/runs/{}", project.newest_result()["id"].as_str().unwrap())
}

/// Starts a command whose stderr is a terminal; also returns the other end of the terminal.
fn at_a_terminal(command: &mut Command) -> (Child, fs::File) {
    let pty = openpty(None, None).unwrap();
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(pty.slave)).spawn().unwrap();
    (child, fs::File::from(pty.master))
}

/// The whole output at a terminal whose programs have exited.
fn shown(mut terminal: fs::File) -> String {
    let mut bytes = Vec::new();
    // Some systems report an error once there is no writer.
    let _ = terminal.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The output at a terminal up to this text.
fn shown_until(terminal: &mut fs::File, end: &str) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&bytes).contains(end) {
        let read = terminal.read(&mut piece).unwrap_or(0);
        assert!(read > 0, "`{end}` was not shown: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn interrupt(child: &mut Child) -> Option<i32> {
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn a_run_names_its_address_where_a_dashboard_runs() {
    let project = Project::steered();
    let run = ["run", "--filter", "strict"];
    let alone = project.cobalt(&run, 0);
    assert!(!alone.stderr.contains("dashboard") && !alone.stderr.contains("cargo cobalt serve"), "{alone:?}");
    let server = Server::at(&project.path(""));
    let line = |path: &str| format!("dashboard: {}{path}\n", server.url());
    let said = project.cobalt(&run, 0);
    assert!(said.stderr.ends_with(&line(&path(&project))), "{said:?}");
    project.cobalt(&["run", "--quiet"], 0).stderr_has(&line("/"));
    let json = project.cobalt(&["run", "--filter", "strict", "--reporter", "json"], 0);
    assert!(!json.stderr.contains("dashboard"), "{json:?}");
    drop(server);
    let after = project.cobalt(&run, 0);
    assert!(!after.stderr.contains("dashboard"), "a leftover server file is ignored: {after:?}");
}

#[test]
fn a_run_is_opened_on_the_dashboard_that_runs() {
    let project = Project::steered();
    let server = Server::at(&project.path(""));
    let mut command = project.command(&["run", "--ui", "--filter", "strict"]);
    let said = ProgramOutput::by(command.env("BROWSER", browser(&project.path(""))), 0);
    let address = server.url() + &path(&project);
    said.stderr_has(&format!("opened {address}"));
    assert_eq!(opened(&project.path("")), address);
    let mut command = project.command(&["run", "--ui", "--filter", "strict"]);
    ProgramOutput::by(command.env("BROWSER", "/there/is/no/browser"), 0)
        .stderr_has("warning: failed to open a browser: ");
}

#[test]
fn a_run_serves_a_dashboard_where_none_runs_and_ends_as_it_went() {
    let project = Project::steered();
    project.answers(&[("paris", "Lyon"), ("rome", "Rome")]);
    project.write("cobalt.toml", "[dashboard]\nport = 0\n");
    let mut command = project.command(&["run", "--ui", "--filter", "strict"]);
    let (mut child, terminal) = at_a_terminal(command.env("BROWSER", browser(&project.path(""))));
    let address = opened(&project.path(""));
    assert!(address.starts_with("http://127.0.0.1:") && address.ends_with(&path(&project)), "{address}");
    assert!(child.try_wait().unwrap().is_none(), "the server exited");
    assert_eq!(interrupt(&mut child), Some(0), "the exit code is that of the run");
    drop(command);
    let shown = shown(terminal);
    assert!(
        shown.contains("dashboard: http://127.0.0.1:") && shown.contains("press Ctrl-C to stop"),
        "{shown}"
    );
}

#[test]
fn a_run_ends_as_it_went_where_no_dashboard_can_be_served() {
    let project = Project::steered();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    project.write("cobalt.toml", &format!("[dashboard]\nport = {port}\n"));
    let mut command = project.command(&["run", "--ui", "--filter", "strict"]);
    let (mut child, terminal) = at_a_terminal(command.env("BROWSER", browser(&project.path(""))));
    drop(command);
    let reader = std::thread::spawn(move || shown(terminal));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = reader.join().unwrap();
    assert!(shown.contains(&format!("failed to listen on 127.0.0.1:{port}")), "{shown}");
    assert!(!project.path("address").exists());
}

#[test]
fn a_server_that_does_not_answer_holds_no_run_up() {
    let project = Project::steered();
    let run = ["run", "--filter", "strict"];
    project.cobalt(&run, 0);
    let begin = Instant::now();
    project.cobalt(&run, 0);
    let usual = begin.elapsed();
    // The system accepts connections, but nothing responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    project.write(".cobalt/serve.json", &serde_json::json!({ "url": url, "pid": 1 }).to_string());
    let begin = Instant::now();
    let said = project.cobalt(&run, 0);
    let held_up = begin.elapsed().saturating_sub(usual);
    assert!(held_up < Duration::from_secs(5) && !said.stderr.contains("dashboard"), "{held_up:?}: {said:?}");
}

#[test]
fn watch_opens_each_run_where_a_dashboard_runs_and_serves_none() {
    let project = Project::steered();
    let watch = || {
        let mut command = project.command(&["watch", "--ui", "--filter", "strict"]);
        let (mut child, mut terminal) = at_a_terminal(command.env("BROWSER", browser(&project.path(""))));
        drop(command);
        let shown = shown_until(&mut terminal, "Ctrl-C");
        assert_eq!(interrupt(&mut child), Some(130));
        shown
    };
    let alone = watch();
    assert!(
        alone.contains("No dashboard is running. To follow runs live, run `cargo cobalt serve`"),
        "{alone}"
    );
    assert!(!project.path("address").exists());
    let server = Server::at(&project.path(""));
    project.answers(&[("paris", "Paris"), ("rome", "Roma")]);
    let beside = watch();
    let address = server.url() + &path(&project);
    assert!(beside.contains(&format!("opened {address}")), "{beside}");
    assert_eq!(opened(&project.path("")), address);
}

#[test]
fn nothing_is_opened_in_ci_and_nothing_served_without_a_terminal() {
    let project = Project::steered();
    let run = ["run", "--ui", "--filter", "strict"];
    for (arguments, variable) in [(&["--ci"][..], "no"), (&[], "CI")] {
        let mut command = project.command(&[&run, arguments].concat());
        let command = command.env("BROWSER", browser(&project.path(""))).env(variable, "true");
        ProgramOutput::by(command, 0).stderr_has("the dashboard is not opened in CI");
    }
    project.cobalt(&run, 0).stderr_has("the dashboard is not started because stderr is not a terminal");
    assert!(!project.path("address").exists());
}

#[test]
fn at_a_terminal_a_run_says_how_it_is_shown() {
    let project = Project::steered();
    let mut command = project.command(&["run", "--filter", "strict"]);
    let (mut child, terminal) = at_a_terminal(&mut command);
    drop(command);
    let reader = std::thread::spawn(move || shown(terminal));
    assert!(child.wait().unwrap().success());
    let shown = reader.join().unwrap();
    assert!(shown.contains("To view runs in the browser: `cargo cobalt serve`"), "{shown}");
}

#[test]
fn serve_opens_the_browser_at_a_terminal_alone() {
    let folder = package();
    let serve = |further: &[&str]| {
        let mut command = program(COBALT, folder.path());
        command.args(["cobalt", "serve", "--port", "0"]).args(further);
        command.env("BROWSER", browser(folder.path()));
        command
    };
    let mut command = serve(&[]);
    let (mut child, _terminal) = at_a_terminal(&mut command);
    assert!(opened(folder.path()).starts_with("http://127.0.0.1:"));
    let page = fs::read_to_string(folder.path().join("address")).unwrap().replace("file://", "");
    assert_eq!(interrupt(&mut child), Some(130));
    assert!(page.ends_with("cobalt-dashboard.html") && !Path::new(&page).exists(), "{page}");
    fs::remove_file(folder.path().join("address")).unwrap();
    drop(Server::by(serve(&[])));
    let mut without = self::command(folder.path(), &["--port", "0"]);
    without.env("BROWSER", browser(folder.path()));
    let (mut child, terminal) = at_a_terminal(&mut without);
    drop(without);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(interrupt(&mut child), Some(130));
    assert!(shown(terminal).contains("press Ctrl-C to stop"));
    assert!(!folder.path().join("address").exists());
}
