//! Datasets in LangSmith, fetched over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cobalt_core::redact::Secret;
use serde_json::{Value, json};

use super::server::{
    FetchEnvironment, ReceivedRequest, ScriptedResponse, TestServer, number, parameter, parameters, path,
};
use crate::Dataset;
use crate::dataset::remote::fetch_options::FetchedData;
use crate::dataset::remote::load::Source;
use crate::dataset::remote::{LangSmith, RemoteDataset};
use crate::dataset::settings::{Account, Key, Platform};

const KEY: &str = "lsv2_of-the-test";
const ID: &str = "b6f30a4c-0000-4000-8000-000000000001";
const LATEST: &str = "2026-11-20T10:00:00.123456+00:00";
const PROD: &str = "2026-10-01T09:00:00.000001+00:00";

/// A workspace that responds like LangSmith.
#[derive(Clone, Default)]
struct Workspace {
    /// The latest first, each with the version that added it as `since`.
    examples: Arc<Mutex<Vec<Value>>>,
}

fn example(n: usize, since: &str) -> Value {
    json!({
        "id": format!("example-{n}"), "dataset_id": ID, "name": format!("#{n} @ support"), "inputs": {"question": n},
        "outputs": {"answer": n}, "metadata": {"dataset_split": ["base"]}, "created_at": since, "modified_at": since,
        "source_run_id": null, "attachment_urls": null, "since": since,
    })
}

impl Workspace {
    fn of(examples: impl IntoIterator<Item = Value>) -> Self {
        Self { examples: Arc::new(Mutex::new(examples.into_iter().collect())) }
    }

    fn of_many(examples: usize) -> Self {
        Self::of((0..examples).map(|n| example(n, PROD)))
    }

    fn add(&self, n: usize, since: &str) {
        self.examples.lock().unwrap().insert(0, example(n, since));
    }

    fn answer(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        if asked.headers.get("x-api-key").map(String::as_str) != Some(KEY) {
            return ScriptedResponse::json(401, &json!({"detail": "Invalid token"}));
        }
        let version = format!("/api/v1/datasets/{ID}/version");
        match path(asked).strip_prefix(&version) {
            Some("") => return Self::version(asked),
            Some("s") => {
                let versions =
                    json!([{"as_of": LATEST, "tags": ["latest"]}, {"as_of": PROD, "tags": ["prod"]}]);
                return ScriptedResponse::json(200, &versions);
            }
            _ => {}
        }
        match path(asked) {
            "/api/v1/datasets" => {
                let all = [json!({"id": "another", "name": "billing"}), json!({"id": ID, "name": "support"})];
                let name = parameter(asked, "name");
                let found = all
                    .into_iter()
                    .filter(|dataset| name.as_ref().is_none_or(|name| dataset["name"] == **name));
                ScriptedResponse::json(200, &found.collect())
            }
            "/api/v1/examples" => self.examples(asked),
            _ => ScriptedResponse::json(404, &json!({"detail": "Not Found"})),
        }
    }

    fn version(asked: &ReceivedRequest) -> ScriptedResponse {
        match parameter(asked, "tag").as_deref() {
            Some("latest") => ScriptedResponse::json(200, &json!({"as_of": LATEST, "tags": ["latest"]})),
            Some("prod") => ScriptedResponse::json(200, &json!({"as_of": PROD, "tags": ["prod"]})),
            _ => ScriptedResponse::json(404, &json!({"detail": "Dataset version not found"})),
        }
    }

    fn examples(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        let (offset, limit) = (number(asked, "offset").unwrap_or(0), number(asked, "limit").unwrap_or(100));
        if limit > 100 || parameter(asked, "dataset").as_deref() != Some(ID) {
            return ScriptedResponse::json(422, &json!({"detail": "no"}));
        }
        let as_of = parameter(asked, "as_of").filter(|version| version != "latest");
        let splits = parameters(asked, "splits");
        let examples = self.examples.lock().unwrap();
        let is_there = |example: &&Value| {
            let in_split = |split: &String| example["metadata"]["dataset_split"][0] == **split;
            as_of.as_deref().is_none_or(|version| example["since"].as_str().unwrap() <= version)
                && (splits.is_empty() || splits.iter().any(in_split))
        };
        let page: Vec<&Value> = examples.iter().filter(is_there).skip(offset).take(limit).collect();
        ScriptedResponse::json(200, &json!(page))
    }

    fn serve(&self) -> TestServer {
        let workspace = self.clone();
        TestServer::start(move |asked| workspace.answer(asked))
    }
}

fn with_key() -> FetchEnvironment {
    FetchEnvironment::with(&[("LANGSMITH_API_KEY", KEY)])
}

fn support(server: &TestServer) -> RemoteDataset<LangSmith> {
    Dataset::from_langsmith("support").base_url(server.url(""))
}

fn fetched(server: &TestServer) -> FetchedData {
    with_key().fetch(&support(server)).unwrap()
}

fn refusal(remote: &RemoteDataset<LangSmith>) -> String {
    with_key().fetch(remote).unwrap_err().to_string()
}

fn ids(fetched: &FetchedData) -> Vec<&str> {
    fetched.items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// The requests for examples.
fn pages(server: &TestServer) -> Vec<ReceivedRequest> {
    server.requests().into_iter().filter(|asked| path(asked).ends_with("/examples")).collect()
}

#[test]
fn all_pages_are_fetched_in_their_order_as_of_the_latest_version() {
    let workspace = Workspace::of_many(250);
    let answering = workspace.clone();
    let server = TestServer::start(move |asked| {
        let answer = answering.answer(asked);
        // Later examples belong to a later version.
        answering.add(9000, "2026-11-22T09:00:00+00:00");
        answer
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), ids(&fetched)[249]), (250, "example-249"));
    assert_eq!(fetched.version.as_deref(), Some(LATEST));
    assert_eq!(
        Value::from(fetched.items[1].clone()),
        json!({
            "id": "example-1", "input": {"question": 1}, "expectedOutput": {"answer": 1},
            "metadata": {"dataset_split": ["base"]},
        })
    );
    let offsets: Vec<_> = pages(&server).iter().map(|asked| number(asked, "offset").unwrap()).collect();
    assert_eq!(offsets, [0, 100, 200, 250]);
}

#[test]
fn a_page_that_is_shorter_than_asked_for_is_not_the_last() {
    let server = TestServer::start(|asked| match path(asked) {
        "/api/v1/examples" => {
            let offset = number(asked, "offset").unwrap();
            ScriptedResponse::json(200, &(offset..(offset + 40).min(110)).map(|n| example(n, PROD)).collect())
        }
        _ => Workspace::default().answer(asked),
    });
    assert_eq!(fetched(&server).items.len(), 110);
}

#[test]
fn a_full_last_page_is_no_end_and_no_error() {
    let server = Workspace::of_many(200).serve();
    assert_eq!(fetched(&server).items.len(), 200);
    assert_eq!(pages(&server).len(), 3);
}

#[test]
fn a_tag_is_the_version_that_has_it() {
    let workspace = Workspace::of_many(3);
    workspace.add(77, LATEST);
    let server = workspace.serve();
    let prod = with_key().fetch(&support(&server).version("prod")).unwrap();
    assert_eq!((prod.items.len(), prod.version.as_deref()), (3, Some(PROD)));
    assert_eq!(fetched(&server).items.len(), 4);
}

#[test]
fn a_time_is_asked_for_as_it_is_and_recorded() {
    let workspace = Workspace::of_many(3);
    workspace.add(77, LATEST);
    let server = workspace.serve();
    let time = "2026-10-15T00:00:00+00:00";
    let then = with_key().fetch(&support(&server).version(time)).unwrap();
    assert_eq!((then.items.len(), then.version.as_deref()), (3, Some(time)));
    assert_eq!(parameter(&pages(&server)[0], "as_of").as_deref(), Some(time));
}

#[test]
fn a_tag_that_no_version_has_is_told_with_those_that_there_are() {
    let server = Workspace::of_many(3).serve();
    assert_eq!(
        refusal(&support(&server).version("prdo")),
        "no version is tagged `prdo`; did you mean `prod`? available: `latest`, `prod`; write a time like \
         `2026-01-21T14:35:42Z`"
    );
}

#[test]
fn a_server_that_records_no_versions_gives_what_there_is() {
    let workspace = Workspace::of_many(3);
    let server = TestServer::start(move |asked| match path(asked).ends_with("/version") {
        true => ScriptedResponse::json(404, &json!({"detail": "Not Found"})),
        false => workspace.answer(asked),
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), fetched.version), (3, None));
    assert_eq!(parameter(&pages(&server)[0], "as_of").as_deref(), Some("latest"));
}

#[test]
fn pages_that_overlap_are_fetched_again_and_an_error_in_the_end() {
    let server = TestServer::start(|asked| match path(asked) {
        "/api/v1/examples" => {
            ScriptedResponse::json(200, &(0..100).map(|n| example(n, PROD)).collect::<Vec<_>>().into())
        }
        _ => Workspace::default().answer(asked),
    });
    let error = refusal(&support(&server));
    assert!(error.starts_with("the dataset changed during each of 3 attempts"), "{error}");
    assert_eq!(pages(&server).len(), 6);
}

#[test]
fn splits_metadata_and_filters_are_asked_of_every_page() {
    let examples = (0..150).map(|n| {
        let mut example = example(n, PROD);
        example["metadata"]["dataset_split"] = json!([if n % 10 == 0 { "train" } else { "test" }]);
        example
    });
    let server = Workspace::of(examples).serve();
    let filter = r#"has(metadata, '{"topic": "a & b"}')"#;
    let remote = support(&server)
        .splits(["test", "none"])
        .metadata(crate::item! { "topic": "refunds" })
        .filter(filter);
    assert_eq!(with_key().fetch(&remote).unwrap().items.len(), 135);
    for asked in pages(&server) {
        assert_eq!(parameters(&asked, "splits"), ["test", "none"]);
        assert_eq!(parameter(&asked, "metadata").as_deref(), Some(r#"{"topic":"refunds"}"#));
        assert_eq!(parameter(&asked, "filter").as_deref(), Some(filter));
    }
}

#[test]
fn an_example_without_the_usual_fields_has_those_that_it_has() {
    let workspace = Workspace::of([
        json!({"id": "least", "since": ""}),
        json!({"id": "nested", "since": "", "inputs": {"messages": [{"role": "user", "content": null}]}, "outputs": {}}),
        json!({"id": "bare", "since": "", "inputs": null, "outputs": null, "metadata": null}),
    ]);
    assert_eq!(
        json!(fetched(&workspace.serve()).items),
        json!([
            {"id": "least", "input": null},
            {"id": "nested", "input": {"messages": [{"role": "user", "content": null}]}, "expectedOutput": {}},
            {"id": "bare", "input": null},
        ])
    );
}

#[test]
fn a_missing_key_is_named_and_nothing_is_asked() {
    let server = Workspace::of_many(1).serve();
    let error = FetchEnvironment::default().fetch(&support(&server)).unwrap_err().to_string();
    assert!(error.contains("set LANGSMITH_API_KEY"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_refused_key_is_named_by_where_it_is_from_and_is_not_shown() {
    let server = Workspace::of_many(1).serve();
    let older = FetchEnvironment::with(&[("LANGCHAIN_API_KEY", "lsv2_of-another-workspace")]);
    let error = older.fetch(&support(&server)).unwrap_err().to_string();
    assert!(error.contains("status 401") && error.contains("Invalid token"), "{error}");
    assert!(error.contains("rejected the key in LANGCHAIN_API_KEY"), "{error}");
    assert!(error.contains("set `.base_url(…)` to the URL of the key's region or server"), "{error}");
    assert!(!error.contains("another-workspace"), "{error}");
    assert_eq!(server.requests().len(), 1, "a rejected key is not sent again");
}

#[test]
fn a_key_that_may_not_read_is_told_of_workspaces_where_none_is_named() {
    let server = TestServer::script([ScriptedResponse::json(403, &json!({"detail": "Forbidden"}))]);
    let error = refusal(&support(&server));
    assert!(error.contains("status 403") && error.contains("LANGSMITH_WORKSPACE_ID"), "{error}");
    let error = refusal(&support(&server).workspace("w-1"));
    assert!(!error.contains("LANGSMITH_WORKSPACE_ID"), "{error}");
    assert_eq!(server.requests()[1].headers["x-tenant-id"], "w-1");
}

#[test]
fn what_code_says_comes_before_the_configuration_and_that_before_the_environment() {
    let server = Workspace::of_many(1).serve();
    let wrong = [
        ("LANGSMITH_API_KEY", "lsv2_wrong"),
        ("LANGSMITH_ENDPOINT", "http://127.0.0.1:1"),
        ("LANGSMITH_WORKSPACE_ID", "w-environment"),
    ];
    let account = |key: &str, base_url: String| Account {
        base_url: Some(base_url),
        key: Some(Key::Written(Secret(key.to_owned()))),
        public_key: None,
        workspace: Some("w-configured".to_owned()),
    };
    let configured =
        FetchEnvironment::with(&wrong).account(Platform::LangSmith, account(KEY, server.url("/api/v1/")));
    assert!(configured.fetch(&Dataset::from_langsmith("support")).is_ok());
    let misconfigured = account("lsv2_wrong", "http://127.0.0.1:1".to_owned());
    let surroundings = FetchEnvironment::with(&wrong).account(Platform::LangSmith, misconfigured);
    assert!(surroundings.fetch(&support(&server).api_key(KEY).workspace("w-code")).is_ok());
    let plain = FetchEnvironment::with(&[
        ("LANGSMITH_API_KEY", KEY),
        ("LANGSMITH_ENDPOINT", &server.url("/api")),
        wrong[2],
    ]);
    assert!(plain.fetch(&Dataset::from_langsmith("support")).is_ok());
    let mut workspaces: Vec<_> =
        pages(&server).iter().map(|asked| asked.headers["x-tenant-id"].clone()).collect();
    workspaces.dedup();
    assert_eq!(workspaces, ["w-configured", "w-code", "w-environment"]);
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are() {
    let server = Workspace::of_many(1).serve();
    assert_eq!(
        refusal(&Dataset::from_langsmith("Supprt").base_url(server.url(""))),
        "no dataset `Supprt`; did you mean `support`? available: `billing`, `support`"
    );
}

#[test]
fn an_address_of_something_else_is_told_as_such() {
    let server = TestServer::script([ScriptedResponse::text(404, "no such page")]);
    let error = refusal(&support(&server));
    assert!(
        error.contains("status 404: no such page") && error.contains("check that `.base_url(…)` is the URL"),
        "{error}"
    );
}

#[test]
fn too_many_requests_wait_as_long_as_the_server_asks() {
    let (workspace, is_limited) = (Workspace::of_many(1), AtomicBool::new(false));
    let server = TestServer::start(move |asked| match !is_limited.fetch_not(Ordering::Relaxed) {
        true => ScriptedResponse::json(429, &json!({"detail": "Rate limit exceeded"}))
            .header("retry-after", "0.05"),
        false => workspace.answer(asked),
    });
    assert_eq!(fetched(&server).items.len(), 1);
    let asked = server.requests();
    assert_eq!(asked.len(), 8);
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(50));
}

#[test]
fn a_server_in_trouble_is_asked_again_and_then_named() {
    let server = TestServer::script([ScriptedResponse::text(502, "")]);
    let error = refusal(&support(&server).retries(1));
    assert!(error.contains("502") && error.contains("LangSmith has a server error"), "{error}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_cut_connection_is_opened_again() {
    let (workspace, was_cut) = (Workspace::of_many(3), AtomicBool::new(false));
    let server = TestServer::start(move |asked| {
        let answer = workspace.answer(asked);
        match path(asked).ends_with("/examples") && !was_cut.swap(true, Ordering::Relaxed) {
            true => answer.cut_after(20),
            false => answer,
        }
    });
    assert_eq!(fetched(&server).items.len(), 3);
    assert_eq!(pages(&server).len(), 3);
}

#[test]
fn an_answer_of_another_form_says_what_was_expected() {
    let server = TestServer::script([ScriptedResponse::json(200, &json!({"detail": "unexpected"}))]);
    let error = refusal(&support(&server));
    assert!(error.contains("expected a sequence"), "{error}");
}

#[test]
fn a_key_follows_no_redirect_to_another_host() {
    let other = Workspace::of_many(1).serve();
    for status in [301, 302, 307, 308] {
        let server = TestServer::script([ScriptedResponse::text(status, "")
            .header("location", &other.url("/api/v1/datasets?name=support"))]);
        let error = refusal(&support(&server));
        assert!(error.contains("`.base_url(…)`"), "{status}: {error}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn fifty_thousand_examples_are_fetched() {
    let server = TestServer::start(|asked| match path(asked) {
        "/api/v1/examples" => {
            let offset = number(asked, "offset").unwrap();
            let page = (offset..(offset + 100).min(50_000)).map(|n| example(n, PROD));
            ScriptedResponse::json(200, &page.collect())
        }
        _ => Workspace::default().answer(asked),
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), ids(&fetched)[49_999]), (50_000, "example-49999"));
    assert_eq!(pages(&server).len(), 501);
}

#[test]
fn copies_are_told_apart_by_what_is_asked_for_and_not_by_keys() {
    let identity = |remote: &RemoteDataset<LangSmith>, surroundings: &FetchEnvironment| {
        surroundings.session(remote, async |session| remote.source.identity(session))
    };
    let (plain, bare) = (Dataset::from_langsmith("support"), FetchEnvironment::default());
    assert_eq!(identity(&plain, &with_key()), identity(&plain, &bare));
    for other in [
        plain.clone().version("prod"),
        plain.clone().splits(["prod"]),
        plain.clone().metadata(crate::item! { "a": 1 }),
        plain.clone().filter("prod"),
        plain.clone().workspace("prod"),
        plain.clone().base_url("https://eu.api.smith.langchain.com"),
        Dataset::from_langsmith("billing"),
    ] {
        assert_ne!(identity(&plain, &bare), identity(&other, &bare), "{other:?}");
    }
}
