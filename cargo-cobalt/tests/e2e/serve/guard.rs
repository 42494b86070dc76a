//! Rejected hosts and cross-origin requests on localhost, and the security headers of all responses.

use super::server::Server;
use crate::stored_runs::package;

#[test]
fn a_name_that_is_not_the_servers_is_refused_as_after_rebinding() {
    let folder = package();
    let server = Server::at(folder.path());
    let port = server.port();
    for known in ["localhost", "127.0.0.1", "[::1]"] {
        let answer = server.ask(&["GET /api/health HTTP/1.1", &format!("Host: {known}:{port}")]);
        assert_eq!(answer.status, 200, "{known}: {answer:?}");
    }
    for other in [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        "localhost:1".to_owned(),
        "localhost".to_owned(),
        String::new(),
    ] {
        let answer = server.ask(&["GET /api/health HTTP/1.1", &format!("Host: {other}")]);
        assert_eq!(answer.status, 403, "{other}: {answer:?}");
        assert!(answer.error().contains(&server.url()), "{answer:?}");
        let page = server.ask(&["GET /runs HTTP/1.1", &format!("Host: {other}")]);
        assert_eq!((page.status, page.header("content-type")), (403, "text/html; charset=utf-8"), "{other}");
    }
    let own = format!("Host: {}", server.host);
    for lines in [
        &["GET /api/health HTTP/1.1"][..],
        &["GET /api/health HTTP/1.1", &own, "Host: evil.example"],
        &["GET http://evil.example/api/health HTTP/1.1", &own],
    ] {
        assert_eq!(server.ask(lines).status, 400, "{lines:?}");
    }
    let hostile = server.ask(&["GET / HTTP/1.1", "Host: <script>alert(1)</script>"]);
    assert!(hostile.status == 403 && !hostile.body.contains("<script>"), "{hostile:?}");
}

#[test]
fn pages_of_other_servers_read_nothing() {
    let folder = package();
    let server = Server::at(folder.path());
    let own = format!("Origin: {}", server.url());
    for further in [&[][..], &[&*own, "Sec-Fetch-Site: same-origin"], &["Sec-Fetch-Site: none"]] {
        assert_eq!(server.get("/api/runs", further).status, 200, "{further:?}");
    }
    for further in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://localhost:1",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        let answer = server.get("/api/runs", &[further]);
        assert_eq!(answer.status, 403, "{further}: {answer:?}");
        assert!(answer.error().contains("cross-origin requests are rejected"), "{answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    let link = server.get("/runs", &["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]);
    assert_eq!(link.status, 200, "links from other pages are allowed");
}

#[test]
fn every_answer_says_what_its_page_may_do() {
    let folder = package();
    let server = Server::at(folder.path());
    for path in ["/", "/nothing.js", "/api", "/api/runs", "/api/nothing", "/api/runs/nothing"] {
        let answer = server.get(path, &[]);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{path}: {name}");
        }
    }
    assert_eq!(server.get("/", &["Host: evil.example"]).header("x-content-type-options"), "nosniff");
}

#[test]
fn an_export_is_a_file_and_no_page() {
    let folder = package();
    let report = crate::stored_runs::report("81b28d6afd20", "desk", 1);
    let results = folder.path().join(".cobalt/results");
    std::fs::create_dir_all(&results).unwrap();
    let file = results.join(cobalt_core::store::result_file_name(&report));
    std::fs::write(file, report.to_json().unwrap()).unwrap();
    let server = Server::at(folder.path());
    assert!(server.said().contains(", 1 run); press Ctrl-C to stop"), "{}", server.said());
    let answer = server.get("/api/export?run=81b28d6afd20&format=html", &[]);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"run-81b28d6afd20.html\"");
    assert_eq!(answer.header("content-security-policy"), "sandbox");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}
