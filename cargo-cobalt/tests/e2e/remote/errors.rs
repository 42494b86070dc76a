//! What is said if a remote store cannot be used.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use super::s3_server::S3Server;
use super::{cobalt, command, results};
use crate::project::ProgramOutput;
use crate::store::{Kept, Store};

/// A server that answers every request with this status and this error of S3.
fn failing(status: &'static str, code: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 8192]);
            let body = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>told by the server</Message></Error>"
            );
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    address
}

/// A project whose remote store is at this address.
fn project(address: SocketAddr) -> Store {
    let store = Store::new();
    store.keep(&Kept::default());
    let settings = format!(
        "[storage]\nremote = \"s3://team/evals\"\nendpoint = \"http://{address}\"\nregion = \"us-east-1\"\nallow-http = true\n"
    );
    fs::write(store.folder().join("cobalt.toml"), settings).unwrap();
    store
}

/// The error of `push` with some key.
fn refused(store: &Store) -> String {
    let mut command = command(store, "", &["push"]);
    command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "hunter2hunter2");
    let before = results(store);
    let output = ProgramOutput::by(&mut command, 3);
    assert_eq!(results(store), before, "the runs stay where they are");
    assert!(output.stderr.contains("s3://team/evals") && !output.stderr.contains("hunter2"), "{output:?}");
    output.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_error_of_the_server_says_what_to_do() {
    for (status, code, problem, advice) in [
        ("403 Forbidden", "RequestTimeTooSkewed", "clock differs too much", "set the clock"),
        ("403 Forbidden", "InvalidAccessKeyId", "does not accept the credentials", "check AWS_ACCESS_KEY_ID"),
        (
            "403 Forbidden",
            "SignatureDoesNotMatch",
            "does not accept the credentials",
            "AWS_SECRET_ACCESS_KEY",
        ),
        ("400 Bad Request", "ExpiredToken", "credentials have expired", "AWS_SESSION_TOKEN"),
        ("403 Forbidden", "AccessDenied", "lack the permission to read objects", "`s3:GetObject`"),
        ("404 Not Found", "NoSuchBucket", "there is no bucket or container `team`", "`storage.remote`"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "in another region", "`storage.region`"),
        ("400 Bad Request", "Strange", "told by the server", "try again"),
    ] {
        let error = refused(&project(failing(status, code)));
        assert!(error.contains(problem) && error.contains(advice), "{code}: {error}");
    }
}

#[test]
fn a_server_that_is_not_there_is_tried_for_half_a_minute_at_most() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let start = std::time::Instant::now();
    let error = refused(&project(address));
    assert!(error.contains("no connection") && error.contains("check the network"), "{error}");
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn a_wrong_key_and_a_missing_bucket_are_told_by_a_real_server() {
    let Some(server) = S3Server::start(&[]) else { return };
    let error = refused(&project(server.address));
    assert!(error.contains("there is no bucket or container `team`"), "{error}");
    // The bucket is created before keys are checked.
    let Some(server) = S3Server::start(&[("INITIAL_NO_AUTH_ACTION_COUNT", "1")]) else { return };
    server.create_bucket("team");
    let error = refused(&project(server.address));
    assert!(error.contains("does not accept the credentials"), "{error}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let store = Store::new();
    store.keep(&Kept::default());
    let folder = tempfile::tempdir().unwrap();
    cobalt(&store, "".as_ref(), &["push"], 3).stderr_has("no remote store is configured");
    cobalt(&store, &folder.path().join("not/there"), &["push"], 3)
        .stderr_has("create the folder or mount the file system");
    let refused = |settings: &str| {
        fs::write(store.folder().join("cobalt.toml"), format!("[storage]\n{settings}\n")).unwrap();
        ProgramOutput::by(&mut command(&store, "", &["push"]), 3).stderr
    };
    assert!(refused("secret-access-key = \"a\"").contains("AWS_SECRET_ACCESS_KEY"));
    let insecure = refused("remote = \"s3://team\"\nendpoint = \"http://minio.test\"");
    assert!(
        insecure.split_whitespace().collect::<Vec<_>>().join(" ").contains("storage.allow-http = true"),
        "{insecure}"
    );
    let secret = refused("remote = \"s3://key:hunter2@team\"");
    assert!(!secret.contains("hunter2"), "{secret}");
    fs::write(store.folder().join("cobalt.toml"), "").unwrap();
    for url in ["s3://key:hunter2@team", "s3:hunter2", "ftp://hunter2"] {
        for command_line in [&["push", "--remote", url][..], &["history", &format!("--remote={url}")]] {
            let output =
                ProgramOutput::by(&mut command(&store, "", command_line), 3).stderr_has("--remote: ");
            assert!(!output.stderr.contains("hunter2"), "{output:?}");
        }
    }
}
