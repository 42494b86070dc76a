//! `cargo xtask dev`: the dashboard's server over the examples' runs, and Vite's development server in front of it.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::thread::sleep;
use std::time::Duration;

use crate::{Outcome, build_command, failed, npm, program, root, run, target_folder};

const POLL: Duration = Duration::from_millis(100);

/// A server, which ends with its value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended, also by the Ctrl-C that reaches all.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs both servers until one of them ends, or Ctrl-C ends all.
pub fn dev() -> Outcome {
    let cobalt = build_command()?;
    let store = target_folder().join("dev-store");
    fill(&store, &cobalt)?;
    let (api, page) = (free_port()?, free_port()?);
    let mut serve = program(&cobalt);
    serve.args(["cobalt", "serve", "--no-open", "--allow-writes", "--port", &api.to_string()]);
    let mut server = start(serve.env("COBALT_DIR", &store).current_dir(root()))?;
    wait_for(api, &mut server)?;
    let port = page.to_string();
    let mut vite = npm(&["run", "--silent", "dev", "--", "--host", "127.0.0.1", "--port", &port])?;
    vite.args(["--strictPort", "--logLevel", "warn"]);
    let mut vite = start(vite.env("COBALT_SERVER", format!("http://127.0.0.1:{api}")))?;
    wait_for(page, &mut vite)?;
    println!("\n  http://127.0.0.1:{page}/    (Ctrl-C to stop)\n");
    loop {
        if has_ended(&mut server)? || has_ended(&mut vite)? {
            return Ok(ExitCode::FAILURE);
        }
        sleep(POLL);
    }
}

/// Fills an empty store with a run of the examples, which need no key.
fn fill(store: &Path, cobalt: &Path) -> Result<(), String> {
    if fs::read_dir(store.join("results")).is_ok_and(|mut results| results.next().is_some()) {
        return Ok(());
    }
    let mut examples = program(cobalt);
    examples.args(["cobalt", "run", "--offline"]).env("COBALT_DIR", store).current_dir(root());
    run(&mut examples)
}

fn start(command: &mut Command) -> Result<Server, String> {
    command.spawn().map(Server).map_err(|error| failed(command, &error))
}

fn has_ended(server: &mut Server) -> Result<bool, String> {
    server.0.try_wait().map(|status| status.is_some()).map_err(|error| error.to_string())
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    listener
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| error.to_string())
}

/// Waits until a server listens.
fn wait_for(port: u16, server: &mut Server) -> Result<(), String> {
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if has_ended(server)? {
            return Err("a server ended before it listened; see its message above".to_owned());
        }
        sleep(POLL);
    }
    Ok(())
}
