//! What all platforms have in common: addresses, keys and names that cannot be used are told before anything is asked.

use super::server::{Answer, Surroundings, TestServer, path};
use crate::Dataset;
use crate::dataset::remote::RemoteDataset;
use crate::dataset::remote::source::Source;
use crate::dataset::settings::{Account, Key, Platform};

const KEYS: [(&str, &str); 5] = [
    ("LANGFUSE_PUBLIC_KEY", "pk-lf-of-the-test"),
    ("LANGFUSE_SECRET_KEY", "sk-lf-of-the-test"),
    ("LANGSMITH_API_KEY", "lsv2_of-the-test"),
    ("BRAINTRUST_API_KEY", "sk-of-the-test"),
    ("BASALT_API_KEY", "bs-of-the-test"),
];

fn refusal<S: Source>(surroundings: &Surroundings, remote: &RemoteDataset<S>) -> String {
    surroundings.fetch(remote).unwrap_err().to_string()
}

/// What each platform says of a data set of this name, at this address.
fn refusals(surroundings: &Surroundings, name: &str, url: &str) -> [String; 4] {
    [
        refusal(surroundings, &Dataset::from_langfuse(name).base_url(url)),
        refusal(surroundings, &Dataset::from_langsmith(name).base_url(url)),
        refusal(surroundings, &Dataset::from_braintrust("Support", name).base_url(url)),
        refusal(surroundings, &Dataset::from_basalt(name).base_url(url)),
    ]
}

#[test]
fn an_address_that_cannot_be_used_is_told_without_what_may_be_secret_in_it() {
    for (address, problem) in [
        ("https://anna:hidden@host.test", "has a user or a password"),
        ("https://hidden@host.test/api", "has a user or a password"),
        ("https://host.test/api?token=hidden", "has a query or a fragment"),
        ("https://host.test/#hidden", "has a query or a fragment"),
        ("anna:hidden@host.test", "does not begin with `https://` and a host"),
        ("https://hidden host", "does not begin with `https://` and a host"),
        ("file:///hidden", "does not begin with `https://` and a host"),
        ("", "does not begin with `https://` and a host"),
    ] {
        for error in refusals(&Surroundings::with(&KEYS), "support", address) {
            assert!(error.contains(&format!("that `.base_url(…)` gives {problem}")), "{error}");
            assert!(error.contains(": write one such as https://") && !error.contains("hidden"), "{error}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_used_is_told_with_who_gives_it() {
    let given = Surroundings::with(&[KEYS[4], ("BASALT_PUBLIC_API_URL", "getbasalt.ai")]);
    let error = refusal(&given, &Dataset::from_basalt("support"));
    assert!(error.contains("the address of Basalt that BASALT_PUBLIC_API_URL gives"), "{error}");
    let account = Account { base_url: Some("https://a:b@c.test".to_owned()), ..Account::default() };
    let error = refusal(&given.account(Platform::Basalt, account), &Dataset::from_basalt("support"));
    assert!(error.contains("the address of Basalt that `platforms.basalt.base-url` gives"), "{error}");
}

#[test]
fn an_address_may_have_a_path_and_a_slash_at_its_end() {
    let server = TestServer::script([Answer::text(404, "nothing here")]);
    for end in ["/behind/proxy", "/behind/proxy/"] {
        refusals(&Surroundings::with(&KEYS), "support", &server.url(end));
    }
    let asked = server.asked();
    assert!(asked.iter().all(|asked| path(asked).starts_with("/behind/proxy/")), "{asked:?}");
    for expected in ["/api/public/dataset-items", "/api/v1/datasets", "/v1/dataset", "/datasets/support"]
        .map(|end| format!("/behind/proxy{end}"))
    {
        assert!(asked.iter().filter(|asked| path(asked) == expected).count() >= 2, "{expected}");
    }
}

#[test]
fn what_is_to_be_changed_is_what_gives_the_address() {
    let server = TestServer::script([Answer::text(401, "who?")]);
    let url = server.url("");
    let by_variable = Surroundings::with(&[KEYS[4], ("BASALT_PUBLIC_API_URL", &url)]);
    let error = refusal(&by_variable, &Dataset::from_basalt("support"));
    assert!(error.contains("by BASALT_PUBLIC_API_URL the region"), "{error}");
    let account = Account { base_url: Some(url.clone()), ..Account::default() };
    let configured = by_variable.account(Platform::Basalt, account);
    let error = refusal(&configured, &Dataset::from_basalt("support"));
    assert!(error.contains("by `platforms.basalt.base-url` the region"), "{error}");
    let error = refusal(&configured, &Dataset::from_basalt("support").base_url(&url));
    assert!(error.contains("by `.base_url(…)` the region"), "{error}");
}

#[test]
fn a_name_that_would_ask_for_something_else_is_refused() {
    let server = TestServer::script([Answer::text(500, "asked")]);
    for name in ["", " ", ".."] {
        for error in refusals(&Surroundings::with(&KEYS), name, &server.url("")) {
            assert!(
                error.contains("name of the data set is empty") || error.contains("is no name of a"),
                "{error}"
            );
        }
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_missing_key_names_its_variable_and_its_setting() {
    let [langfuse, langsmith, braintrust, basalt] =
        refusals(&Surroundings::default(), "support", "https://host.test");
    let expected = |variable: &str, setting: &str| {
        format!(
            "no key: set {variable}, or name another variable by `platforms.{setting}-env` of cobalt.toml"
        )
    };
    assert_eq!(langfuse, expected("LANGFUSE_PUBLIC_KEY", "langfuse.public-key"));
    assert_eq!(langsmith, expected("LANGSMITH_API_KEY", "langsmith.api-key"));
    assert_eq!(braintrust, expected("BRAINTRUST_API_KEY", "braintrust.api-key"));
    assert_eq!(basalt, expected("BASALT_API_KEY", "basalt.api-key"));

    let account = Account { key: Some(Key::Variable("TEAM_KEY".to_owned())), ..Account::default() };
    let configured = Surroundings::with(&KEYS).account(Platform::Basalt, account);
    let error = refusal(&configured, &Dataset::from_basalt("support"));
    assert_eq!(error, "no key: set TEAM_KEY, the variable of `platforms.basalt.api-key-env` of cobalt.toml");
}
