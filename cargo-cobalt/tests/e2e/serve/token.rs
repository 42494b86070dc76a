//! Token authentication for servers that other machines can reach.

use super::server::{Server, ServerResponse, command};
use crate::project::ProgramOutput;
use crate::stored_runs::package;

const TOKEN: &str = "a-token-of-the-team";

fn given() -> (tempfile::TempDir, Server) {
    let folder = package();
    let mut command = command(folder.path(), &["--port", "0"]);
    command.env("COBALT_TOKEN", TOKEN);
    let server = Server::by(command);
    (folder, server)
}

/// The cookie set by a response, as a browser sends it back.
fn cookie(answer: &ServerResponse) -> String {
    format!("Cookie: other=1; {}", answer.header("set-cookie").split(';').next().unwrap())
}

#[test]
fn all_addresses_need_the_token_that_is_printed_once() {
    let folder = package();
    let server = Server::by(command(folder.path(), &["--port", "0", "--host", "0.0.0.0"]));
    let said = server.said();
    let (_, token) = said.split_once("/?token=").unwrap();
    let token = token.split(' ').next().unwrap();
    assert!(token.len() == 64 && !server.host.starts_with("0.0.0.0"), "{said}");
    assert_eq!(server.get("/api/runs", &[]).status, 401);
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(server.get("/api/runs", &[&bearer]).status, 200);
    assert!(
        !folder.path().join(".cobalt/serve.json").exists(),
        "the server is not announced to other commands"
    );
    assert_eq!(server.said(), said);
}

#[test]
fn the_link_sets_a_cookie_and_leads_on_without_the_token() {
    let (_folder, server) = given();
    assert!(
        server.said().contains("value of COBALT_TOKEN") && !server.said().contains(TOKEN),
        "{}",
        server.said()
    );
    let link = server.get(&format!("/runs?q=a&token={TOKEN}&sort=name"), &[]);
    assert_eq!((link.status, link.header("location")), (303, "/runs?q=a&sort=name"), "{link:?}");
    let set = link.header("set-cookie");
    assert!(set.starts_with(&format!("cobalt-{}=", server.port())), "{set}");
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict") && !set.contains(TOKEN), "{set}");
    assert_eq!(link.header("cache-control"), "no-store");
    let cookie = cookie(&link);
    for path in ["/runs", "/api/runs", "/api/health"] {
        assert_eq!(server.get(path, &[&cookie]).status, 200, "{path}");
    }
    let again = server.get("/?token=an-old-one", &[&cookie]);
    assert_eq!((again.status, again.header("location"), again.header("set-cookie")), (303, "/", ""));
    let elsewhere = server.get(&format!("//evil.example/?token={TOKEN}"), &[]);
    assert_eq!(elsewhere.header("location"), "/evil.example/");
}

#[test]
fn a_token_may_have_any_visible_characters() {
    let folder = package();
    let mut command = command(folder.path(), &["--port", "0"]);
    command.env("COBALT_TOKEN", "q+Zx/9+aW7==&%#12");
    let server = Server::by(command);
    for typed in ["q+Zx/9+aW7==%26%25%2312", "q%2BZx%2F9%2BaW7%3D%3D%26%25%2312"] {
        let link = server.get(&format!("/?token={typed}"), &[]);
        assert_eq!(link.status, 303, "{typed}: {link:?}");
        assert_eq!(server.get("/api/runs", &[&cookie(&link)]).status, 200);
    }
    assert_eq!(server.get("/api/runs", &["Authorization: Bearer q+Zx/9+aW7==&%#12"]).status, 200);
}

#[test]
fn a_server_without_a_token_is_none_for_whoever_asks_for_one() {
    let folder = package();
    let open = Server::at(folder.path());
    let mut second = command(folder.path(), &["--port", open.port()]);
    ProgramOutput::by(second.env("COBALT_TOKEN", TOKEN), 3)
        .stderr_has("the port is in use; choose another one");
}

#[test]
fn whoever_has_no_token_gets_nothing() {
    let (_folder, server) = given();
    let wrong_cookie = format!("Cookie: cobalt-{}={TOKEN}", server.port());
    for further in [
        &[][..],
        &["Authorization: Bearer a-token-of-the-teax"],
        &["Authorization: Bearer"],
        &["Authorization: Basic YTph"],
        &[&*wrong_cookie],
    ] {
        for path in ["/api", "/api/runs", "/api/health", "/api/events", "/api/export", "/api/nothing"] {
            let answer = server.get(path, further);
            assert_eq!(answer.status, 401, "{path} {further:?}");
            assert!(answer.error().contains("token"), "{answer:?}");
        }
        for path in ["/", "/runs/abc", "/assets/index.js", "/?token=wrong"] {
            let answer = server.get(path, further);
            assert_eq!(answer.status, 401, "{path} {further:?}");
            assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
            assert!(
                answer.body.contains("cargo cobalt serve") && !answer.body.contains("<script"),
                "{answer:?}"
            );
        }
    }
    assert_eq!(server.get("/", &[]).header("www-authenticate"), "Bearer");
    assert_eq!(
        server.get(&format!("/api/runs?token={TOKEN}"), &[]).status,
        401,
        "the API accepts no token in the URL"
    );
}

#[test]
fn with_a_token_any_name_will_do_and_pages_of_other_servers_still_will_not() {
    let (_folder, server) = given();
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let ask = |further: &[&str]| {
        let lines = [&["GET /api/runs HTTP/1.1", "Host: runs.example", &bearer], further].concat();
        server.ask(&lines).status
    };
    assert_eq!(ask(&[]), 200);
    assert_eq!(ask(&["Origin: https://runs.example"]), 200, "behind a TLS proxy");
    assert_eq!(ask(&["Origin: https://evil.example"]), 403);
    assert_eq!(ask(&["Sec-Fetch-Site: cross-site"]), 403);
}

#[test]
fn a_token_that_is_too_short_or_has_spaces_is_refused_and_not_repeated() {
    let folder = package();
    for token in ["short-secret", "a secret of several words"] {
        let mut command = command(folder.path(), &["--port", "0"]);
        let said =
            ProgramOutput::by(command.env("COBALT_TOKEN", token), 3).stderr_has("at least 16 characters");
        assert!(!said.stderr.contains(token), "{said:?}");
    }
}
