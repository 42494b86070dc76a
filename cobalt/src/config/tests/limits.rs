//! The tables `[[limits]]`.

use serde_json::json;

use super::Project;
use super::errors::refused;

const FILE: &str = "\
[[limits]]
provider = \"openai\"
model = \"gpt-4o*\"
requests-per-minute = 500
tokens-per-minute = 30_000
concurrent-requests = 8
retries = 6

[[limits]]
concurrent-requests = 20
";

#[test]
fn limits_are_listed_as_written() {
    let config = Project::with(FILE).load();
    let limits = config.settings().iter().find(|setting| setting.key == "limits").unwrap();
    let first = json!({
        "provider": "openai",
        "model": "gpt-4o*",
        "requests-per-minute": 500,
        "tokens-per-minute": 30_000,
        "concurrent-requests": 8,
        "retries": 6,
    });
    assert_eq!(limits.value, json!([first, { "concurrent-requests": 20 }]));
    assert_eq!(limits.origin.to_string(), "cobalt.toml:1");
}

#[cfg(feature = "record")]
#[test]
fn a_table_is_a_rule_for_the_requests_that_it_matches() {
    use crate::limits::LimitRule;

    let config = Project::with(FILE).load();
    let [first, second] = config.limits() else { panic!("{:?}", config.limits()) };
    assert!(first.matches("openai", Some("gpt-4o-mini")) && !first.matches("openai", Some("o3")));
    let numbers = LimitRule {
        requests_per_minute: Some(500),
        tokens_per_minute: Some(30_000),
        concurrent_requests: Some(8),
        retries: Some(6),
        ..first.clone()
    };
    assert_eq!(*first, numbers);
    assert_eq!(*second, LimitRule { concurrent_requests: Some(20), ..LimitRule::default() });
    assert!(Project::new().load().limits().is_empty());
}

#[test]
fn a_table_that_limits_nothing_or_is_misspelt_is_refused() {
    let refused = |keys: &str| refused(&format!("[[limits]]\n{keys}\n"));
    let at_least_one = "the table limits nothing: set `requests-per-minute`, `tokens-per-minute`, `concurrent-requests` or `retries`";
    assert_eq!(refused("provider = \"openai\""), format!("1:1: {at_least_one}"));
    for (keys, expected) in [
        ("request-per-minute = 5", "unknown key `request-per-minute`; did you mean `requests-per-minute`?"),
        ("requests-per-minute = 0", "expected a whole number of at least 1"),
        ("retries = 21", "expected a whole number from 0 to 20"),
        ("model = \"gpt-[4\"\nretries = 1", "invalid pattern `gpt-[4`: "),
        ("provider = \"\"\nretries = 1", "the name is empty; remove the key to match all"),
        ("model = 4\nretries = 1", "expected a name in quotes, or a pattern such as \"gpt-4o*\""),
    ] {
        let error = refused(keys);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_single_table_is_refused_with_the_syntax_of_the_list() {
    let error = refused("concurrency = 5\n[limits]\nrequests-per-minute = 5\n");
    assert_eq!(error, "2:1: invalid type: map, expected a list of tables, each beginning with `[[limits]]`");
    assert!(
        refused("limits = [5]").ends_with("expected a table with a limit, such as `requests-per-minute`")
    );
}
