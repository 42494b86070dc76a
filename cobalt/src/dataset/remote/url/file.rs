//! The items of what was downloaded.

use cobalt_core::wording::cut;
use reqwest::Url;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED};

use crate::dataset::remote::load::Download;
use crate::dataset::remote::session::Session;
use crate::dataset::remote::terms::{FetchError, Fetched};
use crate::dataset::{DatasetError, Format, Told, content, read as read_file};
use crate::http::said::{html_page, shown};

/// How much of the content is looked at where it is no data set, in bytes.
const HEAD_BYTES: usize = 16 * 1024;
/// How much of it is shown, in characters.
const MOST_SHOWN_IN_FILE: usize = 80;

/// The items, and which version of them.
pub fn read(
    download: &Download,
    asked: &Url,
    format: Option<Format>,
    session: &Session<'_>,
) -> Result<Fetched, FetchError> {
    let media_type = text(&download.headers, &CONTENT_TYPE);
    let disposition = text(&download.headers, &CONTENT_DISPOSITION);
    let names: Vec<_> = [last_segment(asked), last_segment(&download.url), disposition.and_then(file_name)]
        .into_iter()
        .flatten()
        .collect();
    // As it stands in the label; what other names hold may be meant for nobody.
    let name = last_segment(asked).unwrap_or_else(|| "the answer".to_owned());
    let told = Told {
        format,
        names,
        media_type: media_type.map(str::to_owned),
        max_bytes: Some(session.max_bytes()),
    };
    let head = head(download, &name, &told);
    if let Some(page) = html_page(&head) {
        let page = session.told(&page);
        return Err(FetchError::problem(format!("the answer is {page}, and no data: {}", on_page(asked))));
    }
    let items = read_file(&download.path, &name, &told)
        .map_err(|error| explain(error, &name, &head, media_type, session))?;
    Ok(Fetched { items, version: version(&download.headers) })
}

/// How the content begins, once it is unpacked. Of what cannot be read, nothing is known; reading it says why.
fn head(download: &Download, name: &str, told: &Told) -> String {
    let head = content(&download.path, name, told).map(|content| content.head).unwrap_or_default();
    String::from_utf8_lossy(&head[..head.len().min(HEAD_BYTES)]).into_owned()
}

/// An error of reading, with what came where that tells more.
fn explain(
    error: DatasetError,
    name: &str,
    head: &str,
    media_type: Option<&str>,
    session: &Session<'_>,
) -> FetchError {
    // The name may be in the query that it was redirected to, which is kept out of what is told.
    let told = |error: &DatasetError| {
        let text = error.to_string();
        match text.strip_prefix(name) {
            Some(rest) => format!("{name}{}", session.told(rest)),
            None => session.told(&text),
        }
    };
    let begins = || {
        let head = session.told(&shown(head));
        format!("it begins with `{}`", cut(&head, MOST_SHOWN_IN_FILE))
    };
    match error {
        DatasetError::UnknownFormat { .. } => {
            let media_type =
                media_type.map_or_else(|| "no content type".to_owned(), |kind| format!("`{}`", shown(kind)));
            FetchError::Problem(format!(
                "neither its name nor its type ({media_type}) nor its content tells a format: say it by \
                 `.format(Format::Jsonl)` or another, or correct the address; {}",
                begins()
            ))
        }
        DatasetError::Empty { detail, .. } => {
            FetchError::Problem(format!("the answer has no items ({detail}): correct the address"))
        }
        DatasetError::Malformed { line: 1, .. } => {
            FetchError::Problem(format!("{}; {}", told(&error), begins()))
        }
        other => FetchError::Problem(told(&other)),
    }
}

/// The entity tag, else when it was changed.
fn version(headers: &HeaderMap) -> Option<String> {
    let tag = text(headers, &ETAG).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
    let version = tag.filter(|tag| !tag.is_empty()).or_else(|| text(headers, &LAST_MODIFIED));
    version.map(shown)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// The name of the file in the path of an address.
fn last_segment(url: &Url) -> Option<String> {
    url.path_segments()?.next_back().filter(|segment| !segment.is_empty()).map(str::to_owned)
}

/// The name of the file in `Content-Disposition`, of which only the extension is used.
/// Source: <https://www.rfc-editor.org/rfc/rfc6266>.
fn file_name(disposition: &str) -> Option<String> {
    let parameters = disposition.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, name) = parameters
        .map(|(key, value)| (key.trim().to_ascii_lowercase(), value))
        .find(|(key, _)| matches!(key.as_str(), "filename" | "filename*"))?;
    Some(name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

/// What to do where a page came that people look at.
fn on_page(asked: &Url) -> String {
    match file_of_page(asked) {
        Some(file) => format!("that page shows the file: the file itself is at {file}"),
        None => "it may want a login: give a key by `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`, or correct the address"
            .to_owned(),
    }
}

/// Where the file is that a page of Hugging Face, GitHub or GitLab shows; without a query, where a key may be.
fn file_of_page(page: &Url) -> Option<Url> {
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
        let file = |page: &str| file_of_page(&page.parse().unwrap()).map(String::from);
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
