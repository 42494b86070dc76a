//! The files of the page, which are in the program itself.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// What `npm run build` makes of the sources of the page.
#[derive(RustEmbed)]
#[folder = "../dashboard/dist"]
struct Files;

/// Where the parts of the page lie whose names change with their content.
const ASSETS: &str = "assets/";
const INDEX: &str = "index.html";

/// The file of an address; every other address is one within the page.
pub(super) async fn file(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let is_asset = path.starts_with(ASSETS);
    let name = if Files::get(path).is_some() && !path.is_empty() { path } else { INDEX };
    match Files::get(name).filter(|_| !is_asset || name == path) {
        Some(file) => {
            let age = if is_asset { "public, max-age=31536000, immutable" } else { "no-cache" };
            let headers = [(CONTENT_TYPE, file.metadata.mimetype()), (CACHE_CONTROL, age)];
            (headers, file.data.into_owned()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
