//! A server to be measured.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use tokio::runtime::{Builder, Runtime};

/// The server; it stops when it is dropped.
pub(crate) struct Server {
    process: Child,
    /// Open as long as the server may say something.
    _said: BufReader<ChildStderr>,
    url: String,
    client: Client,
    runtime: Runtime,
}

impl Server {
    /// Of the project in a folder, on a port that is free.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cobalt"));
        command.args(["cobalt", "serve", "--port", "0", "--no-open"]).current_dir(folder);
        for variable in ["COBALT_DIR", "COBALT_RESULTS_DIR", "COBALT_HISTORY_DB"] {
            command.env_remove(variable);
        }
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command");
        let mut said = BufReader::new(process.stderr.take().expect("a pipe"));
        let address = said.by_ref().lines().find_map(|line| {
            let line = line.expect("a line");
            Some(line.split_once("http://")?.1.split([';', ' ', '/']).next()?.to_owned())
        });
        let client = Client::builder().no_gzip().build().expect("a client");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        Self {
            process,
            _said: said,
            url: format!("http://{}", address.expect("an address")),
            client,
            runtime,
        }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Reads an answer, and tells its size.
    pub(crate) fn get(&self, address: &str, compressed: bool) -> usize {
        let mut request = self.client.get(format!("{}{address}", self.url));
        if compressed {
            request = request.header(ACCEPT_ENCODING, "gzip, deflate, br");
        }
        self.runtime.block_on(async {
            let mut answer = request.send().await.expect("an answer");
            assert!(answer.status().is_success(), "{address}: {}", answer.status());
            let mut size = 0;
            while let Some(piece) = answer.chunk().await.expect("a piece") {
                size += piece.len();
            }
            size
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
