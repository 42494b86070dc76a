//! Files at URLs.

mod broken;
mod redirects;

use super::server::{FetchEnvironment, ScriptedResponse, TestServer};
use crate::Dataset;
use crate::dataset::remote::fetch_options::{FetchError, FetchedData};
use crate::dataset::remote::load::Source;
use crate::dataset::remote::{RemoteDataset, Url};

const ROWS: &str = "{\"input\": \"a\"}\n{\"input\": \"b\"}\n";
const KEY: &str = "key-0123456789-of-the-test";

/// Fetches with the variable `KEY` set, and checks that no file is left in the folder.
fn fetch(remote: &RemoteDataset<Url>) -> Result<FetchedData, FetchError> {
    let folder = tempfile::tempdir().unwrap();
    let fetched = FetchEnvironment::with(&[("KEY", KEY)]).folder(folder.path()).fetch(remote);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file is left behind");
    fetched
}

/// Fetches a path of a server.
fn at(server: &TestServer, path: &str) -> Result<FetchedData, FetchError> {
    fetch(&Dataset::from_url(server.url(path)))
}

/// The number of items at `/data` of a server with these scripted responses, and the number of requests.
fn after(answers: impl Into<Vec<ScriptedResponse>>) -> (Result<usize, String>, usize) {
    let server = TestServer::script(answers);
    let fetched = at(&server, "/data");
    (fetched.map(|fetched| fetched.items.len()).map_err(|error| error.to_string()), server.requests().len())
}

#[test]
fn a_source_is_shown_without_secrets() {
    let remote = Dataset::from_url("https://user:hidden-one@data.test/x.csv?token=hidden-two")
        .header("x-api-key", "hidden-three")
        .header_env("x-other", "KEY");
    assert_eq!(remote.source.label(), "https://data.test/x.csv");
    assert!(!format!("{remote:?}").contains("hidden"), "{remote:?}");
}

#[test]
fn sources_are_told_apart_by_address_headers_and_format_without_secrets() {
    let of = |remote: RemoteDataset<Url>| {
        FetchEnvironment::default().session(&remote, async |session| remote.source.identity(session))
    };
    let url = || Dataset::from_url("https://user:hidden-one@data.test/x?split=test");
    assert_eq!(of(url().header("X-Api-Key", "hidden-two")), of(url().header("x-api-key", "hidden-three")));
    assert_ne!(of(url().header("x-split", "test")), of(url().header("x-split", "train")));
    assert_ne!(of(url().bearer_env("ONE")), of(url().bearer_env("OTHER")));
    assert_ne!(of(url()), of(url().format(crate::dataset::Format::Csv)));
    let all = of(url().header("x-api-key", "hidden-two").header("cookie", "hidden-three"));
    assert!(!all.join(" ").contains("hidden"), "{all:?}");
}
