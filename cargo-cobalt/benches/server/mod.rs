//! The server under measurement.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use tokio::runtime::{Builder, Runtime};

/// The server; stops when dropped.
pub(crate) struct Server {
    process: Child,
    /// Kept open so that the server can write to stderr.
    _said: BufReader<ChildStderr>,
    url: String,
    client: Client,
    runtime: Runtime,
}

impl Server {
    /// Starts it for the project in a folder, on a free port.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cobalt"));
        command.args(["cobalt", "serve", "--port", "0", "--no-open"]).current_dir(folder);
        for variable in ["COBALT_DIR", "COBALT_RESULTS_DIR", "COBALT_HISTORY_DB"] {
            command.env_remove(variable);
        }
        let mut process = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("failed to start the command");
        let mut said = BufReader::new(process.stderr.take().expect("stderr is piped"));
        let address = said.by_ref().lines().find_map(|line| {
            let line = line.expect("failed to read stderr");
            Some(line.split_once("http://")?.1.split([';', ' ', '/']).next()?.to_owned())
        });
        let client = Client::builder().no_gzip().build().expect("failed to build the client");
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("failed to build the runtime");
        Self {
            process,
            _said: said,
            url: format!("http://{}", address.expect("the server printed no address")),
            client,
            runtime,
        }
    }

    /// The process ID.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a GET request; returns the size of the response body.
    pub(crate) fn get(&self, address: &str, compressed: bool) -> usize {
        let mut request = self.client.get(format!("{}{address}", self.url));
        if compressed {
            request = request.header(ACCEPT_ENCODING, "gzip, deflate, br");
        }
        self.runtime.block_on(async {
            let mut answer = request.send().await.expect("no response");
            assert!(answer.status().is_success(), "{address}: {}", answer.status());
            let mut size = 0;
            while let Some(piece) = answer.chunk().await.expect("failed to read the response") {
                size += piece.len();
            }
            size
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
