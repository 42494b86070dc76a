//! A proxy that cuts connections, and uploads that end in the middle.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{cobalt, command, results};
use crate::project::ProgramOutput;
use crate::store::{Kept, Store};

/// A proxy on this machine that cuts every tenth connection: before the request, after the request, or within the response.
pub(super) struct CuttingProxy {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// Every connection with a number that this divides is cut.
const CUT_EVERY: usize = 10;

impl CuttingProxy {
    pub(super) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
                thread::spawn(move || forward(client, server, number));
            }
        });
        Self { address, connections }
    }

    /// How many connections were cut.
    pub(super) fn cuts(&self) -> usize {
        self.connections.load(Ordering::SeqCst) / CUT_EVERY
    }
}

fn forward(client: TcpStream, server: SocketAddr, number: usize) {
    let is_cut = number.is_multiple_of(CUT_EVERY);
    let kind = number / CUT_EVERY % 3;
    let (Ok(server), true) = (TcpStream::connect(server), !(is_cut && kind == 0)) else { return };
    let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
    thread::spawn(move || copy(from_client, to_server, usize::MAX));
    // The server does what was requested, but the client is not told, or not all of it.
    let allowed = match (is_cut, kind) {
        (false, _) => usize::MAX,
        (true, 1) => 0,
        (true, _) => 100,
    };
    copy(server, client, allowed);
}

/// Copies at most this many bytes, then closes both.
fn copy(mut from: TcpStream, mut to: TcpStream, mut allowed: usize) {
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let part = read.min(allowed);
        allowed -= part;
        if to.write_all(&buffer[..part]).is_err() || allowed == 0 {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

#[test]
fn a_push_that_is_killed_leaves_nothing_half() {
    let folder = tempfile::tempdir().unwrap();
    let remote = folder.path().join("team");
    let mine = Store::new();
    for number in 0..60 {
        mine.keep(&Kept { id: &format!("{number:012x}"), ..Kept::default() });
    }
    let mut arrived = 0;
    for pause in [20, 40, 60, 80, 100, 150, 200] {
        let mut push = command(&mine, &remote.display().to_string(), &["push"]);
        let mut push = push.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(pause));
        let _ = push.kill();
        push.wait().unwrap();
        if !remote.exists() {
            continue;
        }
        let theirs = Store::new();
        let output = ProgramOutput::by(&mut command(&theirs, &remote.display().to_string(), &["pull"]), 0);
        output.stdout_has("0 failed");
        let there = results(&theirs);
        assert!(there.iter().all(|(name, bytes)| results(&mine)[name] == *bytes));
        assert!(there.len() >= arrived, "what arrived stays");
        arrived = there.len();
    }
    cobalt(&mine, &remote, &["push"], 0);
    let theirs = Store::new();
    cobalt(&theirs, &remote, &["pull"], 0);
    assert_eq!(results(&theirs), results(&mine));
}
