//! Named datasets: the keys of their tables, and loading.

use std::ffi::OsString;

use cobalt_core::redact::{Secret, redacted};
use serde_json::json;

use super::Project;
use super::errors::refused;
use crate::dataset::Dataset;
use crate::dataset::settings::{Account, Key, Platform};
use crate::error::Error;
#[cfg(feature = "remote")]
use crate::http::test_server::{ScriptedResponse, TestServer};

/// Loads a named dataset in a project without variables.
fn load(project: &Project, name: &str) -> Result<Dataset, Error> {
    project.load().load_dataset(name, |_| None::<OsString>)
}

/// The error of loading a dataset, without the directory in its paths.
fn error(project: &Project, name: &str) -> String {
    let message = load(project, name).expect_err("expected an error").to_string();
    let root = project.folder.path().display().to_string();
    message.replace(&format!("{root}/"), "").replace(&root, "ROOT")
}

/// The error of a table, without its path.
#[track_caller]
fn refused_table(text: &str) -> String {
    refused(&format!("[datasets.support]\n{text}\n"))
}

const FILE: &str = "[datasets.support]\ntype = \"file\"\npath = \"data/support.jsonl\"\n";

#[test]
fn a_file_is_found_from_the_root_of_the_workspace_and_shown_as_it_is_written() {
    let project = Project::with(FILE);
    project.file("data/support.jsonl", "{\"input\": 1}\n{\"input\": 2}\n");
    let dataset = load(&project, "support").unwrap();
    assert_eq!((dataset.len(), dataset.source()), (2, "data/support.jsonl"));
    assert!(dataset.fetch().is_none());
}

#[test]
fn a_file_that_is_missing_is_told_where_it_is_looked_for() {
    let project = Project::with(FILE);
    project.file("data/supprt.jsonl", "{}");
    let error = error(&project, "support");
    assert!(error.starts_with("failed to read data/support.jsonl: "), "{error}");
    assert!(
        error.ends_with("did you mean `supprt.jsonl`? (relative paths start at the workspace root, ROOT)"),
        "{error}"
    );
}

#[test]
fn the_names_are_listed_in_order() {
    let url = "type = \"url\"\nurl = \"https://example.com/a.csv\"\n";
    let config = Project::with(&format!("[datasets.zoo]\n{url}{FILE}")).load();
    assert!(config.datasets().eq(["support", "zoo"]));
    assert_eq!(Project::new().load().datasets().count(), 0);
}

#[test]
fn a_name_that_is_not_there_is_told_which_are() {
    let project = Project::with(FILE);
    assert_eq!(
        error(&project, "suport"),
        "no dataset `suport` in `cobalt.toml`; did you mean `support`? available: `support`"
    );
    assert_eq!(error(&project, "questions"), "no dataset `questions` in `cobalt.toml`; available: `support`");
    assert_eq!(
        error(&Project::with("concurrency = 2"), "support"),
        "no dataset `support` in `cobalt.toml`; add a table [datasets.support]"
    );
    assert_eq!(
        error(&Project::new(), "my set"),
        "no dataset `my set`, because there is no `cobalt.toml`; create one in `ROOT` with a table [datasets.\"my set\"]"
    );
}

#[test]
fn a_type_is_needed_and_a_strange_one_is_told_which_there_are() {
    let all = "`file`, `url`, `langfuse`, `langsmith`, `braintrust`, `basalt`";
    assert_eq!(
        refused_table("path = \"a.json\""),
        format!("1:1: the key `type` is missing; valid dataset types: {all}")
    );
    assert_eq!(refused_table("type = \"s3\""), format!("2:8: unknown dataset type `s3`; valid types: {all}"));
    assert_eq!(
        refused_table("type = \"lang-fuse\""),
        "2:8: unknown dataset type `lang-fuse`; did you mean `langfuse`?"
    );
    assert_eq!(
        refused_table("type = 3"),
        "2:8: invalid type: integer `3`, expected the name of a type in quotes"
    );
    assert_eq!(refused("datasets = 3"), "1:12: expected a table of datasets, as in [datasets.support]");
    assert_eq!(refused("[datasets]\nsupport = \"a.json\""), "2:11: expected a table with a `type`");
}

#[test]
fn each_type_has_keys_of_its_own() {
    for (text, key) in [
        ("type = \"file\"", "path"),
        ("type = \"url\"", "url"),
        ("type = \"langfuse\"", "name"),
        ("type = \"langsmith\"", "name"),
        ("type = \"braintrust\"\nname = \"n\"", "project"),
        ("type = \"basalt\"", "slug"),
    ] {
        assert_eq!(refused_table(text), format!("1:1: the key `{key}` is missing"));
    }
    assert_eq!(
        refused_table("type = \"file\"\npath = \"a\"\nmax-age = \"1h\""),
        "4:1: unknown key `max-age`; valid keys: `path`"
    );
    assert_eq!(
        refused_table("type = \"url\"\nurl = \"https://a.example\"\ntimout = \"5s\""),
        "4:1: unknown key `timout`; did you mean `timeout`?"
    );
    assert_eq!(
        refused_table(
            "type = \"braintrust\"\nproject = \"p\"\nname = \"n\"\nversion = \"1\"\nsnapshot = \"s\"",
        ),
        "1:1: `version`, `snapshot` and `environment` each select a version of the dataset; keep one of them"
    );
    let error = refused_table("type = \"langfuse\"\nname = \"n\"\npage-size = 101");
    assert!(error.ends_with("expected a whole number from 1 to 100"), "{error}");
    let error = refused_table("type = \"langsmith\"\nname = \"n\"\nsplits = []");
    assert!(error.starts_with("4:10: the list is empty"), "{error}");
    let error = refused_table("type = \"langfuse\"\nname = \"n\"\nproject = \"p\"");
    assert!(error.starts_with("4:1: unknown key `project`; valid keys: `name`, "), "{error}");
}

#[test]
fn what_is_said_of_fetching_is_checked() {
    let table = |line: &str| refused_table(&format!("type = \"basalt\"\nslug = \"s\"\n{line}"));
    assert_eq!(
        table("max-bytes = -1"),
        "4:13: invalid value: integer `-1`, expected a positive number of bytes, or a size in quotes, such as \"200 MB\""
    );
    assert!(table("max-bytes = 0").starts_with("4:13: invalid value: integer `0`, expected"));
    assert_eq!(
        table("max-bytes = \"-5 MB\""),
        "4:13: expected a size such as \"200 MB\" or \"1.5 GiB\", not `-5 MB`"
    );
    assert_eq!(table("max-bytes = \"200\""), "4:13: a size needs a unit; write `200 MB` or `200 kB`");
    assert_eq!(
        table("max-bytes = \"2 megs\""),
        "4:13: unknown size unit `megs`; units: `B`, `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`, `TiB`"
    );
    assert!(table("max-bytes = \"0 MB\"").starts_with("4:13: a size must be at least one byte"));
    assert_eq!(table("max-age = \"soon\""), "4:11: expected a duration such as `30s` or `500ms`, not `soon`");
    assert_eq!(table("timeout = \"5\""), "4:11: a duration needs a unit: write `5s` or `5ms`");
    assert!(table("timeout = \"-5s\"").starts_with("4:11: "));
    assert!(table("retries = -1").ends_with("expected a whole number from 0 to 20"));
    assert!(table("items = 0").ends_with("expected a whole number of at least 1"));
    assert_eq!(
        table("hash = \"abc\""),
        "4:8: `abc` is not a dataset hash or hash prefix; expected 8 to 64 hexadecimal digits"
    );
}

#[test]
fn what_is_said_of_an_address_is_checked() {
    let table = |line: &str| refused_table(&format!("type = \"url\"\n{line}"));
    let url = "url = \"https://a.example\"\n";
    let error = table("url = \"example.com/s3cret\"");
    assert_eq!(error, "3:7: not a URL; write it like \"https://example.com/support.jsonl\"");
    let error = table(&format!("{url}headers = {{ \"A B\" = \"c\" }}"));
    assert_eq!(error, "4:13: `A B` is not a valid header name");
    let error = table(&format!("{url}headers = {{ A = \"s3cret\\n\" }}"));
    assert_eq!(error, "4:17: a header value cannot contain line breaks or non-ASCII characters");
    let error = table(&format!("{url}bearer-env = \"Bearer s3cret\""));
    assert!(error.starts_with("4:14: expected the name of the variable"), "{error}");
    let error = table(&format!("{url}headers-env = {{ X-Key = \"sk-proj-abc\" }}"));
    assert!(error.starts_with("4:25: expected the name of the variable"), "{error}");
    let error = table(&format!("{url}format = \"xlsx\""));
    assert!(error.starts_with("4:10: unknown format `xlsx`; available: `json`"), "{error}");
    for twice in [
        "headers = { Authorization = \"a\" }\nbearer-env = \"B\"",
        "headers = { X-Key = \"a\" }\nheaders-env = { x-key = \"B\" }",
    ] {
        let error = table(&format!("{url}{twice}"));
        assert!(
            error.contains("is set more than once in `headers`, `headers-env` or `bearer-env`"),
            "{error}"
        );
    }
}

#[test]
fn neither_the_settings_nor_the_debug_form_shows_what_may_be_secret() {
    let config = Project::with(
        "[datasets.support]\ntype = \"url\"\nurl = \"https://user:hidden@example.com/a.csv?sig=hidden\"\n\
         headers = { Cookie = \"hidden\" }\nheaders-env = { X-Key = \"OUR_KEY\" }\nmax-bytes = \"200 MB\"\n\
         max-age = \"24h\"\n",
    )
    .load();
    let shown = config.settings().iter().find(|setting| setting.key == "datasets.support").unwrap();
    assert_eq!(
        shown.value,
        json!({
            "type": "url",
            "url": "https://[redacted]@example.com/a.csv?[redacted]",
            "headers": { "Cookie": "[redacted]" },
            "headers-env": { "X-Key": "OUR_KEY" },
            "max-bytes": 200_000_000,
            "max-age": "1d",
        })
    );
    assert_eq!(shown.origin.to_string(), "cobalt.toml:1");
    let debug = format!("{config:?}");
    assert!(!debug.contains("hidden"), "{debug}");
}

#[test]
fn what_data_sets_hold_of_secrets_is_known() {
    Project::with(
        "[datasets.support]\ntype = \"url\"\nurl = \"https://desk:s3t-of-the-desk@example.com/a.csv?sig=s1g-of-the-desk\"\n\
         headers-env = { Cookie = \"DESK_COOKIE\" }\nbearer-env = \"DESK_ACCESS\"\n",
    )
    .variable("DESK_COOKIE", "c00kie-of-the-desk")
    .variable("DESK_ACCESS", "4ccess-of-the-desk")
    .load();
    let shown = redacted("s3t-of-the-desk s1g-of-the-desk c00kie-of-the-desk 4ccess-of-the-desk");
    let place = "[redacted:datasets.support]";
    assert_eq!(shown, format!("{place} {place} [redacted:DESK_COOKIE] [redacted:DESK_ACCESS]"));
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_data_set_that_is_fetched_names_the_feature_that_it_takes() {
    let project = Project::with("[datasets.support]\ntype = \"langfuse\"\nname = \"desk\"\n");
    let error = error(&project, "support");
    assert!(error.starts_with("cobalt.toml:1:11: [datasets.support] is fetched"), "{error}");
    assert!(error.contains("the feature `remote` of the package `cobalt-evals`"), "{error}");
}

#[cfg(feature = "remote")]
#[test]
fn what_a_table_says_of_a_platforms_data_set_is_asked_for() {
    let server = TestServer::start(|asked| match asked.path.starts_with("/api/v1/examples") {
        true if asked.path.contains("offset=0") => {
            ScriptedResponse::json(200, &json!([{"id": "a", "inputs": {"question": 1}}]))
        }
        true => ScriptedResponse::json(200, &json!([])),
        false => ScriptedResponse::json(200, &json!([{"id": "d", "name": "desk"}])),
    });
    let project = Project::with(&format!(
        "[datasets.support]\ntype = \"langsmith\"\nname = \"desk\"\nversion = \"2026-01-21T14:35:42Z\"\n\
         splits = [\"test\", \"dev\"]\nfilter = \"f\"\n\n\
         [platforms.langsmith]\nbase-url = \"{}\"\napi-key = \"k\"\n",
        server.url("")
    ));
    let dataset = load(&project, "support").unwrap();
    assert_eq!(dataset.fetch().unwrap().version.as_deref(), Some("2026-01-21T14:35:42Z"));
    let asked = &server.requests()[1].path;
    for part in ["as_of=2026-01-21T14%3A35%3A42Z&", "splits=test&splits=dev&", "filter=f&"] {
        assert!(asked.contains(part), "{asked}");
    }
}

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
        "2:1: `api-key` and `api-key-env` are mutually exclusive; remove one"
    );
    assert_eq!(
        refused("platforms.langfuse = { public-key = \"a\", public-key-env = \"B\" }"),
        "1:42: `public-key` and `public-key-env` are mutually exclusive; remove one"
    );
}

#[test]
fn a_key_in_place_of_a_variable_is_refused_and_not_repeated() {
    for key in ["sk-lf-0123-4567", "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789", "not a name"] {
        let error = refused(&format!("[platforms.langsmith]\napi-key-env = \"{key}\""));
        assert_eq!(
            error,
            "2:15: expected the name of the variable that holds the key, such as \"GATEWAY_API_KEY\", not the key itself"
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
        "2:1: unknown key `api-key`; valid keys: `base-url`, `public-key`, `public-key-env`, `secret-key`, \
         `secret-key-env`"
    );
    assert_eq!(
        refused("[platforms.braintrust]\nbase-url = \"api.example\""),
        "2:12: `api.example` is not a URL; write it like \"https://gateway.example/v1\""
    );
    assert_eq!(refused("platforms = 3"), "1:13: invalid type: integer `3`, expected a table of platforms");
}
