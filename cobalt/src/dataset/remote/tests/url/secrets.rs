//! What no error shows.

use super::*;

#[test]
fn no_error_shows_a_secret() {
    let answers = [
        Answer::error(401, KEY),
        Answer::text(500, format!("for {KEY}, password-of-anna and signed-0123456789")),
        Answer::text(200, format!("Hello {KEY} password-of-anna signed-0123456789")),
        Answer::text(200, format!("<html><title>{KEY} password-of-anna signed-0123456789</title>")),
        Answer::text(302, "").header("location", "http://127.0.0.1:1/x?sig=signed-0123456789"),
        Answer::text(302, "").header("location", "ftp://user:password-of-anna@x.test/signed-0123456789"),
        Answer::text(200, ROWS).cut_after(3),
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
    let server = TestServer::script([Answer::error(401, "wrong key")]);
    let error = fetch(&Dataset::from_url(server.url("/x.csv")).bearer_env("KEY")).unwrap_err().to_string();
    assert_eq!(error, "status 401: wrong key; what KEY holds may not read this: check it, and its rights");
    let url = server.url("/x.csv").replace("http://", "http://anna:pass@");
    let error = fetch(&Dataset::from_url(url)).unwrap_err().to_string();
    assert_eq!(error, "status 401: wrong key; check the user and the password of the address");
}

#[test]
fn nothing_is_sent_without_what_is_to_be_sent() {
    let server = TestServer::script([Answer::text(200, ROWS)]);
    let fails = |remote: RemoteDataset<Url>| fetch_without_folder(&remote);
    let url = || Dataset::from_url(server.url("/x.jsonl"));
    let missing = "the header `authorization` is in OTHER_KEY, which is not set: set it";
    assert_eq!(fails(url().bearer_env("OTHER_KEY")), missing);
    assert!(fails(url().header("x y", "1")).starts_with("`x y` cannot be the name of a header"));
    let value = fails(url().header("x-key", "hidden\n1"));
    assert!(
        value.starts_with("the value of the header `x-key` holds a character that no header can"),
        "{value}"
    );
    let both = server.url("/x").replace("http://", "http://user:password@");
    assert!(fails(Dataset::from_url(both).bearer_env("KEY")).contains("leave out one of them"));
    assert!(fails(Dataset::from_url("data/x.csv")).contains("`data/x.csv` is no URL"));
    assert_eq!(server.asked().len(), 0);
}

/// The error where there is nothing to be downloaded.
fn fetch_without_folder(remote: &RemoteDataset<Url>) -> String {
    Surroundings::with(&[("KEY", KEY)]).fetch(remote).unwrap_err().to_string()
}

/// The error of a server that says what was asked of it.
fn echoed(query: &str, user: &str) -> String {
    let server = TestServer::start(|asked| Answer::text(500, format!("no GET {} for {asked:?}", asked.path)));
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
    let server = TestServer::script([Answer::text(401, "token-of-the-robot is unknown")]);
    for account in ["token-of-the-robot", "token-of-the-robot:x-oauth-basic"] {
        let url = server.url("/data").replace("http://", &format!("http://{account}@"));
        let error = fetch(&Dataset::from_url(url)).unwrap_err().to_string();
        assert!(error.contains("[redacted] is unknown"), "{error}");
    }
}

#[test]
fn no_error_shows_the_signature_of_where_a_redirect_led() {
    let storage = TestServer::script([Answer::text(403, "wrong: /data?Policy=signed-by-the-server-42")]);
    let server = TestServer::script([
        Answer::text(302, "").header("location", &storage.url("/data?Policy=signed-by-the-server-42"))
    ]);
    let error = at(&server, "/data").unwrap_err().to_string();
    assert!(error.contains("wrong") && !error.contains("signed-by"), "{error}");
}
