//! Which redirects are followed, and which headers are sent along.

use super::*;

fn redirect(status: u16, to: &str) -> ScriptedResponse {
    ScriptedResponse::text(status, "moved").header("location", to)
}

fn with_headers(url: String) -> RemoteDataset<Url> {
    Dataset::from_url(url).bearer_env("KEY").header_env("X-Api-Key", "KEY").header("Accept", "text/csv")
}

#[test]
fn redirects_within_a_server_are_followed_with_all_headers() {
    for status in [301, 302, 303, 307, 308] {
        let server = TestServer::start(move |asked| match asked.path.as_str() {
            "/a" => redirect(status, "/b"),
            "/b" => redirect(status, "c/x.jsonl"),
            _ => ScriptedResponse::text(200, ROWS),
        });
        assert_eq!(fetch(&with_headers(server.url("/a"))).unwrap().items.len(), 2);
        let last = server.requests().pop().unwrap();
        assert_eq!((last.method.as_str(), last.path.as_str()), ("GET", "/c/x.jsonl"));
        assert_eq!(last.headers["authorization"], format!("Bearer {KEY}"));
        assert_eq!(last.headers["x-api-key"], KEY);
    }
}

/// Like Hugging Face: its own server checks the token, and redirects to a signed URL on another server.
#[test]
fn headers_for_one_server_do_not_go_to_another() {
    let cdn = TestServer::script([ScriptedResponse::text(200, ROWS).header("etag", "\"of-the-file\"")]);
    let to = cdn.url("/repos/x?response-content-disposition=attachment&X-Amz-Signature=signed-0123456789");
    let hub = TestServer::start(move |asked| match asked.headers.get("authorization") {
        Some(_) => redirect(302, &to),
        None => ScriptedResponse::text(401, "Invalid username or password."),
    });
    let path = "/datasets/acme/support/resolve/main/test.jsonl";
    let fetched = fetch(&with_headers(hub.url(path))).unwrap();
    assert_eq!((fetched.items.len(), fetched.version.as_deref()), (2, Some("of-the-file")));
    let headers = cdn.requests().pop().unwrap().headers;
    assert!(!headers.contains_key("authorization") && !headers.contains_key("x-api-key"), "{headers:?}");
    assert_eq!(headers["accept"], "text/csv");
    let error = fetch(&Dataset::from_url(hub.url(path))).unwrap_err().to_string();
    assert!(error.starts_with("status 401: Invalid username or password.; it may require a key"), "{error}");
}

#[test]
fn a_refusal_by_another_server_says_that_the_headers_stayed_behind() {
    let other = TestServer::script([ScriptedResponse::text(403, "denied")]);
    let to = other.url("/x.csv?sig=signed-0123456789");
    let server = TestServer::start(move |_| redirect(302, &to));
    let error = fetch(&with_headers(server.url("/a"))).unwrap_err().to_string();
    let place = other.url("/x.csv").replace("http://", "");
    let expected =
        format!("status 403: denied; this is the response of {place}, after a redirect that drops");
    assert!(error.starts_with(&expected) && error.ends_with("use its URL"), "{error}");
}

#[test]
fn a_name_that_a_redirect_repeats_stays_readable() {
    let cdn = TestServer::script([ScriptedResponse::text(200, format!("{ROWS}no object\n"))]);
    let to = cdn.url(
        "/blob?response-content-disposition=inline%3B+filename%3D%22test.jsonl%22&sig=signed-0123456789",
    );
    let hub = TestServer::start(move |_| redirect(302, &to));
    let error = fetch(&Dataset::from_url(hub.url("/acme/test.jsonl"))).unwrap_err().to_string();
    assert!(error.starts_with("test.jsonl:3: expected one complete JSON object"), "{error}");
    let error = fetch(&Dataset::from_url(hub.url("/"))).unwrap_err().to_string();
    assert!(error.starts_with("the response:3: expected one complete JSON object"), "{error}");
}

#[test]
fn user_and_password_of_the_address_stay_with_its_server() {
    let other = TestServer::script([ScriptedResponse::text(200, ROWS)]);
    let to = other.url("/x.jsonl");
    let server = TestServer::start(move |asked| match asked.path.as_str() {
        "/a" => redirect(302, "/b"),
        _ => redirect(302, &to),
    });
    let url = server.url("/a").replace("http://", "http://user:pass%20word@");
    assert_eq!(fetch(&Dataset::from_url(url)).unwrap().items.len(), 2);
    let sent: Vec<_> =
        server.requests().iter().map(|asked| asked.headers.get("authorization").cloned()).collect();
    let basic = Some("Basic dXNlcjpwYXNzIHdvcmQ=".to_owned());
    assert_eq!(sent, [basic.clone(), basic]);
    assert!(!other.requests()[0].headers.contains_key("authorization"));
}

#[test]
fn a_loop_is_told_at_once() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/a" => redirect(302, "/b"),
        _ => redirect(302, "/a"),
    });
    let error = at(&server, "/a").unwrap_err().to_string();
    assert!(error.starts_with("the server redirects in a loop, back to "), "{error}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn the_key_of_a_platform_goes_to_no_other_server() {
    use reqwest::Method;

    use crate::dataset::remote::fetch_session::Request;
    let other = TestServer::script([ScriptedResponse::text(200, "{}")]);
    let to = other.url("/api?x=1");
    let server = TestServer::start(move |_| redirect(301, &to));
    let remote = Dataset::from_url("http://unused.test");
    for method in [Method::GET, Method::POST] {
        let request =
            Request::get(server.url("/api").parse().unwrap()).secret_header("authorization", KEY).unwrap();
        let request = Request { method, ..request };
        let asked = FetchEnvironment::default().session(&remote, async |session| {
            session.json::<serde_json::Value>(&request).await.unwrap_err().to_string()
        });
        let place = other.url("/api").replace("http://", "");
        assert!(asked.ends_with(&format!("the server redirects to {place}; use that URL")), "{asked}");
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn no_error_shows_a_secret() {
    let answers = [
        ScriptedResponse::error(401, KEY),
        ScriptedResponse::text(500, format!("for {KEY}, password-of-anna and signed-0123456789")),
        ScriptedResponse::text(200, format!("Hello {KEY} password-of-anna signed-0123456789")),
        ScriptedResponse::text(200, format!("<html><title>{KEY} password-of-anna signed-0123456789</title>")),
        ScriptedResponse::text(302, "").header("location", "http://127.0.0.1:1/x?sig=signed-0123456789"),
        ScriptedResponse::text(302, "")
            .header("location", "ftp://user:password-of-anna@x.test/signed-0123456789"),
        ScriptedResponse::text(200, ROWS).cut_after(3),
    ];
    for answer in answers {
        let server = TestServer::script([answer]);
        let url =
            server.url("/data?sig=signed-0123456789").replace("http://", "http://anna:password-of-anna@");
        let remote = Dataset::from_url(url).header_env("x-api-key", "KEY").retries(1);
        let error = fetch(&remote).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(
            !["key-0123", "password-of", "signed-0123"].iter().any(|secret| shown.contains(secret)),
            "{shown}"
        );
    }
}

#[test]
fn a_refused_key_is_told_by_its_variable() {
    let server = TestServer::script([ScriptedResponse::error(401, "wrong key")]);
    let error = fetch(&Dataset::from_url(server.url("/x.csv")).bearer_env("KEY")).unwrap_err().to_string();
    assert_eq!(
        error,
        "status 401: wrong key; the key in KEY may not read this; check it and its permissions"
    );
    let url = server.url("/x.csv").replace("http://", "http://anna:pass@");
    let error = fetch(&Dataset::from_url(url)).unwrap_err().to_string();
    assert_eq!(error, "status 401: wrong key; check the user and password in the URL");
}

#[test]
fn nothing_is_sent_without_what_is_to_be_sent() {
    let server = TestServer::script([ScriptedResponse::text(200, ROWS)]);
    let fails = |remote: RemoteDataset<Url>| fetch_without_folder(&remote);
    let url = || Dataset::from_url(server.url("/x.jsonl"));
    let missing = "the header `authorization` needs the environment variable OTHER_KEY, which is not set";
    assert_eq!(fails(url().bearer_env("OTHER_KEY")), missing);
    assert!(fails(url().header("x y", "1")).starts_with("`x y` is not a valid header name"));
    let value = fails(url().header("x-key", "hidden\n1"));
    assert!(value.starts_with("the value of the header `x-key` contains an invalid character"), "{value}");
    let both = server.url("/x").replace("http://", "http://user:password@");
    assert!(fails(Dataset::from_url(both).bearer_env("KEY")).contains("remove one of them"));
    assert!(fails(Dataset::from_url("data/x.csv")).contains("`data/x.csv` is not a URL"));
    assert_eq!(server.requests().len(), 0);
}

/// The error of a fetch without a folder for downloads.
fn fetch_without_folder(remote: &RemoteDataset<Url>) -> String {
    FetchEnvironment::with(&[("KEY", KEY)]).fetch(remote).unwrap_err().to_string()
}

/// The error from a server that echoes the request.
fn echoed(query: &str, user: &str) -> String {
    let server = TestServer::start(|asked| {
        ScriptedResponse::text(500, format!("no GET {} for {asked:?}", asked.path))
    });
    let url = server.url(&format!("/data?{query}")).replace("http://", &format!("http://{user}"));
    fetch(&Dataset::from_url(url).retries(0)).unwrap_err().to_string()
}

#[test]
fn no_error_shows_the_query_as_a_server_repeats_it() {
    for secret in ["token=a%2Fb%2Bc%2Fd%3D%3De%2Ff", "X-Goog-Signature=0f1e2d3c4b5a", "code=open-sesame-9"] {
        let error = echoed(&format!("split=test&{secret}"), "");
        let (_, value) = secret.split_once('=').unwrap();
        assert!(error.starts_with("status 500: ") && !error.contains(value), "{error}");
    }
}

#[test]
fn a_user_without_a_password_is_a_token() {
    let server = TestServer::script([ScriptedResponse::text(401, "token-of-the-robot is unknown")]);
    for account in ["token-of-the-robot", "token-of-the-robot:x-oauth-basic"] {
        let url = server.url("/data").replace("http://", &format!("http://{account}@"));
        let error = fetch(&Dataset::from_url(url)).unwrap_err().to_string();
        assert!(error.contains("[redacted] is unknown"), "{error}");
    }
}

#[test]
fn no_error_shows_the_signature_of_where_a_redirect_led() {
    let storage =
        TestServer::script([ScriptedResponse::text(403, "wrong: /data?Policy=signed-by-the-server-42")]);
    let server = TestServer::script([ScriptedResponse::text(302, "")
        .header("location", &storage.url("/data?Policy=signed-by-the-server-42"))]);
    let error = at(&server, "/data").unwrap_err().to_string();
    assert!(error.contains("wrong") && !error.contains("signed-by"), "{error}");
}
