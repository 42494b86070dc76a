//! An S3 server on this machine: moto's, which speaks the protocol with conditional writes. Tests that need it are skipped where
//! Python or moto is missing; those with a folder cover the same commands.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const LONGEST_START: Duration = Duration::from_secs(30);

pub(super) struct S3Server {
    pub(super) address: SocketAddr,
    process: Child,
}

impl S3Server {
    /// Starts a server with these variables. `None` if it is not installed: `pip install 'moto[server,s3]'` for the interpreter
    /// COBALT_TEST_PYTHON, or `python3`.
    pub(super) fn start(variables: &[(&str, &str)]) -> Option<Self> {
        let python = std::env::var("COBALT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let has_moto = Command::new(&python)
            .args(["-c", "import moto.server, flask, flask_cors"])
            .stderr(Stdio::null())
            .status();
        if !has_moto.is_ok_and(|status| status.success()) {
            eprintln!("skipped: `{python}` has no moto; to run this test, install `moto[server,s3]`");
            return None;
        }
        // Another process may take the port in between; the server then ends, and the test fails.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new(&python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &address.port().to_string()])
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < LONGEST_START, "moto does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Some(Self { address, process })
    }

    pub(super) fn create_bucket(&self, name: &str) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "PUT /{name} HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
