//! The command in `.mcp.json` starts the server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::Project;

#[test]
fn what_the_file_for_assistants_says_starts_a_server_that_answers() {
    let project = Project::steered();
    project.write(".mcp.json", r#"{ "mcpServers": { "web": { "url": "https://example.org" } } }"#);
    project.cobalt(&["update"], 0).stdout_has("updated  .mcp.json");
    let text = project.read(".mcp.json");
    let servers: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(servers["mcpServers"]["web"]["url"], "https://example.org");
    let server = &servers["mcpServers"]["cobalt"];
    assert!(server.get("env").is_none() && !text.contains("KEY"), "{text}");

    let arguments = server["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
    let mut command = program(server["command"].as_str().unwrap(), &project.path(""));
    // As if installed: cargo finds the command in PATH.
    let installed = Path::new(COBALT).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(installed).chain(std::env::split_paths(&path));
    command.args(arguments).env("PATH", std::env::join_paths(folders).unwrap());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({ "name": "tests", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    writeln!(stdin, "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "cobalt", "{answer}");
    assert!(answer["result"]["capabilities"]["prompts"].is_object(), "{answer}");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
