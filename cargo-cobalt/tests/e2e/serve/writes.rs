//! Changes over the API, and attempts to make them without being allowed to.

use std::fs;

use serde_json::{Value, json};

use super::server::{Server, ServerResponse, command};
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";
const C: &str = "cccccccccccc";

/// The paths and contents of all results and baselines.
fn snapshot(store: &Store) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![store.folder().join(".cobalt/results"), store.folder().join(".cobalt/baselines")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => files.push((path.display().to_string(), fs::read(path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_attack_is_rejected_and_changes_nothing() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let before = snapshot(&store);
    let (token, own) = (format!("X-Cobalt-Token: {}", server.token()), format!("Origin: {}", server.url()));
    let json = "Content-Type: application/json";
    let baseline = format!("/api/runs/{A}/baseline");
    let delete = json!({ "ids": [A] }).to_string();
    let try_all = |headers: &[&str], expected: u16| {
        for (method, path, body) in [
            ("POST", &*baseline, "{}"),
            ("POST", "/api/runs/delete", &*delete),
            ("PATCH", &*format!("/api/runs/{A}"), "{\"runName\":\"mine\"}"),
            ("POST", "/api/jobs", "{\"kind\":\"run\"}"),
            ("POST", "/api/jobs/1/stop", "{}"),
        ] {
            let answer = server.send_with(method, path, headers, body);
            assert_eq!(answer.status, expected, "{method} {path} {headers:?}: {answer:?}");
            assert!(answer.error().len() > 20, "{answer:?}");
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
    };
    // Pages of others, with whatever a browser lets them send.
    for origin in ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1", ""] {
        try_all(&[&format!("Origin: {origin}"), &token, json], 403);
    }
    try_all(&[&token, json], 403);
    try_all(&[&own, &token, json, "Sec-Fetch-Site: cross-site"], 403);
    try_all(&[&own, &token, json, "Sec-Fetch-Site: same-site"], 403);
    try_all(&[&own, &token, json, "Sec-Fetch-Site: none"], 403);
    // Forms and other requests that need no preflight.
    for content in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"]
    {
        try_all(&[&own, &token, &format!("Content-Type: {content}")], 415);
    }
    try_all(&[&own, &token], 415);
    // Other users of the machine, who can read but have no token.
    try_all(&[&own, json], 401);
    for wrong in ["", "0", &"0".repeat(64), &server.token()[1..]] {
        try_all(&[&own, json, &format!("X-Cobalt-Token: {wrong}")], 401);
    }
    try_all(&[&own, json, &format!("Authorization: Bearer {}", server.token())], 401);
    try_all(&[&own, json, &format!("Cookie: token={}", server.token())], 401);
    let in_query = format!("{baseline}?token={}", server.token());
    assert_eq!(server.send_with("POST", &in_query, &[&own, json], "{}").status, 401);
    // Rebinding: the name of another site that resolves to this machine.
    let port = server.port();
    let rebound = server.ask(&[
        &format!("POST {baseline} HTTP/1.0"),
        &format!("Host: evil.example:{port}"),
        &format!("Origin: http://evil.example:{port}"),
        &token,
        json,
        "Content-Length: 2",
    ]);
    assert_eq!(rebound.status, 403, "{rebound:?}");
    // No method that a link or an image uses changes anything.
    for path in [&*baseline, "/api/runs/delete", "/api/jobs/1/stop"] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            let answer = server
                .ask(&[&format!("{method} {path}?ids={A} HTTP/1.0"), &format!("Host: {}", server.host)]);
            assert!([404, 405].contains(&answer.status), "{method} {path}: {answer:?}");
            assert_eq!(answer.header("access-control-allow-methods"), "");
        }
    }
    for method in ["PUT", "DELETE", "TRACE", "PATCH"] {
        assert_eq!(server.send(method, "/api/runs/delete", &json!({})).status, 405, "{method}");
    }
    // Bodies.
    let huge = format!("{{\"ids\":[\"{}\"]}}", "a".repeat(70_000));
    let answer = server.send_with("POST", "/api/runs/delete", &[&own, &token, json], &huge);
    assert!(answer.status == 413 && answer.error().contains("64 kB"), "{answer:?}");
    let host = format!("Host: {}", server.host);
    let head = [
        "POST /api/runs/delete HTTP/1.1",
        &host,
        &own,
        &token,
        json,
        "Transfer-Encoding: chunked",
        "Connection: close",
    ];
    let chunked = format!("{}\r\n\r\n{:x}\r\n{huge}\r\n0\r\n\r\n", head.join("\r\n"), huge.len());
    let mut stream = server.connect(&chunked);
    let mut bytes = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut bytes);
    assert!(
        String::from_utf8_lossy(&bytes).starts_with("HTTP/1.1 413 "),
        "{}",
        String::from_utf8_lossy(&bytes)
    );
    for body in
        ["", "[]", "{\"ids\":\"a\"}", "{\"ids\":[\"a\"],\"path\":\"/\"}", "{\"ids\":[]}", "{} {}", "\u{0}"]
    {
        let answer = server.send_with("POST", "/api/runs/delete", &[&own, &token, json], body);
        assert_eq!(answer.status, 400, "{body:?}: {answer:?}");
    }
    assert_eq!(snapshot(&store), before);
}

#[test]
fn ids_are_not_paths() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let outside = store.folder().join("secret.json");
    let inside = store.folder().join(".cobalt/runs/x.jsonl");
    fs::create_dir_all(inside.parent().unwrap()).unwrap();
    for file in [&outside, &inside] {
        fs::write(file, "{}").unwrap();
    }
    for id in ["../../secret", "..%2f..%2fsecret", "../runs/x", ".", "..", "/", "secret.json", "", "\u{0}"] {
        let answer = server.send("POST", "/api/runs/delete", &json!({ "ids": [id] }));
        assert_eq!(answer.status, 404, "{id}: {answer:?}");
    }
    for id in ["..%2F..%2Fsecret", "..%2Fruns%2Fx", "%2e%2e", "x"] {
        for (method, path) in
            [("PATCH", format!("/api/runs/{id}")), ("POST", format!("/api/runs/{id}/baseline"))]
        {
            let body = if method == "PATCH" { json!({ "runName": "x" }) } else { json!({}) };
            let answer = server.send(method, &path, &body);
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
        }
    }
    assert!(outside.exists() && inside.exists());
}

#[test]
fn other_users_of_the_machine_do_not_learn_the_token() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let token = server.token();
    for path in [
        "/",
        "/api",
        "/api/health",
        "/api/session",
        "/api/runs",
        "/api/jobs",
        "/api/openapi.json",
        "/assets/",
    ] {
        for further in [&[][..], &["Sec-Fetch-Site: same-origin"]] {
            let answer = server.get(path, further);
            assert!(!format!("{answer:?}").contains(&token), "{path}");
        }
    }
    let session = server.json("/api/session");
    assert_eq!(session, json!({ "canWrite": false, "reason": "noToken" }));
    let with_token = server.get("/api/session", &[&format!("X-Cobalt-Token: {token}")]).json();
    assert_eq!(with_token, json!({ "canWrite": true }));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let file = store.folder().join(".cobalt/serve.json");
        let entry: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(entry["token"], *token);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// A server with an access token, and the headers of a client that has it.
fn remote(store: &Store, arguments: &[&str]) -> (Server, String) {
    const ACCESS: &str = "a-token-of-the-team";
    let mut command = command(store.folder(), &[&["--port", "0"], arguments].concat());
    command.env("COBALT_TOKEN", ACCESS);
    (Server::by(command), format!("Authorization: Bearer {ACCESS}"))
}

#[test]
fn remote_clients_only_read_unless_writes_are_allowed() {
    let store = Store::with_a_drop();
    let label = |server: &Server, headers: &[&str]| -> ServerResponse {
        let own = format!("Origin: {}", server.url());
        let headers = [&[&*own, "Content-Type: application/json"], headers].concat();
        server.send_with("PATCH", &format!("/api/runs/{A}"), &headers, "{\"runName\":\"mine\"}")
    };
    let (server, access) = remote(&store, &[]);
    let answer = label(&server, &[&access, "X-Cobalt-Token: a-token-of-the-team"]);
    assert!(answer.status == 403 && answer.error().contains("--allow-writes"), "{answer:?}");
    let session = server.get("/api/session", &[&access]).json();
    assert_eq!(session, json!({ "canWrite": false, "reason": "writesNotAllowed" }));

    let (server, access) = remote(&store, &["--allow-writes"]);
    assert!(!server.said().contains("#token="), "{}", server.said());
    assert_eq!(server.get("/api/session", &[]).status, 401, "the access token is needed");
    assert_eq!(server.get("/api/session", &[&access, "Sec-Fetch-Site: cross-site"]).status, 403);
    let session = server.get("/api/session", &[&access, "Sec-Fetch-Site: same-origin"]);
    assert_eq!(session.header("cache-control"), "no-store");
    let token = format!("X-Cobalt-Token: {}", session.json()["token"].as_str().unwrap());
    assert_eq!(label(&server, &[&token]).status, 401, "both tokens are needed");
    assert_eq!(label(&server, &[&access]).status, 401, "both tokens are needed");
    assert_eq!(label(&server, &[&access, &token]).json()["runName"], "mine");
    let other_origin = ["Origin: http://evil.example", "Content-Type: application/json", &access, &token];
    assert_eq!(server.send_with("PATCH", &format!("/api/runs/{A}"), &other_origin, "{}").status, 403);
}

#[test]
fn a_read_only_server_changes_nothing() {
    let store = Store::with_a_drop();
    let server = Server::by(command(store.folder(), &["--port", "0", "--read-only"]));
    assert!(!server.said().contains("token"), "{}", server.said());
    let headers =
        [&*format!("Origin: {}", server.url()), "X-Cobalt-Token: ", "Content-Type: application/json"];
    let answer = server.send_with("POST", "/api/jobs", &headers, "{\"kind\":\"run\"}");
    assert!(answer.status == 403 && answer.error().contains("--read-only"), "{answer:?}");
    assert_eq!(server.json("/api/session")["canWrite"], false);
}

#[test]
fn a_baseline_is_saved_with_the_refusals_of_the_command() {
    let store = Store::with_a_drop();
    store.keep(&Kept { id: "dddddddddddd", name: "other", partial: true, ..Kept::default() });
    let server = Server::at(store.folder());
    let save = |id: &str, body: &Value| server.send("POST", &format!("/api/runs/{id}/baseline"), body);
    let saved = save(A, &json!({})).json();
    assert_eq!(
        (&saved["experiment"], &saved["path"]),
        (&json!("desk"), &json!(".cobalt/baselines/desk.json"))
    );
    let is_baseline = |id: &str| {
        let runs = server.json("/api/runs");
        let overview = server.json(&format!("/api/runs/{id}/overview"));
        let run = runs["runs"].as_array().unwrap().iter().find(|run| run["id"] == id).unwrap();
        assert_eq!(run["isBaseline"], overview["isBaseline"]);
        run["isBaseline"] == true
    };
    assert!(is_baseline(A) && !is_baseline(B));
    let replaced = save(B, &json!({})).json();
    assert_eq!(replaced["replaced"], A);
    assert!(replaced["warnings"].to_string().contains("right is worse than in run"), "{replaced}");
    assert!(is_baseline(B) && !is_baseline(A));

    let partial = save("dddddddddddd", &json!({}));
    assert!(partial.status == 409 && partial.error().contains("is partial"), "{partial:?}");
    let file = store.folder().join(store.keep(&Kept { id: "eeeeeeeeeeee", day: 4, ..Kept::default() }));
    let failed = fs::read_to_string(&file)
        .unwrap()
        .replace("\"passed\":true,\"partial\"", "\"passed\":false,\"verdict\":\"failed\",\"partial\"");
    fs::write(&file, failed).unwrap();
    let refused = save("eeeeeeeeeeee", &json!({}));
    let body: Value = serde_json::from_str(&refused.body).unwrap();
    assert_eq!((refused.status, &body["code"]), (409, &json!("failed")), "{refused:?}");
    assert!(!refused.error().contains("--allow-failed"), "{refused:?}");
    assert!(is_baseline(B));
    assert_eq!(save("eeeeeeeeeeee", &json!({ "allowFailed": true })).json()["replaced"], B);
    store.keep_replayed(&Kept { id: "ffffffffffff", day: 5, ..Kept::default() });
    let refused = save("ffffffffffff", &json!({}));
    assert!(refused.status == 409 && refused.body.contains("\"code\":\"replayed\""), "{refused:?}");
}

#[test]
fn labels_are_shown_wherever_the_run_is() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let label = |body: &Value| server.send("PATCH", &format!("/api/runs/{A}"), body);
    let after = label(
        &json!({ "runName": "tuned prompt", "note": "shorter\nand calmer", "tags": ["nightly", "v2"] }),
    )
    .json();
    let expected = json!({ "id": A, "runName": "tuned prompt", "note": "shorter\nand calmer", "tags": ["nightly", "v2"] });
    assert_eq!(after, expected);
    let runs = server.json("/api/runs?search=TUNED");
    assert_eq!((&runs["matching"], &runs["runs"][0]["runName"]), (&json!(1), &json!("tuned prompt")));
    assert_eq!(runs["tags"], json!([{ "name": "nightly", "runs": 1 }, { "name": "v2", "runs": 1 }]));
    let run = &server.json(&format!("/api/runs/{A}/overview"))["run"];
    assert_eq!(
        (&run["runName"], &run["note"], &run["name"]),
        (&json!("tuned prompt"), &json!("shorter\nand calmer"), &json!("desk"))
    );
    let by = |arguments: &[&str]| store.cobalt(arguments);
    by(&["history"]).stdout_has("desk \"tuned prompt\"").stdout_has("nightly, v2");
    by(&["history", "--json"]).stdout_has("\"runName\": \"tuned prompt\"");
    by(&["show", A]).stdout_has("tuned prompt").stdout_has("shorter").stdout_has("and calmer");
    // Everything else in the file stays, and so do the labels that are not sent.
    let items = server.json(&format!("/api/runs/{A}"))["run"]["items"].as_array().unwrap().len();
    assert_eq!(items, crate::store::ITEMS);
    assert_eq!(
        label(&json!({ "note": "" })).json(),
        json!({ "id": A, "runName": "tuned prompt", "tags": ["nightly", "v2"] })
    );
    assert_eq!(label(&json!({ "runName": "", "tags": [] })).json(), json!({ "id": A, "tags": [] }));
    for body in [
        json!({}),
        json!({ "runName": "x".repeat(101) }),
        json!({ "name": "x" }),
        json!({ "runName": B }),
        json!({ "runName": "latest" }),
    ] {
        assert_eq!(label(&body).status, 400, "{body}");
    }
}

#[test]
fn runs_are_deleted_with_their_files_and_a_dry_run_says_which() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let workspace = store.folder().join(format!(".cobalt/workspaces/{B}/item"));
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("file"), "12345").unwrap();
    server.send("POST", &format!("/api/runs/{A}/baseline"), &json!({})).json();
    let delete = |ids: &[&str], dry_run: bool| {
        server.send("POST", "/api/runs/delete", &json!({ "ids": ids, "dryRun": dry_run }))
    };
    let before = snapshot(&store);
    let planned = delete(&[A, B, B], true).json();
    assert_eq!(planned["runs"], json!([B]));
    assert_eq!(planned["kept"][0]["id"], A);
    assert!(
        planned["kept"][0]["reason"].as_str().unwrap().contains("the source of the baseline of `desk`"),
        "{planned}"
    );
    let counts: Vec<_> =
        planned["files"].as_array().unwrap().iter().map(|kind| (&kind["kind"], &kind["count"])).collect();
    assert_eq!(counts, [(&json!("results"), &json!(1)), (&json!("workspaces"), &json!(1))]);
    assert!(planned["bytes"].as_u64().unwrap() > 1_000, "{planned}");
    let refused = delete(&[A, B], false);
    assert!(refused.status == 409 && refused.error().contains("nothing was deleted"), "{refused:?}");
    assert_eq!(delete(&[B, "0123456789ab"], false).status, 404);
    assert_eq!(snapshot(&store), before);

    let deleted = delete(&[B], false).json();
    assert_eq!((&deleted["runs"], &deleted["bytes"]), (&json!([B]), &planned["bytes"]));
    assert!(!workspace.parent().unwrap().exists());
    let runs = server.json("/api/runs");
    let left: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(left, [C, A]);
    store.cobalt(&["history"]).stdout_has(A);
    assert_eq!(delete(&[B], false).status, 404);
}

#[cfg(unix)]
#[test]
fn a_run_behind_a_symbolic_link_is_not_deleted() {
    let store = Store::with_a_drop();
    let results = store.folder().join(".cobalt/results");
    let mut files = fs::read_dir(&results).unwrap().flatten().map(|entry| entry.path());
    let file = files.find(|path| path.to_string_lossy().contains(A)).unwrap();
    let elsewhere = store.folder().join("elsewhere.json");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let server = Server::at(store.folder());
    let delete =
        |dry_run: bool| server.send("POST", "/api/runs/delete", &json!({ "ids": [A, B], "dryRun": dry_run }));
    let planned = delete(true).json();
    assert_eq!((&planned["runs"], &planned["kept"][0]["id"]), (&json!([B]), &json!(A)), "{planned}");
    let refused = delete(false);
    assert!(refused.status == 409 && refused.error().contains("symbolic link"), "{refused:?}");
    assert!(file.is_symlink() && elsewhere.exists());
}
