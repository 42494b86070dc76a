//! Formats error responses for messages.

use reqwest::Url;
use serde_json::Value;

use cobalt_core::wording::truncate;

/// How many characters of a server's message are displayed.
const MAX_CHARS: usize = 300;

/// Host and path of a URL, without user, password and query, which may contain keys.
pub fn display_url(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path())
        }
        // A relative URL, as in redirects.
        Err(_) => format!("`{}`", truncate(url.split(['?', '#']).next().unwrap_or_default(), 80)),
    }
}

/// The message in an error body, truncated.
pub fn error_message(body: &str) -> Option<String> {
    if let Some(page) = describe_html_page(body) {
        return Some(page);
    }
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    Some(one_line(vendor_message(&value).unwrap_or(body))).filter(|text| !text.is_empty())
}

/// The message in a vendor's error: usually `error.message`, else `message` (Cohere) or `detail` (Voyage); Gemini may wrap it
/// in a list.
pub fn vendor_message(value: &Value) -> Option<&str> {
    let value = value.get(0).unwrap_or(value);
    let places = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    places.into_iter().find_map(Value::as_str)
}

/// Describes an HTML page by its title: `an HTML page, "Sign in"`; `None` if the text is not HTML.
pub fn describe_html_page(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // ASCII lowercasing preserves byte offsets.
    let lower = text.to_ascii_lowercase();
    if !["<!doctype html", "<html", "<head"].iter().any(|start| lower.starts_with(start)) {
        return None;
    }
    let title = lower.find("<title").and_then(|start| {
        let start = start + lower[start..].find('>')? + 1;
        Some(one_line(&text[start..start + lower[start..].find("</title")?]))
    });
    Some(match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("an HTML page, \"{title}\""),
        None => "an HTML page".to_owned(),
    })
}

/// A server's text on one line, truncated.
pub fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate(&text, MAX_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_title() {
        let page =
            "\u{feff}\n<!DOCTYPE html>\n<html><head><TITLE lang=\"en\">Sign in\n to  GitHub</TITLE></head>";
        assert_eq!(error_message(page).unwrap(), "an HTML page, \"Sign in to GitHub\"");
        assert_eq!(error_message("<html><body>502</body></html>").unwrap(), "an HTML page");
        assert_eq!(error_message("<title>no page</title>").unwrap(), "<title>no page</title>");
    }

    #[test]
    fn a_text_of_someone_else_is_one_line() {
        assert_eq!(one_line(" a\r\nb\t c "), "a b c");
        assert_eq!(one_line(&"x".repeat(1000)).chars().count(), MAX_CHARS + 1);
    }
}
