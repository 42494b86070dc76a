//! What servers say instead of an answer, and who says so, as errors show it.

use reqwest::Url;
use serde_json::Value;

use cobalt_core::wording::cut;

/// How much of what a server says is shown, in characters.
const MOST_SHOWN: usize = 300;

/// Host and path of an address, without user, password and query, where keys may be.
pub fn address(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path())
        }
        // One that is relative, as of a redirect.
        Err(_) => format!("`{}`", cut(url.split(['?', '#']).next().unwrap_or_default(), 80)),
    }
}

/// What the body of an error says, cut short.
pub fn message(body: &str) -> Option<String> {
    if let Some(page) = html_page(body) {
        return Some(page);
    }
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    Some(shown(vendor_message(&value).unwrap_or(body))).filter(|text| !text.is_empty())
}

/// What a vendor says in an error: `error.message` mostly, `message` (Cohere), `detail` (Voyage), and Gemini may put all
/// in a list.
pub fn vendor_message(value: &Value) -> Option<&str> {
    let value = value.get(0).unwrap_or(value);
    let places = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    places.into_iter().find_map(Value::as_str)
}

/// A page for people, by its title: `an HTML page, "Sign in"`; `None` where a text is none.
pub fn html_page(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // Letters are as many bytes in lower case, so that places are the same.
    let lower = text.to_ascii_lowercase();
    if !["<!doctype html", "<html", "<head"].iter().any(|start| lower.starts_with(start)) {
        return None;
    }
    let title = lower.find("<title").and_then(|start| {
        let start = start + lower[start..].find('>')? + 1;
        Some(shown(&text[start..start + lower[start..].find("</title")?]))
    });
    Some(match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("an HTML page, \"{title}\""),
        None => "an HTML page".to_owned(),
    })
}

/// A text of someone else on one line, cut short.
pub fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&text, MOST_SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_title() {
        let page =
            "\u{feff}\n<!DOCTYPE html>\n<html><head><TITLE lang=\"en\">Sign in\n to  GitHub</TITLE></head>";
        assert_eq!(message(page).unwrap(), "an HTML page, \"Sign in to GitHub\"");
        assert_eq!(message("<html><body>502</body></html>").unwrap(), "an HTML page");
        assert_eq!(message("<title>no page</title>").unwrap(), "<title>no page</title>");
    }

    #[test]
    fn a_text_of_someone_else_is_one_line() {
        assert_eq!(shown(" a\r\nb\t c "), "a b c");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), MOST_SHOWN + 1);
    }
}
