//! A data set of Basalt, asked for over HTTP.

use serde_json::{Value, json};

use super::server::{Answer, Asked, Surroundings, TestServer, path};
use crate::dataset::remote::source::Fetched;
use crate::dataset::remote::{Basalt, RemoteDataset};
use crate::{Dataset, item};

const KEY: &str = "bs-of-the-test";

/// Answers as Basalt's documentation says, with these rows in the set `support`.
fn serve(rows: Vec<Value>) -> TestServer {
    TestServer::start(move |asked: &Asked| {
        if asked.headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
            return Answer::json(401, &json!({"error": "Unauthorized"}));
        }
        match path(asked) {
            "/datasets/support" => Answer::json(
                200,
                &json!({
                    "warning": "Some rows contained columns that do not exist in the dataset and were omitted.",
                    "dataset": {"slug": "support", "name": "Support", "columns": ["question"], "rows": rows},
                }),
            ),
            "/datasets" => {
                let sets =
                    ["support", "billing"].map(|slug| json!({"slug": slug, "name": slug, "columns": []}));
                Answer::json(200, &json!({"datasets": sets, "total": 2}))
            }
            _ => Answer::json(404, &json!({"error": "Dataset not found"})),
        }
    })
}

fn support(server: &TestServer) -> RemoteDataset<Basalt> {
    Dataset::from_basalt("support").base_url(server.url("")).retries(1)
}

fn fetch(remote: &RemoteDataset<Basalt>) -> Result<Fetched, String> {
    let with_key = Surroundings::with(&[("BASALT_API_KEY", KEY)]);
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
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_slug_that_is_not_there_is_answered_by_those_that_are() {
    let server = serve(vec![row()]);
    let wrong = |slug: &str| fetch(&Dataset::from_basalt(slug).base_url(server.url(""))).unwrap_err();
    assert_eq!(
        wrong("suport"),
        "there is no such data set: did you mean `support`? there are `support`, `billing`"
    );
    assert!(wrong("../prompts?x=1").starts_with("there is no such data set"));
    assert_eq!(path(&server.asked()[2]), "/datasets/..%2Fprompts%3Fx=1");
}

#[test]
fn a_key_that_is_missing_or_refused_is_said_to_be_which() {
    let server = serve(vec![row()]);
    let fetch =
        |variables: &[(&str, &str)]| Surroundings::with(variables).fetch(&support(&server)).unwrap_err();
    assert!(fetch(&[]).to_string().starts_with("no key: set BASALT_API_KEY"));
    let error = fetch(&[("BASALT_API_KEY", "bs-wrong")]).to_string();
    assert!(error.contains("401") && error.contains("BASALT_API_KEY"), "{error}");
    assert!(!error.contains("bs-wrong"), "{error}");
    let variables = [("BASALT_API_KEY", KEY), ("BASALT_PUBLIC_API_URL", &server.url(""))];
    assert!(Surroundings::with(&variables).fetch(&Dataset::from_basalt("support")).is_ok());
}

#[test]
fn what_may_pass_is_asked_again() {
    let whole = json!({"dataset": {"rows": [row()]}});
    for trouble in [
        Answer::text(429, "slow down").header("retry-after", "0"),
        Answer::text(502, "bad gateway"),
        Answer::json(200, &whole).cut_after(20),
    ] {
        let server = TestServer::script([trouble.clone(), Answer::json(200, &whole)]);
        assert_eq!(fetch(&support(&server)).unwrap().items.len(), 1, "{trouble:?}");
        let server = TestServer::script([trouble.clone()]);
        assert!(fetch(&support(&server)).is_err(), "{trouble:?}");
        assert_eq!(server.asked().len(), 2, "{trouble:?}");
    }
}

#[test]
fn an_answer_without_rows_says_what_is_wrong() {
    let said = |body: Value| fetch(&support(&TestServer::script([Answer::json(200, &body)]))).unwrap_err();
    assert_eq!(said(json!({"error": "the workspace is archived"})), "Basalt says: the workspace is archived");
    let error = said(json!({"error": format!("the key {KEY} is of no use here")}));
    assert!(error.contains("is of no use here") && !error.contains(KEY), "{error}");
    assert!(said(json!({})).starts_with("the answer has no `dataset`"));
    let error = said(json!({"dataset": {"rows": [{"name": 7}]}}));
    assert!(error.contains("dataset.rows[0].name"), "{error}");
}
