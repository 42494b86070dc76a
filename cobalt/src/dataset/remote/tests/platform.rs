//! Common to all platforms: invalid URLs, keys and names are reported before any request.

use serde_json::{Value, json};

use super::server::{FetchEnvironment, ReceivedRequest, ScriptedResponse, TestServer, path};
use crate::dataset::remote::fetch_options::FetchedData;
use crate::dataset::remote::load::Source;
use crate::dataset::remote::{Basalt, RemoteDataset};
use crate::dataset::settings::{Account, Key, Platform};
use crate::{Dataset, item};

const KEYS: [(&str, &str); 5] = [
    ("LANGFUSE_PUBLIC_KEY", "pk-lf-of-the-test"),
    ("LANGFUSE_SECRET_KEY", "sk-lf-of-the-test"),
    ("LANGSMITH_API_KEY", "lsv2_of-the-test"),
    ("BRAINTRUST_API_KEY", "sk-of-the-test"),
    ("BASALT_API_KEY", "bs-of-the-test"),
];

fn refusal<S: Source>(surroundings: &FetchEnvironment, remote: &RemoteDataset<S>) -> String {
    surroundings.fetch(remote).unwrap_err().to_string()
}

/// The error of each platform for a dataset with this name, at this URL.
fn refusals(surroundings: &FetchEnvironment, name: &str, url: &str) -> [String; 4] {
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
        ("https://anna:hidden@host.test", "contains a user or a password"),
        ("https://hidden@host.test/api", "contains a user or a password"),
        ("https://host.test/api?token=hidden", "contains a query or a fragment"),
        ("https://host.test/#hidden", "contains a query or a fragment"),
        ("anna:hidden@host.test", "does not start with `https://` and a host"),
        ("https://hidden host", "does not start with `https://` and a host"),
        ("file:///hidden", "does not start with `https://` and a host"),
        ("", "does not start with `https://` and a host"),
    ] {
        for error in refusals(&FetchEnvironment::with(&KEYS), "support", address) {
            assert!(error.contains(&format!("from `.base_url(…)` {problem}")), "{error}");
            assert!(error.contains("; use one such as https://") && !error.contains("hidden"), "{error}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_used_is_told_with_who_gives_it() {
    let given = FetchEnvironment::with(&[KEYS[4], ("BASALT_PUBLIC_API_URL", "getbasalt.ai")]);
    let error = refusal(&given, &Dataset::from_basalt("support"));
    assert!(error.contains("the URL of Basalt from BASALT_PUBLIC_API_URL does not"), "{error}");
    let account = Account { base_url: Some("https://a:b@c.test".to_owned()), ..Account::default() };
    let error = refusal(&given.account(Platform::Basalt, account), &Dataset::from_basalt("support"));
    assert!(error.contains("the URL of Basalt from `platforms.basalt.base-url` contains"), "{error}");
}

#[test]
fn an_address_may_have_a_path_and_a_slash_at_its_end() {
    let server = TestServer::script([ScriptedResponse::text(404, "nothing here")]);
    for end in ["/behind/proxy", "/behind/proxy/"] {
        refusals(&FetchEnvironment::with(&KEYS), "support", &server.url(end));
    }
    let asked = server.requests();
    assert!(asked.iter().all(|asked| path(asked).starts_with("/behind/proxy/")), "{asked:?}");
    for expected in ["/api/public/dataset-items", "/api/v1/datasets", "/v1/dataset", "/datasets/support"]
        .map(|end| format!("/behind/proxy{end}"))
    {
        assert!(asked.iter().filter(|asked| path(asked) == expected).count() >= 2, "{expected}");
    }
}

#[test]
fn what_is_to_be_changed_is_what_gives_the_address() {
    let server = TestServer::script([ScriptedResponse::text(401, "who?")]);
    let url = server.url("");
    let by_variable = FetchEnvironment::with(&[KEYS[4], ("BASALT_PUBLIC_API_URL", &url)]);
    let error = refusal(&by_variable, &Dataset::from_basalt("support"));
    assert!(error.contains("set BASALT_PUBLIC_API_URL to the URL of the key's region or server"), "{error}");
    let account = Account { base_url: Some(url.clone()), ..Account::default() };
    let configured = by_variable.account(Platform::Basalt, account);
    let error = refusal(&configured, &Dataset::from_basalt("support"));
    assert!(
        error.contains("set `platforms.basalt.base-url` to the URL of the key's region or server"),
        "{error}"
    );
    let error = refusal(&configured, &Dataset::from_basalt("support").base_url(&url));
    assert!(error.contains("set `.base_url(…)` to the URL of the key's region or server"), "{error}");
}

#[test]
fn a_name_that_would_ask_for_something_else_is_refused() {
    let server = TestServer::script([ScriptedResponse::text(500, "asked")]);
    for name in ["", " ", ".."] {
        for error in refusals(&FetchEnvironment::with(&KEYS), name, &server.url("")) {
            assert!(
                error.contains("name of the dataset is empty")
                    || error.contains("is not a valid dataset name"),
                "{error}"
            );
        }
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_missing_key_names_its_variable_and_its_setting() {
    let [langfuse, langsmith, braintrust, basalt] =
        refusals(&FetchEnvironment::default(), "support", "https://host.test");
    let expected = |variable: &str, setting: &str| {
        format!(
            "no key: set {variable}, or name another variable with `platforms.{setting}-env` in cobalt.toml"
        )
    };
    assert_eq!(langfuse, expected("LANGFUSE_PUBLIC_KEY", "langfuse.public-key"));
    assert_eq!(langsmith, expected("LANGSMITH_API_KEY", "langsmith.api-key"));
    assert_eq!(braintrust, expected("BRAINTRUST_API_KEY", "braintrust.api-key"));
    assert_eq!(basalt, expected("BASALT_API_KEY", "basalt.api-key"));

    let account = Account { key: Some(Key::Variable("TEAM_KEY".to_owned())), ..Account::default() };
    let configured = FetchEnvironment::with(&KEYS).account(Platform::Basalt, account);
    let error = refusal(&configured, &Dataset::from_basalt("support"));
    assert_eq!(
        error,
        "no key: set TEAM_KEY, the variable named by `platforms.basalt.api-key-env` in cobalt.toml"
    );
}

const KEY: &str = "bs-of-the-test";

/// A server that responds as in Basalt's documentation, with these rows in the dataset `support`.
fn serve(rows: Vec<Value>) -> TestServer {
    TestServer::start(move |asked: &ReceivedRequest| {
        if asked.headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
            return ScriptedResponse::json(401, &json!({"error": "Unauthorized"}));
        }
        match path(asked) {
            "/datasets/support" => ScriptedResponse::json(
                200,
                &json!({
                    "warning": "Some rows contained columns that do not exist in the dataset and were omitted.",
                    "dataset": {"slug": "support", "name": "Support", "columns": ["question"], "rows": rows},
                }),
            ),
            "/datasets" => {
                let sets =
                    ["support", "billing"].map(|slug| json!({"slug": slug, "name": slug, "columns": []}));
                ScriptedResponse::json(200, &json!({"datasets": sets, "total": 2}))
            }
            _ => ScriptedResponse::json(404, &json!({"error": "Dataset not found"})),
        }
    })
}

fn support(server: &TestServer) -> RemoteDataset<Basalt> {
    Dataset::from_basalt("support").base_url(server.url("")).retries(1)
}

fn fetch(remote: &RemoteDataset<Basalt>) -> Result<FetchedData, String> {
    let with_key = FetchEnvironment::with(&[("BASALT_API_KEY", KEY)]);
    with_key.fetch(remote).map_err(|error| error.to_string())
}

fn row() -> Value {
    json!({"values": {"question": "May I?"}, "idealOutput": "Yes"})
}

#[test]
fn rows_become_items() {
    let row = json!({
        "name": "refund", "values": {"question": "May I?", "context": "30 days"}, "idealOutput": "Yes",
        "metadata": {"level": 2},
    });
    let server = serve(vec![row]);
    let fetched = fetch(&support(&server)).unwrap();
    let expected = item! {
        "id": "refund",
        "input": {"question": "May I?", "context": "30 days"},
        "expectedOutput": "Yes",
        "metadata": {"level": 2},
    };
    assert_eq!((fetched.items, fetched.version), (vec![expected], None));
}

#[test]
fn a_row_without_the_usual_fields_is_an_item_too() {
    let null = json!({"name": null, "values": {"question": "b"}, "idealOutput": null, "metadata": null});
    let server = serve(vec![json!({"values": {"question": "a"}}), null, json!({})]);
    let expected =
        [item! { "input": {"question": "a"} }, item! { "input": {"question": "b"} }, item! { "input": null }];
    assert_eq!(fetch(&support(&server)).unwrap().items, expected);
}

#[test]
fn fifty_thousand_rows_come_in_one_answer() {
    let rows = (0..50_000).map(|n| json!({"name": format!("row-{n}"), "values": {"n": n.to_string()}}));
    let server = serve(rows.collect());
    let items = fetch(&support(&server)).unwrap().items;
    assert_eq!((items.len(), &items[49_999]["id"]), (50_000, &json!("row-49999")));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_slug_that_is_not_there_is_answered_by_those_that_are() {
    let server = serve(vec![row()]);
    let wrong = |slug: &str| fetch(&Dataset::from_basalt(slug).base_url(server.url(""))).unwrap_err();
    assert_eq!(wrong("suport"), "no such dataset; did you mean `support`? available: `support`, `billing`");
    assert!(wrong("../prompts?x=1").starts_with("no such dataset"));
    assert_eq!(path(&server.requests()[2]), "/datasets/..%2Fprompts%3Fx=1");
}

#[test]
fn a_key_that_is_missing_or_refused_is_said_to_be_which() {
    let server = serve(vec![row()]);
    let fetch =
        |variables: &[(&str, &str)]| FetchEnvironment::with(variables).fetch(&support(&server)).unwrap_err();
    assert!(fetch(&[]).to_string().starts_with("no key: set BASALT_API_KEY"));
    let error = fetch(&[("BASALT_API_KEY", "bs-wrong")]).to_string();
    assert!(error.contains("401") && error.contains("BASALT_API_KEY"), "{error}");
    assert!(!error.contains("bs-wrong"), "{error}");
    let variables = [("BASALT_API_KEY", KEY), ("BASALT_PUBLIC_API_URL", &server.url(""))];
    assert!(FetchEnvironment::with(&variables).fetch(&Dataset::from_basalt("support")).is_ok());
}

#[test]
fn what_may_pass_is_asked_again() {
    let whole = json!({"dataset": {"rows": [row()]}});
    for trouble in [
        ScriptedResponse::text(429, "slow down").header("retry-after", "0"),
        ScriptedResponse::text(502, "bad gateway"),
        ScriptedResponse::json(200, &whole).cut_after(20),
    ] {
        let server = TestServer::script([trouble.clone(), ScriptedResponse::json(200, &whole)]);
        assert_eq!(fetch(&support(&server)).unwrap().items.len(), 1, "{trouble:?}");
        let server = TestServer::script([trouble.clone()]);
        assert!(fetch(&support(&server)).is_err(), "{trouble:?}");
        assert_eq!(server.requests().len(), 2, "{trouble:?}");
    }
}

#[test]
fn an_answer_without_rows_says_what_is_wrong() {
    let said =
        |body: Value| fetch(&support(&TestServer::script([ScriptedResponse::json(200, &body)]))).unwrap_err();
    assert_eq!(said(json!({"error": "the workspace is archived"})), "Basalt says: the workspace is archived");
    let error = said(json!({"error": format!("the key {KEY} is of no use here")}));
    assert!(error.contains("is of no use here") && !error.contains(KEY), "{error}");
    assert!(said(json!({})).starts_with("the response has no `dataset`"));
    let error = said(json!({"dataset": {"rows": [{"name": 7}]}}));
    assert!(error.contains("dataset.rows[0].name"), "{error}");
}
