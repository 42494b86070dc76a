//! An MCP client that stands in for an AI assistant.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::Project;

/// Timeout for a response; packages may be built in the meantime.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running server and its messages.
pub(crate) struct Assistant {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The messages on stdout; anything that is not JSON fails the test.
    heard: Receiver<Value>,
    /// Notifications that arrived before responses.
    pub(crate) notifications: Vec<Value>,
    /// The URIs to answer `roots/list` requests with; if `None`, the test answers them.
    pub(crate) roots: Option<Vec<String>>,
    next_id: u64,
}

impl Assistant {
    /// Starts the server in a project and initializes it with the last protocol version that has a handshake.
    pub(crate) fn of(project: &Project) -> Self {
        Self::speaking(project, &[], "2025-11-25", json!({}))
    }

    /// Starts and initializes the server in a folder, with `--project` for each of these projects.
    pub(crate) fn over(folder: &Path, projects: &[&Path], version: &str) -> Self {
        let mut assistant = Self::silent_over(folder, projects);
        let said = assistant.hello(version, json!({}));
        assert_eq!(said["protocolVersion"], version, "{said}");
        assistant
    }

    /// Like [`Self::over`], but without the handshake.
    pub(crate) fn silent_over(folder: &Path, projects: &[&Path]) -> Self {
        let mut command = program(COBALT, folder);
        command.args(["cobalt", "mcp"]);
        for project in projects {
            command.arg("--project").arg(project);
        }
        Self::by(command)
    }

    /// Starts the server with arguments and initializes it with a protocol version and client capabilities.
    pub(crate) fn speaking(
        project: &Project,
        arguments: &[&str],
        version: &str,
        capabilities: Value,
    ) -> Self {
        let mut assistant = Self::silent(project, arguments);
        let said = assistant.hello(version, capabilities);
        assert_eq!(said["protocolVersion"], version, "{said}");
        assistant
    }

    /// Performs the initialization handshake; returns the server's response.
    #[track_caller]
    pub(crate) fn hello(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({ "name": "tests", "version": "1" });
        let hello = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let said = self.ask("initialize", hello);
        self.notify("notifications/initialized", json!({}));
        said
    }

    /// Starts the server with arguments, without the handshake.
    pub(crate) fn silent(project: &Project, arguments: &[&str]) -> Self {
        let mut command = project.command(&["mcp"]);
        command.args(arguments);
        Self::by(command)
    }

    /// Starts the server with a command, without the handshake.
    pub(crate) fn by(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, heard) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let line = line.unwrap();
                let message = serde_json::from_str(&line);
                let message = message.unwrap_or_else(|_| json!({ "noMessage": line }));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, heard, notifications: Vec::new(), roots: None, next_id: 0 }
    }

    /// Sends a line, valid or not.
    pub(crate) fn say(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request without waiting for the response; returns the request ID.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The next message from the server.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Value {
        loop {
            let message = self.heard.recv_timeout(PATIENCE).expect("no message from the server");
            assert!(
                message.get("noMessage").is_none(),
                "stdout contains something that is not a message: {message}"
            );
            match &self.roots {
                Some(roots) if message["method"] == "roots/list" => {
                    let roots = roots.clone();
                    self.tell_roots(&message, &roots);
                }
                _ => return message,
            }
        }
    }

    /// Answers a request for roots.
    pub(crate) fn tell_roots(&mut self, request: &Value, roots: &[String]) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": of_roots(roots) }).to_string());
    }

    /// The next message from the server, if one arrives in this time.
    pub(crate) fn hear_within(&mut self, patience: Duration) -> Option<Value> {
        self.heard.recv_timeout(patience).ok()
    }

    /// The whole response to a request; stores the notifications that arrive before it.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            assert!(message.get("method").is_some(), "a response to an unknown request: {message}");
            self.notifications.push(message);
        }
    }

    /// The result of a request.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.answer_to(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.answer_to(id);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// The structured content of a successful tool call.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The result of a tool call that fails.
    #[track_caller]
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], true, "{result}");
        result
    }

    /// The process ID of the server.
    #[cfg(unix)]
    pub(crate) fn server(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Waits until the server exits; returns its exit code.
    pub(crate) fn left(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Closes the connection; returns the server's exit code.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It exits when stdin is closed, unless the test failed.
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The result of a `roots/list` request.
pub(crate) fn of_roots(roots: &[String]) -> Value {
    let roots: Vec<_> = roots.iter().map(|uri| json!({ "uri": uri })).collect();
    json!({ "roots": roots })
}

/// Adds the metadata that each request needs from protocol version 2026-07-28, which has no handshake.
pub(crate) fn with_metadata(mut params: Value, version: &str, capabilities: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}
