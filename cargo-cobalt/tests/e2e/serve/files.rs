//! Static files of the page, and paths that are not found.

use serde_json::json;

use super::server::Server;
use crate::stored_runs::package;

#[test]
fn addresses_of_the_page_lead_to_it_and_missing_files_are_missed() {
    let folder = package();
    let server = Server::at(folder.path());
    let page = server.get("/", &[]);
    assert!(page.status == 200 && page.body.starts_with("<!doctype html>"), "{page:?}");
    for path in ["/runs", "/runs/81b28d6afd20/items/version-4.1", "/compare?a=1&b=2", "/index.html"] {
        assert_eq!(server.get(path, &[]).body, page.body, "{path}");
    }
    for path in ["/foo.js", "/assets/foo.js", "/assets/", "/favicon.nothing", "/..%2f..%2fCargo.toml"] {
        let answer = server.get(path, &[]);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.body.contains("<html"), "{answer:?}");
    }
}

#[test]
fn below_api_there_is_json_and_no_page() {
    let folder = package();
    let server = Server::at(folder.path());
    for path in ["/api/", "/api/nothing", "/api/runs/", "/api/runs/1/2/3", "/api/nothing.html"] {
        let answer = server.get(path, &["Accept: text/html"]);
        assert_eq!((answer.status, answer.header("content-type")), (404, "application/json"), "{path}");
    }
    for path in ["/api/runs/%FF", "/api/runs/%FF/overview", "/api/runs/1/items/%FF", "/api/runs?limit=-1"] {
        let error = server.refusal(path, 400);
        assert!(error.starts_with("invalid request: ") && error.contains("openapi.json"), "{error}");
    }
    let host = format!("Host: {}", server.host);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let answer = match method {
            "OPTIONS" => server.ask(&["OPTIONS /api/runs HTTP/1.1", &host]),
            _ => server.send(method, "/api/runs", &json!({})),
        };
        assert_eq!((answer.status, answer.header("content-type")), (405, "application/json"), "{method}");
        let page = server.ask(&[&format!("{method} /runs HTTP/1.1"), &host]);
        assert_eq!((page.status, page.header("allow")), (405, "GET, HEAD"), "{method}");
    }
}

#[test]
fn all_that_is_described_is_there() {
    let folder = package();
    let server = Server::at(folder.path());
    let index = server.json("/api");
    let described = server.json("/api/openapi.json");
    let paths: Vec<_> =
        index["endpoints"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(paths.len(), described["paths"].as_object().unwrap().len());
    for path in paths {
        let operations = described["paths"][path].as_object().unwrap();
        assert!(!operations.is_empty(), "{path}");
        if !operations.contains_key("get") {
            assert_eq!(server.get(path, &[]).status, 405, "{path}");
            continue;
        }
        let address = path.replace("{id}", "1").replace("{key}", "1");
        // HEAD, because the event stream never ends.
        let answer = server.ask(&[&format!("HEAD {address} HTTP/1.1"), &format!("Host: {}", server.host)]);
        assert_eq!(
            answer.header("content-type").split(';').next(),
            described_type(path),
            "{path}: {answer:?}"
        );
        if answer.status == 404 {
            assert!(!server.refusal(&address, 404).contains("no such endpoint"), "{path}");
        }
    }
}

/// The expected media type of the response if there are no runs.
fn described_type(path: &str) -> Option<&'static str> {
    Some(if path == "/api/events" { "text/event-stream" } else { "application/json" })
}

#[test]
fn a_page_that_is_known_is_not_sent_again() {
    let folder = package();
    let server = Server::at(folder.path());
    let page = server.get("/", &[]);
    let (tag, age) = (page.header("etag"), page.header("cache-control"));
    assert!(tag.starts_with("W/\"") && age == "no-cache", "{page:?}");
    let known = server.get("/runs", &[&format!("If-None-Match: \"other\", {tag}")]);
    assert_eq!((known.status, &*known.body, known.header("etag")), (304, "", tag));
    assert_eq!(server.get("/", &["If-None-Match: \"other\""]).status, 200);
    let head = server.ask(&["HEAD / HTTP/1.1", &format!("Host: {}", server.host)]);
    assert_eq!((head.status, &*head.body), (200, ""));
    assert_eq!(head.header("content-length"), page.header("content-length"));
}
