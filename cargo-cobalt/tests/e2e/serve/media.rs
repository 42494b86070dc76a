//! Images and recordings of items, and attempts to get other files.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::server::{Server, command};
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR pixels";
const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>";

/// A run whose first item names these paths.
fn naming(paths: &[&str]) -> Store {
    let store = Store::new();
    store.keep_edited(&Kept::default(), |report| report["items"][0]["input"]["files"] = json!(paths));
    store
}

fn address(path: &str) -> String {
    let path: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
    format!("/api/runs/{A}/items/item-0/media?path={path}")
}

#[test]
fn an_image_that_an_item_names_is_shown_and_can_do_nothing() {
    let store = naming(&["images/a.png", "images/renamed.html"]);
    fs::create_dir(store.folder().join("images")).unwrap();
    for name in ["a.png", "renamed.html"] {
        fs::write(store.folder().join("images").join(name), PNG).unwrap();
    }
    let server = Server::at(store.folder());
    for path in ["images/a.png", "images/renamed.html"] {
        let answer = server.get(&address(path), &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, "image/png"), "{path}");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-disposition"), "inline");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert!(answer.body.contains("pixels"), "{answer:?}");
    }
    let part = server.get(&address("images/a.png"), &["Range: bytes=1-3"]);
    assert_eq!((part.status, &*part.body, part.header("content-range")), (206, "PNG", "bytes 1-3/23"));
    let outside = server.get(&address("images/a.png"), &["Range: bytes=23-"]);
    assert_eq!((outside.status, outside.header("content-range")), (416, "bytes */23"));
    let elsewhere = server.get(&address("images/a.png"), &["Sec-Fetch-Site: cross-site"]);
    assert_eq!(elsewhere.status, 403, "another page cannot show it");
    let page = server.get("/", &[]);
    assert!(page.header("content-security-policy").contains("media-src 'self' data:"));
}

#[test]
fn files_out_of_the_project_are_not_shown_whatever_an_item_names() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("secret.png"), PNG).unwrap();
    let secret = elsewhere.path().join("secret.png").display().to_string();
    let above = format!("../{}/secret.png", elsewhere.path().file_name().unwrap().to_str().unwrap());
    let url = format!("file://{secret}");
    let paths = [
        &*secret,
        &above,
        &url,
        "link.png",
        "folder/secret.png",
        "/dev/zero",
        "pipe",
        "..",
        ".",
        "none.png",
        "\0.png",
    ];
    let store = naming(&paths);
    symlink(&secret, store.folder().join("link.png")).unwrap();
    symlink(elsewhere.path(), store.folder().join("folder")).unwrap();
    nix::unistd::mkfifo(&store.folder().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let server = Server::at(store.folder());
    for path in paths {
        let refusal = server.refusal(&address(path), 404);
        assert!(refusal.contains("in the project's folder"), "{path}: {refusal}");
    }
}

#[test]
fn only_named_images_and_recordings_are_shown() {
    let store = naming(&["a.svg", "a.html", "pretends.png", "Cargo.toml", "big.png"]);
    let files = [
        ("a.svg", SVG),
        ("a.html", "<!doctype html><script>alert(1)</script>"),
        ("pretends.png", "not an image"),
    ];
    for (name, text) in files {
        fs::write(store.folder().join(name), text).unwrap();
    }
    fs::write(store.folder().join("unnamed.png"), PNG).unwrap();
    let big = fs::File::create(store.folder().join("big.png")).unwrap();
    big.set_len((50 << 20) + 1).unwrap();
    let server = Server::at(store.folder());
    for path in ["a.svg", "a.html", "pretends.png", "Cargo.toml"] {
        assert!(server.refusal(&address(path), 415).contains("neither an image"), "{path}");
    }
    assert!(server.refusal(&address("big.png"), 413).contains("larger than 50 MB"));
    for path in ["unnamed.png", "./a.svg", "", "what now?", "cobalt.toml"] {
        let refusal = server.refusal(&address(path), 404);
        let said = if path == "what now?" { "in the project's folder" } else { "does not name" };
        assert!(refusal.contains(said), "{path}: {refusal}");
    }
    assert!(server.refusal(&format!("/api/runs/{A}/items/none/media?path=a.svg"), 404).contains("no item"));
    assert!(server.refusal(&format!("/api/runs/{A}/items/item-0/media"), 400).contains("path"));
    let mut with_token = command(store.folder(), &["--port", "0"]);
    with_token.env("COBALT_TOKEN", "0123456789abcdef");
    assert_eq!(Server::by(with_token).get(&address("a.svg"), &[]).status, 401);
}
