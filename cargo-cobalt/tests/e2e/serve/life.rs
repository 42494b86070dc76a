//! Startup and shutdown of the server: its port, its file, and Ctrl-C while clients are connected.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::{Server, command};
use crate::project::ProgramOutput;
use crate::stored_runs::package;

#[test]
fn a_port_that_is_taken_is_named_with_a_way_out() {
    let folder = package();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    // An HTTP server that is not Cobalt.
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"project\":\"x\"}");
        other
    });
    let said = ProgramOutput::by(&mut command(folder.path(), &["--port", &port.to_string()]), 3);
    said.stderr_has(&format!("failed to listen on 127.0.0.1:{port}: the port is in use; choose another one"));
    let other = answers.join().unwrap();
    drop(other);
    fs::write(folder.path().join("cobalt.toml"), format!("[dashboard]\nport = {port}\n")).unwrap();
    let server = Server::by(command(folder.path(), &[]));
    assert_eq!(server.host, format!("127.0.0.1:{port}"), "the port from cobalt.toml");
}

#[test]
fn a_second_server_of_a_project_leads_to_the_first_and_another_project_has_its_own() {
    let (folder, other) = (package(), package());
    let server = Server::at(folder.path());
    assert!(server.said().contains("no runs yet, create one with `cargo cobalt run`"), "{}", server.said());
    for arguments in [&["--port", server.port()][..], &[]] {
        let said = ProgramOutput::by(&mut command(folder.path(), arguments), 0);
        let link = format!("{}/#token={}", server.url(), server.token());
        said.stderr_has(&format!("the dashboard of this project is already running: {link}\n"));
    }
    ProgramOutput::by(&mut command(other.path(), &["--port", server.port()]), 3)
        .stderr_has("the port is in use");
    let second = Server::at(folder.path());
    assert_ne!(second.host, server.host, "port 0 starts a second server");
}

#[test]
fn it_listens_by_ip_6_too() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: no IPv6 on this machine");
        return;
    }
    let folder = package();
    let server = Server::by(command(folder.path(), &["--host", "::1", "--port", "0"]));
    assert!(server.host.starts_with("[::1]:"), "{}", server.said());
    for host in [server.host.clone(), format!("localhost:{}", server.port())] {
        let answer = server.ask(&["GET /api/health HTTP/1.1", &format!("Host: {host}")]);
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
    }
    for arguments in [&["--host", "::1", "--port", server.port()][..], &[]] {
        let said = ProgramOutput::by(&mut command(folder.path(), arguments), 0);
        said.stderr_has(&format!(
            "the dashboard of this project is already running: {}/#token=",
            server.url()
        ));
    }
}

#[test]
fn whoever_connects_and_says_nothing_holds_others_up_for_seconds_at_most() {
    /// More than the maximum number of concurrent connections.
    const CROWD: usize = 210;
    let folder = package();
    let server = Server::at(folder.path());
    let silent: Vec<_> = (0..CROWD).map(|_| server.connect("GET /api HTTP/1.1\r\n")).collect();
    let begin = Instant::now();
    assert_eq!(server.get("/api/health", &[]).status, 200);
    assert!(begin.elapsed() > Duration::from_secs(1), "connections are not limited: {:?}", begin.elapsed());
    drop(silent);
}

#[test]
#[cfg(unix)]
fn a_server_is_known_to_other_commands_while_it_runs() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = package();
    let file = folder.path().join(".cobalt/serve.json");
    let mut server = Server::at(folder.path());
    server.hear(|_| file.exists().then_some(()));
    let entry: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(
        (entry["url"].as_str().unwrap(), entry["pid"].as_u64()),
        (&*server.url(), Some(server.child.id().into()))
    );
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let ignored = fs::read_to_string(folder.path().join(".cobalt/.gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "serve.json"), "{ignored}");
    let mut second = Server::at(folder.path());
    let url = second.url();
    second.hear(|_| fs::read_to_string(&file).is_ok_and(|text| text.contains(&url)).then_some(()));
    assert_eq!(server.interrupt().code(), Some(130));
    assert!(file.exists(), "the file belongs to the second server");
    assert_eq!(second.signal(nix::sys::signal::Signal::SIGTERM).code(), Some(130));
    assert!(!file.exists());
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_it_whoever_is_connected() {
    let folder = package();
    let mut server = Server::at(folder.path());
    let host = server.host.clone();
    let mut events = server.connect(&format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(events.read(&mut [0; 64]).unwrap() > 0, "the stream did not start");
    let _half_open = server.connect("GET /api/runs HTTP/1.1\r\n");
    let _silent = server.connect("");
    let begin = Instant::now();
    assert_eq!(server.interrupt().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    let mut rest = Vec::new();
    let _ = events.read_to_end(&mut rest);
    assert!(server.said().ends_with("press Ctrl-C to stop\nstopped\n"), "{}", server.said());
}
