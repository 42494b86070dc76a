//! The files of the page, which are in the program itself.

use axum::extract::Request;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::guard::hex;

/// What `npm run build` makes of the sources of the page.
#[derive(RustEmbed)]
#[folder = "../dashboard/dist"]
struct Files;

/// Where the parts of the page lie whose names change with their content.
const ASSETS: &str = "assets/";
const INDEX: &str = "index.html";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Each time it is asked whether the file is still the same.
const ASKED_AGAIN: &str = "no-cache";

/// The file of an address, or the page, whose own addresses are all those that no file can have.
pub(super) async fn file(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    match Files::get(if may_be_file(path) { path } else { INDEX }) {
        Some(file) => answer(file, path.starts_with(ASSETS), request.headers()),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

/// Whether a path is that of a file: within the folder of the assets, or with an ending beside it. Further below, the names of
/// items stand in addresses of the page, which may have dots.
fn may_be_file(path: &str) -> bool {
    path.starts_with(ASSETS) || (path.contains('.') && !path.contains('/'))
}

fn answer(file: EmbeddedFile, is_asset: bool, asked: &HeaderMap) -> Response {
    // Weak, as the same file is sent compressed in several ways.
    let tag = format!("W/\"{}\"", hex(&file.metadata.sha256_hash()[..16]));
    let age = if is_asset { FOR_EVER } else { ASKED_AGAIN };
    let known = asked.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    if known.split(',').any(|known| known.trim() == tag || known.trim() == "*") {
        return (StatusCode::NOT_MODIFIED, [(ETAG, &*tag), (CACHE_CONTROL, age)]).into_response();
    }
    let head = [(CONTENT_TYPE, file.metadata.mimetype()), (CACHE_CONTROL, age), (ETAG, &tag)];
    (head, file.data).into_response()
}

#[cfg(test)]
mod tests {
    use super::may_be_file;

    #[test]
    fn what_has_an_ending_is_a_file_and_an_item_with_a_dot_in_its_name_is_none() {
        for file in ["favicon.svg", "foo.js", "assets/index-abc.js", "assets/"] {
            assert!(may_be_file(file), "{file}");
        }
        for page in ["", "runs", "runs/abc/items/version-4.1", "compare"] {
            assert!(!may_be_file(page), "{page}");
        }
    }
}
