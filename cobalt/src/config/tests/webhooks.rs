//! Webhooks: what their tables may hold, and what is shown of them.

use std::time::Duration;

use serde_json::json;

use super::Project;
use super::mistakes::refused;
use crate::config::{UnsetVariable, WebhookOn};

const SECRET: &str = "s3cret-of-the-test";

fn with_both() -> Project {
    Project::with(
        "\n[[webhooks]]\nurl = \"https://user:hidden@hooks.example:8443/services/T0/s3cret-of-the-test?a=b\"\n\n\
         [[webhooks]]\nurl-env = \"CHAT_URL\"\nsecret-env = \"CHAT_SECRET\"\non = \"regressed\"\ntimeout = \"500ms\"\n\
         retries = 0\n",
    )
}

#[test]
fn addresses_and_keys_come_from_the_file_and_from_variables() {
    let project = with_both().variable("CHAT_URL", "http://127.0.0.1:9").variable("CHAT_SECRET", SECRET);
    let config = project.load();
    let [written, named] = config.webhooks() else { panic!("{:?}", config.webhooks()) };
    assert!(written.url().unwrap().ends_with("/s3cret-of-the-test?a=b"));
    assert_eq!((written.secret(), written.on()), (Ok(None), WebhookOn::Always));
    assert_eq!((written.timeout(), written.retries()), (Duration::from_secs(10), 3));
    assert_eq!((named.url(), named.secret()), (Ok("http://127.0.0.1:9"), Ok(Some(SECRET))));
    assert_eq!(
        (named.on(), named.timeout(), named.retries()),
        (WebhookOn::Regressed, Duration::from_millis(500), 0)
    );
}

#[test]
fn a_variable_that_is_not_set_is_no_mistake_of_the_file_and_is_named() {
    let config = with_both().variable("CHAT_SECRET", "").load();
    let unset = |name: &str| UnsetVariable(name.to_owned());
    assert_eq!(config.webhooks()[1].url(), Err(unset("CHAT_URL")));
    assert_eq!(config.webhooks()[1].secret(), Err(unset("CHAT_SECRET")));
    assert_eq!(unset("CHAT_URL").to_string(), "the variable `CHAT_URL` is not set");
}

#[test]
fn neither_the_settings_nor_the_debug_form_shows_an_address_or_a_key() {
    let config =
        with_both().variable("CHAT_URL", format!("http://h/{SECRET}")).variable("CHAT_SECRET", SECRET).load();
    let shown = config.settings().iter().find(|setting| setting.key == "webhooks").unwrap();
    assert_eq!(
        shown.value,
        json!([
            { "url": "https://hooks.example:8443/[redacted]", "on": "always", "timeout": "10s", "retries": 3 },
            { "url-env": "CHAT_URL", "secret-env": "CHAT_SECRET", "on": "regressed", "timeout": "500ms", "retries": 0 },
        ])
    );
    assert_eq!(shown.origin.to_string(), "cobalt.toml:2");
    let debug = format!("{config:?}");
    assert!(!debug.contains(SECRET) && !debug.contains("hidden"), "{debug}");
}

#[test]
fn a_webhook_has_just_one_address() {
    let none = refused("\n\n[[webhooks]]\non = \"failed\"\n");
    assert_eq!(none, "3:1: a webhook needs an address: `url`, or `url-env` with the name of a variable");
    let both = refused("[[webhooks]]\nurl = \"https://a.example\"\nurl-env = \"A\"\n");
    assert_eq!(both, "1:1: `url` and `url-env` both give the address; leave one of them out");
}

#[test]
fn what_is_no_address_is_refused_in_its_place_and_not_repeated() {
    for address in
        ["hooks.example/s3cret", "ftp://a", "https://", "https:///s3cret", "https://u@/a", "http://a/ b"]
    {
        let error = refused(&format!("[[webhooks]]\nurl = {address:?}\n"));
        assert_eq!(error, "2:7: this is no address; write it like \"https://example.com/hook\"", "{address}");
    }
    let error = refused("[[webhooks]]\nurl-env = \"https://hooks.example/s3cret\"\n");
    assert!(
        error.starts_with("2:11: this is the name of the variable") && !error.contains("s3cret"),
        "{error}"
    );
}

#[test]
fn other_values_are_told_what_is_right() {
    let hook = |line: &str| refused(&format!("[[webhooks]]\nurl = \"https://a.example\"\n{line}\n"));
    assert_eq!(
        hook("timeout = \"2m\""),
        "3:11: `2m` is too long: a run waits 1m for its webhooks at the most"
    );
    assert!(hook("timeout = 10").ends_with("expected a duration in quotes, such as \"10s\""));
    assert!(hook("retries = -1").ends_with("expected a whole number from 0 to 20"));
    assert_eq!(
        hook("on = \"failure\""),
        "3:6: unknown variant `failure`, expected one of `always`, `failed`, `regressed`"
    );
    assert_eq!(hook("timout = \"1s\""), "3:1: unknown key `timout`; did you mean `timeout`?");
    assert_eq!(
        refused("[webhooks]\nurl = \"https://a.example\"\n"),
        "1:1: invalid type: map, expected a list"
    );
}
