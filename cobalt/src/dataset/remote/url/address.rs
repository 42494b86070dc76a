//! The URL of a dataset: how it is sent, displayed and identified.

use percent_encoding::percent_decode_str;
use reqwest::Url;

use cobalt_core::redact::{REDACTED, redacted};
use cobalt_core::wording::truncate;

/// How many characters of an invalid URL are displayed.
const MOST_SHOWN: usize = 80;

/// A valid URL.
#[derive(Debug)]
pub struct ParsedUrl {
    /// The URL without user, password and fragment.
    pub(super) url: Url,
    /// User and password, percent-decoded.
    pub(super) account: Option<(String, String)>,
}

impl ParsedUrl {
    /// Parses a URL; the error says what is expected.
    pub fn parse(written: &str) -> Result<Self, String> {
        let problem = |problem: &str| {
            format!(
                "`{}` {problem}; expected a URL such as https://host/path/data.jsonl",
                display_label(written)
            )
        };
        let mut url = Url::parse(written).map_err(|error| match error.to_string().as_str() {
            "relative URL without a base" => problem("is not a URL (for a file, use `Dataset::from_file`)"),
            other => problem(&format!("is not a URL ({other})")),
        })?;
        match url.scheme() {
            "http" | "https" => {}
            "file" => return Err(problem("is a file (use `Dataset::from_file` with its path)")),
            other => {
                return Err(problem(&format!("starts with `{other}:`, which is neither http nor https")));
            }
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let account = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
        strip_account(&mut url);
        url.set_fragment(None);
        Ok(Self {
            url,
            account: Some(account).filter(|(user, password)| !(user.is_empty() && password.is_empty())),
        })
    }
}

/// A URL for display: without user, password, query and fragment.
pub fn display_label(written: &str) -> String {
    match Url::parse(written).ok().filter(Url::has_host) {
        Some(mut url) => {
            strip_account(&mut url);
            url.set_query(None);
            url.set_fragment(None);
            url.into()
        }
        None => {
            // The text before the host may be a password, with any character in it.
            let shown = match written.rsplit_once('@') {
                Some((account, host)) => {
                    let end = account.find("://").map_or(0, |end| end + 3);
                    format!("{}{REDACTED}@{host}", &account[..end])
                }
                None => written.to_owned(),
            };
            let end = shown.find(['?', '#']).unwrap_or(shown.len());
            truncate(&redacted(shown[..end].trim()), MOST_SHOWN).into_owned()
        }
    }
}

/// What identifies a URL: everything except the password, and the fragment, which no server sees.
pub fn identity(written: &str) -> String {
    match Url::parse(written) {
        Ok(mut url) => {
            let _ = url.set_password(None);
            url.set_fragment(None);
            url.into()
        }
        Err(_) => display_label(written),
    }
}

/// Removes user and password. This fails only for a URL without a host, which has neither.
fn strip_account(url: &mut Url) {
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_a_secret() {
        let shown = display_label("https://user:hidden@data.test:8443/a/b%20c.csv?token=hidden#part");
        assert_eq!(shown, "https://data.test:8443/a/b%20c.csv");
        assert_eq!(display_label("data/items.csv?x=hidden"), "data/items.csv");
        assert_eq!(display_label("htp://user:hidden@"), "htp://[redacted]@");
        assert_eq!(display_label("https://user:hid#den@host/x?y=hidden"), "https://[redacted]@host/x");
    }

    #[test]
    fn addresses_are_told_apart_by_their_query_and_not_by_their_password() {
        let of = identity;
        assert_ne!(of("https://a.test/x?split=train"), of("https://a.test/x?split=test"));
        assert_ne!(of("https://anna@a.test/x"), of("https://ben@a.test/x"));
        assert_eq!(of("https://anna:one@a.test/x"), of("https://anna:two@a.test/x#part"));
        assert!(!of("https://anna:hidden@a.test/x").contains("hidden"));
    }

    #[test]
    fn user_and_password_are_taken_out_of_the_address() {
        let address = ParsedUrl::parse("https://an%40na:pa%3Ass@a.test/x?y=1#z").unwrap();
        assert_eq!(address.url.as_str(), "https://a.test/x?y=1");
        assert_eq!(address.account, Some(("an@na".to_owned(), "pa:ss".to_owned())));
        assert_eq!(ParsedUrl::parse("https://a.test/x").unwrap().account, None);
    }

    #[test]
    fn what_is_no_address_is_told_with_what_to_write() {
        let fails = |written: &str| ParsedUrl::parse(written).unwrap_err();
        assert_eq!(
            fails("data/items.csv"),
            "`data/items.csv` is not a URL (for a file, use `Dataset::from_file`); expected a URL such as \
             https://host/path/data.jsonl"
        );
        assert!(fails("ftp://a.test/x").starts_with("`ftp://a.test/x` starts with `ftp:`, which is neither"));
        assert!(fails("file:///etc/hosts").contains("use `Dataset::from_file` with its path"));
        assert!(fails("https://").starts_with("`https://` is not a URL (empty host)"));
        assert!(fails("hf://datasets/acme/x").contains("starts with `hf:`"));
        assert!(!fails("htp://u:hidden@a.test/?k=hidden").contains("hidden"));
    }
}
