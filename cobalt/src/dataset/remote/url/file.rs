//! Reads the items of a downloaded file.

use cobalt_core::wording::truncate;
use reqwest::Url;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED};

use crate::dataset::remote::fetch_options::{FetchError, FetchedData};
use crate::dataset::remote::fetch_session::FetchSession;
use crate::dataset::remote::load::Download;
use crate::dataset::{DatasetError, Format, FormatHints, content, read as read_file};
use crate::http::error_body::{describe_html_page, one_line};

/// How many bytes of content are inspected if it is not a dataset.
const HEAD_BYTES: usize = 16 * 1024;
/// How many characters of it are displayed.
const MOST_SHOWN_IN_FILE: usize = 80;

/// Reads the items and their version.
pub fn read(
    download: &Download,
    asked: &Url,
    format: Option<Format>,
    session: &FetchSession<'_>,
) -> Result<FetchedData, FetchError> {
    let media_type = text(&download.headers, &CONTENT_TYPE);
    let disposition = text(&download.headers, &CONTENT_DISPOSITION);
    let names: Vec<_> = [last_segment(asked), last_segment(&download.url), disposition.and_then(file_name)]
        .into_iter()
        .flatten()
        .collect();
    // The name is also in the label; other names may contain secrets.
    let name = last_segment(asked).unwrap_or_else(|| "the response".to_owned());
    let told = FormatHints {
        format,
        names,
        media_type: media_type.map(str::to_owned),
        max_bytes: Some(session.max_bytes()),
    };
    let head = head(download, &name, &told);
    if let Some(page) = describe_html_page(&head) {
        let page = session.redact(&page);
        return Err(FetchError::problem(format!(
            "the response is {page}, not data; {}",
            html_page_advice(asked)
        )));
    }
    let items = read_file(&download.path, &name, &told)
        .map_err(|error| explain(error, &name, &head, media_type, session))?;
    Ok(FetchedData { items, version: version(&download.headers) })
}

/// The start of the decompressed content. Empty if it cannot be read; reading it reports the error.
fn head(download: &Download, name: &str, told: &FormatHints) -> String {
    let head = content(&download.path, name, told).map(|content| content.head).unwrap_or_default();
    String::from_utf8_lossy(&head[..head.len().min(HEAD_BYTES)]).into_owned()
}

/// A read error, with the start of the content if that helps.
fn explain(
    error: DatasetError,
    name: &str,
    head: &str,
    media_type: Option<&str>,
    session: &FetchSession<'_>,
) -> FetchError {
    // The name may also occur in the query of a redirect, which is redacted.
    let told = |error: &DatasetError| {
        let text = error.to_string();
        match text.strip_prefix(name) {
            Some(rest) => format!("{name}{}", session.redact(rest)),
            None => session.redact(&text),
        }
    };
    let begins = || {
        let head = session.redact(&one_line(head));
        format!("it starts with `{}`", truncate(&head, MOST_SHOWN_IN_FILE))
    };
    match error {
        DatasetError::UnknownFormat { .. } => {
            let media_type =
                media_type.map_or_else(|| "none".to_owned(), |kind| format!("`{}`", one_line(kind)));
            FetchError::Problem(format!(
                "cannot detect the format from the name, the content type ({media_type}) or the content; set it, as in \
                `.format(Format::Jsonl)`, or correct the URL; {}",
                begins()
            ))
        }
        DatasetError::Empty { detail, .. } => {
            FetchError::Problem(format!("the response has no items ({detail}); correct the URL"))
        }
        DatasetError::Malformed { line: 1, .. } => {
            FetchError::Problem(format!("{}; {}", told(&error), begins()))
        }
        other => FetchError::Problem(told(&other)),
    }
}

/// The `ETag`, else `Last-Modified`.
fn version(headers: &HeaderMap) -> Option<String> {
    let tag = text(headers, &ETAG).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
    let version = tag.filter(|tag| !tag.is_empty()).or_else(|| text(headers, &LAST_MODIFIED));
    version.map(one_line)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// The file name in the path of a URL.
fn last_segment(url: &Url) -> Option<String> {
    url.path_segments()?.next_back().filter(|segment| !segment.is_empty()).map(str::to_owned)
}

/// The file name in `Content-Disposition`, of which only the extension is used.
/// Source: <https://www.rfc-editor.org/rfc/rfc6266>.
fn file_name(disposition: &str) -> Option<String> {
    let parameters = disposition.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, name) = parameters
        .map(|(key, value)| (key.trim().to_ascii_lowercase(), value))
        .find(|(key, _)| matches!(key.as_str(), "filename" | "filename*"))?;
    Some(name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

/// What to do if the response is an HTML page.
fn html_page_advice(asked: &Url) -> String {
    match raw_file_url(asked) {
        Some(file) => format!("this page displays the file; the file itself is at {file}"),
        None => "it may require a login: set a key with `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`, or correct the URL"
            .to_owned(),
    }
}

/// The URL of the file that a page of Hugging Face, GitHub or GitLab displays; without a query, which may contain a key.
fn raw_file_url(page: &Url) -> Option<Url> {
    let (before, after) = page.path().split_once("/blob/")?;
    let mut file = page.clone();
    file.set_query(None);
    let host = page.host_str().unwrap_or_default();
    if host == "github.com" {
        file.set_host(Some("raw.githubusercontent.com")).ok()?;
        file.set_path(&format!("{before}/{after}"));
    } else if host.ends_with("huggingface.co") || before.starts_with("/datasets/") {
        file.set_path(&format!("{before}/resolve/{after}"));
    } else {
        file.set_path(&format!("{before}/raw/{after}"));
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_download_is_found() {
        for disposition in [
            "attachment; filename=\"x y.csv\"",
            "attachment;FileName=x.csv",
            "inline; filename*=UTF-8''x%20y.csv",
        ] {
            assert!(file_name(disposition).unwrap().ends_with(".csv"), "{disposition}");
        }
        assert_eq!(file_name("attachment"), None);
        assert_eq!(file_name("attachment; filename=\"\""), None);
    }

    #[test]
    fn the_version_is_the_entity_tag_or_the_time_of_the_last_change() {
        let of = |pairs: &[(HeaderName, &'static str)]| {
            version(&pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect())
        };
        let changed = (LAST_MODIFIED, "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(of(&[(ETAG, "W/\"abc\""), changed.clone()]).as_deref(), Some("abc"));
        assert_eq!(of(&[(ETAG, "\"\""), changed]).as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_page_that_shows_a_file_is_told_with_where_the_file_is() {
        let file = |page: &str| raw_file_url(&page.parse().unwrap()).map(String::from);
        for (page, expected) in [
            (
                "https://huggingface.co/datasets/acme/support/blob/main/data/test.csv?x=1",
                "https://huggingface.co/datasets/acme/support/resolve/main/data/test.csv",
            ),
            (
                "https://github.com/acme/evals/blob/main/data/test.csv",
                "https://raw.githubusercontent.com/acme/evals/main/data/test.csv",
            ),
            (
                "https://gitlab.test/acme/evals/-/blob/main/test.csv",
                "https://gitlab.test/acme/evals/-/raw/main/test.csv",
            ),
        ] {
            assert_eq!(file(page).as_deref(), Some(expected));
        }
        assert_eq!(file("https://a.test/data.csv"), None);
    }
}
