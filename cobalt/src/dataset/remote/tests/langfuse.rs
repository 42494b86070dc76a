//! Datasets in Langfuse, fetched over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cobalt_core::redact::Secret;
use cobalt_core::timestamp::Timestamp;
use serde_json::{Value, json};

use super::server::{
    FetchEnvironment, ReceivedRequest, ScriptedResponse, TestServer, number, parameter, path,
};
use crate::Dataset;
use crate::dataset::remote::fetch_options::FetchedData;
use crate::dataset::remote::{Langfuse, RemoteDataset};
use crate::dataset::settings::{Account, Key, Platform};

const PUBLIC: &str = "pk-lf-of-the-test";
const SECRET: &str = "sk-lf-of-the-test";
/// The server's time, in whole seconds as in the header `Date`.
const NOW: &str = "2026-11-22T09:00:00Z";

/// A project that responds like Langfuse.
#[derive(Clone, Default)]
struct Project {
    /// The latest first.
    rows: Arc<Mutex<Vec<Value>>>,
    requests: Arc<AtomicUsize>,
    /// Whether the server is from before 2026, and returns the current items for any version.
    is_old: bool,
}

/// An item created at a time.
fn row(id: &str, at: &str) -> Value {
    json!({
        "id": id, "status": "ACTIVE", "input": {"question": id}, "expectedOutput": {"answer": id}, "metadata": {"n": 1},
        "sourceTraceId": null, "sourceObservationId": null, "datasetId": "cm1", "datasetName": "support",
        "createdAt": at, "updatedAt": at,
    })
}

impl Project {
    fn of(rows: impl IntoIterator<Item = Value>) -> Self {
        Self { rows: Arc::new(Mutex::new(rows.into_iter().collect())), ..Self::default() }
    }

    /// A project with this number of items, all created at the same time.
    fn of_many(items: usize) -> Self {
        Self::of((0..items).map(|n| row(&format!("item-{n}"), "2026-11-01T08:00:00.000Z")))
    }

    /// Adds an item at the front, with the current time.
    fn add(&self, id: &str) {
        self.rows.lock().unwrap().insert(0, row(id, "2026-11-22T09:00:30.000Z"));
    }

    fn answer(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let now = humantime::parse_rfc3339(NOW).unwrap();
        self.body(asked).header("date", &httpdate::fmt_http_date(now))
    }

    fn body(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        let pair = format!("Basic {}", STANDARD.encode(format!("{PUBLIC}:{SECRET}")));
        if asked.headers.get("authorization") != Some(&pair) {
            let message = "Invalid credentials. Confirm that you've configured the correct host.";
            return ScriptedResponse::json(401, &json!({"message": message}));
        }
        match path(asked) {
            "/api/public/dataset-items" => self.items(asked),
            "/api/public/v2/datasets" => {
                let names = ["support", "billing"].map(|name| json!({"id": name, "name": name}));
                let meta = json!({"page": 1, "limit": 100, "totalItems": 2, "totalPages": 1});
                ScriptedResponse::json(200, &json!({"data": names, "meta": meta}))
            }
            _ => ScriptedResponse::text(404, "<html>This page could not be found.</html>"),
        }
    }

    fn items(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        if parameter(asked, "datasetName").as_deref() != Some("support") {
            let error = json!({"message": "Dataset not found", "error": "LangfuseNotFoundError"});
            return ScriptedResponse::json(404, &error);
        }
        let (page, limit) = (number(asked, "page").unwrap_or(1), number(asked, "limit").unwrap_or(50));
        if page == 0 || limit > 100 {
            return ScriptedResponse::json(400, &json!({"message": "Invalid request data", "error": []}));
        }
        let version = parameter(asked, "version").filter(|_| !self.is_old);
        let version = version.map(|version| humantime::parse_rfc3339(&version).unwrap());
        let is_there = |row: &&Value| {
            let made = humantime::parse_rfc3339(row["createdAt"].as_str().unwrap()).unwrap();
            version.is_none_or(|version| made <= version)
        };
        let rows = self.rows.lock().unwrap();
        let rows: Vec<&Value> = rows.iter().filter(is_there).collect();
        let data: Vec<_> = rows.iter().skip((page - 1) * limit).take(limit).collect();
        let meta = json!({
            "page": page, "limit": limit, "totalItems": rows.len(), "totalPages": rows.len().div_ceil(limit),
        });
        ScriptedResponse::json(200, &json!({"data": data, "meta": meta}))
    }

    fn serve(&self) -> TestServer {
        let project = self.clone();
        TestServer::start(move |asked| project.answer(asked))
    }
}

fn with_keys() -> FetchEnvironment {
    FetchEnvironment::with(&[("LANGFUSE_PUBLIC_KEY", PUBLIC), ("LANGFUSE_SECRET_KEY", SECRET)])
}

fn support(server: &TestServer) -> RemoteDataset<Langfuse> {
    Dataset::from_langfuse("support").base_url(server.url(""))
}

fn fetched(server: &TestServer) -> FetchedData {
    with_keys().fetch(&support(server)).unwrap()
}

/// The error of a fetch.
fn refusal(server: &TestServer) -> String {
    with_keys().fetch(&support(server)).unwrap_err().to_string()
}

fn ids(fetched: &FetchedData) -> Vec<&str> {
    fetched.items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn all_pages_are_fetched_in_their_order() {
    let server = Project::of_many(250).serve();
    let fetched = fetched(&server);
    assert_eq!(fetched.items.len(), 250);
    assert_eq!(
        Value::from(fetched.items[249].clone()),
        json!({
            "id": "item-249", "input": {"question": "item-249"}, "expectedOutput": {"answer": "item-249"},
            "metadata": {"n": 1},
        })
    );
    let pages: Vec<_> = server.requests().iter().map(|asked| number(asked, "page").unwrap()).collect();
    assert_eq!(pages, [1, 2, 3]);
}

#[test]
fn a_page_is_as_large_as_is_said_and_as_the_api_gives_at_most() {
    let server = Project::of_many(5).serve();
    let surroundings = with_keys();
    assert_eq!(surroundings.fetch(&support(&server).page_size(2)).unwrap().items.len(), 5);
    assert_eq!(surroundings.fetch(&support(&server).page_size(1000)).unwrap().items.len(), 5);
    let sizes: Vec<_> = server.requests().iter().map(|asked| number(asked, "limit").unwrap()).collect();
    assert_eq!(sizes, [2, 2, 2, 100]);
}

#[test]
fn an_item_without_the_usual_fields_has_those_that_it_has() {
    let bare =
        json!({"id": "bare", "status": "ACTIVE", "input": null, "expectedOutput": null, "metadata": null});
    let least = json!({"id": "least"});
    let text =
        json!({"id": "text", "input": "{\"a\": 1}", "expectedOutput": [1, {"b": null}], "metadata": "free"});
    let server = TestServer::script([ScriptedResponse::json(
        200,
        &json!({"data": [bare, least, text], "meta": {"totalItems": 3, "totalPages": 1}}),
    )]);
    assert_eq!(
        json!(fetched(&server).items),
        json!([
            {"id": "bare", "input": null},
            {"id": "least", "input": null},
            {"id": "text", "input": "{\"a\": 1}", "expectedOutput": [1, {"b": null}], "metadata": "free"},
        ])
    );
}

#[test]
fn archived_items_of_older_servers_are_left_out() {
    let mut archived = row("gone", "2026-11-01T08:00:00Z");
    archived["status"] = json!("ARCHIVED");
    let project = Project::of([row("a", "2026-11-01T08:00:00Z"), archived, row("b", "2026-11-01T08:00:00Z")]);
    assert_eq!(ids(&fetched(&project.serve())), ["a", "b"]);
}

#[test]
fn a_folder_and_any_letter_can_be_in_a_name() {
    let server = Project::of_many(1).serve();
    let odd = "évals/refunds & more?";
    let _ = with_keys().fetch(&Dataset::from_langfuse(odd).base_url(server.url("")));
    assert_eq!(parameter(&server.requests()[0], "datasetName").as_deref(), Some(odd));
}

#[test]
fn a_pinned_version_is_that_of_every_page_and_is_recorded() {
    let project = Project::of_many(150);
    project.add("later");
    let server = project.serve();
    let version = "2026-11-02T00:00:00Z";
    let fetched = with_keys().fetch(&support(&server).version(version)).unwrap();
    assert_eq!((fetched.items.len(), fetched.version.as_deref()), (150, Some(version)));
    assert!(server.requests().iter().all(|asked| parameter(asked, "version").as_deref() == Some(version)));
}

#[test]
fn a_version_that_is_no_time_is_refused_before_anything_is_asked() {
    let server = Project::of_many(1).serve();
    let error = with_keys().fetch(&support(&server).version("yesterday")).unwrap_err().to_string();
    assert_eq!(error, "invalid version `yesterday`: expected a time in UTC such as `2026-01-21T14:35:42Z`");
    let error = with_keys().fetch(&support(&server).version("2999-01-01T00:00:00Z")).unwrap_err().to_string();
    assert!(error.contains("is in the future"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn items_that_are_kept_back_are_missed() {
    let server = TestServer::start(|asked| {
        let is_first = number(asked, "page") == Some(1);
        let rows: Vec<_> = (0..100).filter(|_| is_first).map(|n| row(&format!("item-{n}"), NOW)).collect();
        let meta = json!({"totalItems": 150, "totalPages": u64::MAX});
        ScriptedResponse::json(200, &json!({"data": rows, "meta": meta}))
    });
    let error = refusal(&server);
    assert!(error.starts_with("Langfuse reports 150 items but returned 100"), "{error}");
    assert_eq!(server.requests().len(), 2, "an empty page is always the last one");
}

#[test]
fn without_a_version_the_state_of_the_first_page_is_that_of_all() {
    let project = Project::of_many(250);
    let answering = project.clone();
    let server = TestServer::start(move |asked| {
        let answer = answering.answer(asked);
        answering.add(&format!("meanwhile-{}", answering.requests.load(Ordering::Relaxed)));
        answer
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), ids(&fetched)[249]), (250, "item-249"));
    assert_eq!(fetched.version.as_deref(), Some("2026-11-22T09:00:01.000Z"));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn without_the_servers_time_the_version_is_of_this_machines() {
    let server = TestServer::script([ScriptedResponse::json(
        200,
        &json!({"data": [{"id": "a"}], "meta": {"totalItems": 1, "totalPages": 1}}),
    )]);
    let before = Timestamp::now().to_string();
    let version = fetched(&server).version.unwrap();
    assert!(before <= version && version <= Timestamp::now().to_string(), "{version}");
}

#[test]
fn a_data_set_that_changed_meanwhile_is_fetched_again_from_a_server_that_knows_no_versions() {
    let project = Project { is_old: true, ..Project::of_many(150) };
    let answering = project.clone();
    let server = TestServer::start(move |asked| {
        let answer = answering.answer(asked);
        if answering.requests.load(Ordering::Relaxed) == 1 {
            // Replaces an item; the number of items stays the same.
            answering.add("new");
            answering.rows.lock().unwrap().retain(|row| row["id"] != "item-120");
        }
        answer
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), ids(&fetched)[0]), (150, "new"));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_data_set_that_never_rests_is_an_error() {
    let project = Project { is_old: true, ..Project::of_many(150) };
    let answering = project.clone();
    let server = TestServer::start(move |asked| {
        answering.add(&format!("new-{}", answering.requests.load(Ordering::Relaxed)));
        answering.answer(asked)
    });
    let error = refusal(&server);
    assert!(error.starts_with("the dataset changed during each of 3 attempts"), "{error}");
}

#[test]
fn a_server_that_gives_items_of_after_the_version_is_told_as_too_old() {
    let project = Project { is_old: true, ..Project::of_many(1) };
    project.add("later");
    let server = project.serve();
    let error = with_keys().fetch(&support(&server).version("2026-11-02T00:00:00Z")).unwrap_err().to_string();
    assert!(
        error.contains("item `later` was created at 2026-11-22T09:00:30.000Z, after the requested version"),
        "{error}"
    );
}

#[test]
fn a_missing_key_is_named_and_nothing_is_asked() {
    let server = Project::of_many(1).serve();
    let missing = |variables: &[(&str, &str)]| {
        FetchEnvironment::with(variables).fetch(&support(&server)).unwrap_err().to_string()
    };
    let error = missing(&[("LANGFUSE_PUBLIC_KEY", PUBLIC), ("LANGFUSE_SECRET_KEY", " ")]);
    assert!(error.contains("set LANGFUSE_SECRET_KEY"), "{error}");
    let error = missing(&[("LANGFUSE_SECRET_KEY", SECRET)]);
    assert!(error.contains("set LANGFUSE_PUBLIC_KEY"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_refused_key_is_named_by_where_it_is_from_and_is_not_shown() {
    let server = Project::of_many(1).serve();
    let variables = [("LANGFUSE_PUBLIC_KEY", PUBLIC), ("LANGFUSE_SECRET_KEY", "sk-lf-of-another-project")];
    let error = FetchEnvironment::with(&variables).fetch(&support(&server)).unwrap_err().to_string();
    assert!(error.contains("status 401") && error.contains("Invalid credentials"), "{error}");
    assert!(error.contains("rejected the key in LANGFUSE_PUBLIC_KEY and the key in LANGFUSE_SECRET_KEY"));
    assert!(error.contains("set `.base_url(…)` to the URL of the key's region or server"), "{error}");
    assert!(!error.contains("another-project") && !error.contains(PUBLIC), "{error}");
    assert_eq!(server.requests().len(), 1, "a rejected key is not sent again");
}

#[test]
fn what_code_says_comes_before_the_configuration_and_that_before_the_environment() {
    let server = Project::of_many(1).serve();
    let wrong = [
        ("LANGFUSE_PUBLIC_KEY", "pk-wrong"),
        ("LANGFUSE_SECRET_KEY", "sk-wrong"),
        ("LANGFUSE_BASE_URL", "http://127.0.0.1:1"),
        ("TEAM_SECRET", SECRET),
    ];
    let account = Account {
        base_url: Some(server.url("/")),
        public_key: Some(Key::Written(Secret(PUBLIC.to_owned()))),
        key: Some(Key::Variable("TEAM_SECRET".to_owned())),
        workspace: None,
    };
    let configured = FetchEnvironment::with(&wrong).account(Platform::Langfuse, account.clone());
    assert!(configured.fetch(&Dataset::from_langfuse("support")).is_ok());

    let misconfigured = Account {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        public_key: Some(Key::Written(Secret("pk-wrong".to_owned()))),
        key: Some(Key::Variable("LANGFUSE_SECRET_KEY".to_owned())),
        workspace: None,
    };
    let surroundings = FetchEnvironment::with(&wrong).account(Platform::Langfuse, misconfigured);
    let in_code = support(&server).public_key(PUBLIC).secret_key(SECRET);
    assert!(surroundings.fetch(&in_code).is_ok());
}

#[test]
fn the_older_variable_of_the_server_is_read_where_the_newer_is_not_set() {
    let server = Project::of_many(1).serve();
    let url = server.url("/");
    let keys = [("LANGFUSE_PUBLIC_KEY", PUBLIC), ("LANGFUSE_SECRET_KEY", SECRET)];
    let older = [keys.as_slice(), &[("LANGFUSE_HOST", &url)]].concat();
    assert!(FetchEnvironment::with(&older).fetch(&Dataset::from_langfuse("support")).is_ok());
    let both = [older.as_slice(), &[("LANGFUSE_BASE_URL", "not an address")]].concat();
    let error =
        FetchEnvironment::with(&both).fetch(&Dataset::from_langfuse("support")).unwrap_err().to_string();
    assert!(error.starts_with("the URL of Langfuse from LANGFUSE_BASE_URL does not"), "{error}");
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are() {
    let server = Project::of_many(1).serve();
    let remote = Dataset::from_langfuse("suport").base_url(server.url(""));
    assert_eq!(
        with_keys().fetch(&remote).unwrap_err().to_string(),
        "no dataset `suport`; did you mean `support`? available: `support`, `billing`"
    );
}

#[test]
fn an_address_of_something_else_is_told_as_such() {
    let server = TestServer::script([ScriptedResponse::text(404, "no such page")]);
    let error = refusal(&server);
    assert!(error.contains("status 404: no such page"), "{error}");
    assert!(error.contains("check that `.base_url(…)` is the URL"), "{error}");
}

#[test]
fn too_many_requests_wait_as_long_as_the_server_asks() {
    let project = Project::of_many(150);
    let limited = project.clone();
    let server = TestServer::start(move |asked| match limited.requests.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => ScriptedResponse::text(429, "429 - rate limit exceeded").header("retry-after", "0.05"),
        _ => limited.body(asked),
    });
    assert_eq!(fetched(&server).items.len(), 150);
    let asked = server.requests();
    assert_eq!(asked.len(), 4);
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(50));
    assert!(asked[3].at - asked[2].at >= Duration::from_millis(50));
}

#[test]
fn a_server_in_trouble_is_asked_again_and_then_named() {
    let server = TestServer::script([ScriptedResponse::text(503, "")]);
    let error = with_keys().fetch(&support(&server).retries(2)).unwrap_err().to_string();
    assert!(error.contains("503") && error.contains("Langfuse has a server error"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_cut_connection_is_opened_again() {
    let project = Project::of_many(150);
    let cutting = project.clone();
    let server = TestServer::start(move |asked| {
        let answer = cutting.answer(asked);
        match cutting.requests.load(Ordering::Relaxed) {
            2 => answer.cut_after(1000),
            _ => answer,
        }
    });
    assert_eq!(fetched(&server).items.len(), 150);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn an_answer_of_another_form_says_what_was_expected() {
    let server = TestServer::script([ScriptedResponse::json(
        200,
        &json!({"data": [{"id": 7}], "meta": {"totalItems": 1, "totalPages": 1}}),
    )]);
    let error = refusal(&server);
    assert!(error.contains("data[0].id") && error.contains("expected a string"), "{error}");
}

#[test]
fn a_key_follows_no_redirect_to_another_host() {
    let other = Project::of_many(1).serve();
    for status in [301, 302, 307, 308] {
        let elsewhere = ScriptedResponse::text(status, "")
            .header("location", &other.url("/api/public/dataset-items?datasetName=support"));
        let server = TestServer::script([elsewhere]);
        let error = refusal(&server);
        assert!(error.contains("`.base_url(…)`"), "{status}: {error}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn fifty_thousand_items_are_fetched() {
    let server = TestServer::start(|asked| {
        let first = (number(asked, "page").unwrap() - 1) * 100;
        let rows: Vec<_> = (first..first + 100).map(|n| row(&format!("item-{n}"), NOW)).collect();
        let meta = json!({"totalItems": 50_000, "totalPages": 500});
        ScriptedResponse::json(200, &json!({"data": rows, "meta": meta}))
    });
    let fetched = fetched(&server);
    assert_eq!((fetched.items.len(), ids(&fetched)[49_999]), (50_000, "item-49999"));
    assert_eq!(server.requests().len(), 500);
}

#[test]
fn copies_are_told_apart_by_server_and_version_and_not_by_keys() {
    let identity = |remote: &RemoteDataset<Langfuse>, surroundings: &FetchEnvironment| {
        use crate::dataset::remote::load::Source;
        surroundings.session(remote, async |session| remote.source.identity(session))
    };
    let plain = Dataset::from_langfuse("support");
    let bare = FetchEnvironment::default();
    assert_eq!(identity(&plain, &with_keys()), identity(&plain, &bare));
    for other in [
        plain.clone().version("2026-11-02T00:00:00Z"),
        plain.clone().base_url("https://us.cloud.langfuse.com"),
        Dataset::from_langfuse("billing"),
    ] {
        assert_ne!(identity(&plain, &bare), identity(&other, &bare));
    }
    assert_eq!(
        identity(&plain, &bare),
        identity(&plain.clone().base_url("https://cloud.langfuse.com/"), &bare)
    );
}
