//! Where the key goes, and where it does not.

use super::*;
use crate::llm::test_server::Answer;

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = TestServer::script([Answer::chat("{}")]);
    for status in [301, 302, 303, 307, 308] {
        let to = other.url("/v1/chat/completions?key=1");
        let server = TestServer::script([Answer::text(status, "").header("location", &to)]);
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Azure] {
            let error = ask(&client(), &target(&server, provider, "m")).await.unwrap_err().to_string();
            let place = other.url("/v1/chat/completions").replace("http://", "");
            let end = format!("the server redirects to {place}; set that as the base URL");
            assert!(error.ends_with(&end), "{error}");
        }
    }
    assert_eq!(other.asked().len(), 0);
}

#[tokio::test]
async fn a_redirect_within_the_host_keeps_the_request() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/v1/chat/completions" => Answer::text(308, "").header("location", "/v2/chat/completions"),
        _ => Answer::chat("{}"),
    });
    ask(&client(), &openai(&server)).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[1].path, "/v2/chat/completions");
    assert_eq!(
        (&asked[1].body, asked[1].headers.get("authorization")),
        (&asked[0].body, asked[0].headers.get("authorization"))
    );
}

#[tokio::test]
async fn a_refused_key_is_told_without_the_key() {
    let echo = format!("Incorrect API key provided: {KEY}. (key-****test, {}...)", &KEY[..12]);
    let server = TestServer::script([Answer::error(401, &echo)]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    let end = "status 401: Incorrect API key provided: [redacted]. ([redacted], [redacted]...); the key is refused: \
               check the variable or the setting that holds it";
    assert!(error.ends_with(end), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn the_key_is_in_no_error_of_any_kind() {
    let answers = [
        Answer::error(500, KEY),
        Answer::text(400, format!("<html>{KEY}</html>")),
        Answer::json(422, &serde_json::json!([{"detail": KEY}])),
        Answer::text(200, KEY),
        Answer::error(200, KEY),
        Answer::error(429, KEY).header("retry-after", "3600"),
        Answer::error(400, &format!("{}{KEY}", "x".repeat(290))),
    ];
    for answer in answers {
        let server = TestServer::script([answer]);
        let error = ask(&client(), &openai(&server)).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&KEY[..8]), "{error:?}");
    }
}

#[tokio::test]
async fn a_key_that_no_header_can_hold_is_told_without_the_key() {
    let server = TestServer::script([Answer::chat("{}")]);
    let target = Target { api_key: Some(Secret(format!("{KEY}\n"))), ..openai(&server) };
    let error = ask(&client(), &target).await.unwrap_err().to_string();
    assert!(error.contains("the key holds a character that no header can"), "{error}");
    assert!(!error.contains(KEY), "{error}");
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_password_in_the_base_url_is_in_no_error() {
    let server = TestServer::script([Answer::error(403, "no")]);
    let base_url = server.url("/v1").replace("http://", "http://user:hidden@");
    let error = ask(&client(), &Target { base_url, ..openai(&server) }).await.unwrap_err().to_string();
    assert!(error.contains("status 403") && !error.contains("hidden"), "{error}");
}

#[test]
fn a_target_is_shown_without_its_key() {
    let shown = format!("{:?}", openai(&TestServer::script([Answer::never()])));
    assert!(shown.contains("gpt-4o-mini") && !shown.contains(KEY), "{shown}");
}
