//! What to do where a URL gives no data set.

use reqwest::Url as Address;

use super::{Url, Value};
use crate::dataset::remote::builder::FetchError;

/// A refusal with what to do about it.
pub fn advised(error: FetchError, source: &Url) -> FetchError {
    let FetchError::Refused { status, message } = error else { return error };
    let variables: Vec<_> = source.headers.iter().filter_map(|header| variable(&header.value)).collect();
    let advice = match status {
        401 | 403 if !variables.is_empty() => {
            format!("what {} holds may not read this: check it, and its rights", variables.join(" and "))
        }
        401 | 403 if source.has_account() => "check the user and the password of the address".to_owned(),
        401 | 403 if !source.headers.is_empty() => {
            "check the headers, and the rights that they give".to_owned()
        }
        401 | 403 => {
            "it may ask for a key: give one by `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`".to_owned()
        }
        404 | 410 => {
            "check the address; a private file may also be hidden so from who gives no key".to_owned()
        }
        _ => return FetchError::Refused { status, message },
    };
    let message = if message.is_empty() { advice } else { format!("{message}; {advice}") };
    FetchError::Refused { status, message }
}

fn variable(value: &Value) -> Option<&str> {
    match value {
        Value::Written(_) => None,
        Value::Variable(name) | Value::Bearer(name) => Some(name),
    }
}

/// What to do where a page came that people look at.
pub fn on_page(asked: &Address) -> String {
    match file_of_page(asked) {
        Some(file) => format!("that page shows the file: the file itself is at {file}"),
        None => "it may want a login: give a key by `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`, or correct the address"
            .to_owned(),
    }
}

/// Where the file is that a page of Hugging Face, GitHub or GitLab shows; without a query, where a key may be.
fn file_of_page(page: &Address) -> Option<Address> {
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
