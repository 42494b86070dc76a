//! Accounts of platforms: what their tables may hold, and what is shown of them.

use serde_json::json;

use super::Project;
use super::mistakes::refused;
use crate::dataset::settings::{Account, Key, Platform};
use crate::redact::Secret;

const ACCOUNTS: &str = "\
[platforms.langfuse]
base-url = \"https://us.cloud.langfuse.com\"
public-key = \"pk-lf-of-the-test\"
secret-key-env = \"OUR_LANGFUSE_KEY\"

[platforms.langsmith]
api-key = \"s3cret-of-the-test\"
workspace = \"w-1\"

[platforms.braintrust]
api-key-env = \"OUR_BRAINTRUST_KEY\"
organization = \"desk\"

[platforms.basalt]
base-url = \"http://127.0.0.1:9\"
";

fn written(key: &str) -> Option<Key> {
    Some(Key::Written(Secret(key.to_owned())))
}

fn variable(name: &str) -> Option<Key> {
    Some(Key::Variable(name.to_owned()))
}

#[test]
fn each_account_is_as_its_table_says() {
    let config = Project::with(ACCOUNTS).load();
    let expected = [
        (
            Platform::Langfuse,
            Account {
                base_url: Some("https://us.cloud.langfuse.com".to_owned()),
                public_key: written("pk-lf-of-the-test"),
                key: variable("OUR_LANGFUSE_KEY"),
                workspace: None,
            },
        ),
        (
            Platform::LangSmith,
            Account {
                key: written("s3cret-of-the-test"),
                workspace: Some("w-1".to_owned()),
                ..Account::default()
            },
        ),
        (
            Platform::Braintrust,
            Account {
                key: variable("OUR_BRAINTRUST_KEY"),
                workspace: Some("desk".to_owned()),
                ..Account::default()
            },
        ),
        (Platform::Basalt, Account { base_url: Some("http://127.0.0.1:9".to_owned()), ..Account::default() }),
    ];
    assert_eq!(config.fetch.accounts, expected.into());
    assert!(Project::new().load().fetch.accounts.is_empty());
}

#[test]
fn keys_are_not_shown_and_the_names_of_variables_are() {
    let config = Project::with(ACCOUNTS).load();
    let shown = config.settings().iter().filter(|setting| setting.key.starts_with("platforms."));
    let shown: Vec<_> =
        shown.map(|setting| (&*setting.key, setting.value.clone(), setting.origin.to_string())).collect();
    let expected = [
        ("platforms.langfuse.base-url", "https://us.cloud.langfuse.com", 2),
        ("platforms.langfuse.public-key", "[redacted]", 3),
        ("platforms.langfuse.secret-key-env", "OUR_LANGFUSE_KEY", 4),
        ("platforms.langsmith.api-key", "[redacted]", 7),
        ("platforms.langsmith.workspace", "w-1", 8),
        ("platforms.braintrust.api-key-env", "OUR_BRAINTRUST_KEY", 11),
        ("platforms.braintrust.organization", "desk", 12),
        ("platforms.basalt.base-url", "http://127.0.0.1:9", 15),
    ];
    let expected = expected.map(|(key, value, line)| (key, json!(value), format!("cobalt.toml:{line}")));
    assert_eq!(shown, expected);
    let debug = format!("{config:?}");
    assert!(!debug.contains("of-the-test"), "{debug}");
}

#[test]
fn a_key_is_said_once() {
    assert_eq!(
        refused("[platforms.basalt]\napi-key-env = \"B\"\napi-key = \"a\""),
        "2:1: `api-key` and `api-key-env` both name the key; leave one of them out"
    );
    assert_eq!(
        refused("platforms.langfuse = { public-key = \"a\", public-key-env = \"B\" }"),
        "1:42: `public-key` and `public-key-env` both name the key; leave one of them out"
    );
}

#[test]
fn a_key_in_place_of_a_variable_is_refused_and_not_repeated() {
    for key in ["sk-lf-0123-4567", "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789", "not a name"] {
        let error = refused(&format!("[platforms.langsmith]\napi-key-env = \"{key}\""));
        assert_eq!(
            error,
            "2:15: this is the name of the variable that holds the key, such as \"GATEWAY_API_KEY\", never the key"
        );
    }
}

#[test]
fn a_strange_platform_or_key_is_told_the_right_one() {
    assert_eq!(
        refused("[platforms.langsmit]\napi-key = \"a\""),
        "1:12: unknown key `langsmit`; did you mean `langsmith`?"
    );
    assert_eq!(
        refused("[platforms.langfuse]\napi-key = \"a\""),
        "2:1: unknown key `api-key`; the keys here are `base-url`, `public-key`, `public-key-env`, `secret-key`, \
         `secret-key-env`"
    );
    assert_eq!(
        refused("[platforms.braintrust]\nbase-url = \"api.example\""),
        "2:12: `api.example` is no address; write it like \"https://gateway.example/v1\""
    );
    assert_eq!(refused("platforms = 3"), "1:13: invalid type: integer `3`, expected a table of platforms");
}
