//! Where redirects lead, and what goes along: a key goes to no other server than the one that it is meant for.

use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, USER_AGENT};
use reqwest::{Method, Response, Url};

use super::Call;
use super::said::address;

/// How often a redirect is followed.
const MOST: usize = 10;

/// Which redirects of a request are followed. One by POST is only sent again where the server says that it is to stay one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// Those that stay with the origin: scheme, host and port.
    Within,
    /// All that lead to HTTP and do not leave TLS; other origins are not sent the headers for authorisation.
    Anywhere,
}

/// Whether a header holds nothing that is only for the server that it is meant for.
pub(crate) fn is_harmless(name: &HeaderName) -> bool {
    [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT].contains(name)
}

/// Where a request is, and where it was before.
#[derive(Debug)]
pub(super) struct Route<'a> {
    call: &'a Call,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Whether it has left the origin, and its headers for authorisation there.
    pub(super) has_left: bool,
    past: Vec<Url>,
}

impl<'a> Route<'a> {
    pub(super) fn new(call: &'a Call) -> Self {
        Self { call, url: call.url.clone(), headers: call.headers.clone(), has_left: false, past: Vec::new() }
    }

    /// Goes on to where an answer redirects. False where it does not, or is not followed and so is a refusal.
    pub(super) fn leads_on(&mut self, response: &Response) -> Result<bool, String> {
        let redirects = match response.status().as_u16() {
            307 | 308 => true,
            301..=303 => self.call.method == Method::GET,
            _ => false,
        };
        match response.headers().get(LOCATION) {
            Some(location) if redirects => self.go_on(&String::from_utf8_lossy(location.as_bytes())),
            _ => Ok(false),
        }
    }

    fn go_on(&mut self, location: &str) -> Result<bool, String> {
        let next = self
            .url
            .join(location)
            .map_err(|error| format!("the server redirects to no address: {error}"))?;
        let leaves = next.origin() != self.url.origin();
        if leaves && self.call.redirects == Redirects::Within {
            return Ok(false);
        }
        let to = || address(next.as_str());
        match (self.url.scheme(), next.scheme()) {
            ("https", "http") => {
                return Err(format!(
                    "the server redirects from https to http, to {}, where anybody on the way could read and change it",
                    to()
                ));
            }
            (_, "http" | "https") => {}
            (_, other) => {
                return Err(format!("the server redirects to `{other}:`, which is neither http nor https"));
            }
        }
        if self.past.len() == MOST {
            return Err(format!("the server redirects more than {MOST} times, the last time to {}", to()));
        }
        if next == self.url || self.past.contains(&next) {
            return Err(format!("the server redirects in a loop, back to {}", to()));
        }
        if leaves {
            self.has_left = true;
            let kept = self.headers.iter().filter(|(name, _)| is_harmless(name));
            self.headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        self.past.push(std::mem::replace(&mut self.url, next));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn call(url: &str, redirects: Redirects) -> Call {
        let names = ["authorization", "x-api-key", "cookie", "accept"];
        let headers = names.map(|name| (HeaderName::from_static(name), HeaderValue::from_static("value")));
        Call {
            method: Method::GET,
            url: url.parse().unwrap(),
            headers: HeaderMap::from_iter(headers),
            body: Vec::new(),
            redirects,
        }
    }

    /// Where a request ends that is redirected to these, one after another, and the headers that it has there.
    fn route(from: &str, to: &[&str]) -> Result<(String, usize), String> {
        let call = call(from, Redirects::Anywhere);
        let mut route = Route::new(&call);
        for to in to {
            assert!(route.go_on(to)?);
        }
        Ok((route.url.into(), route.headers.len()))
    }

    #[test]
    fn the_headers_stay_with_their_origin() {
        let ends = |from: &str, to: &str| route(from, &[to]).unwrap();
        assert_eq!(ends("https://a.test/x", "/y"), ("https://a.test/y".to_owned(), 4));
        assert_eq!(ends("https://a.test/x", "https://a.test:443/y"), ("https://a.test/y".to_owned(), 4));
        for other in ["https://b.test/y", "https://a.test:8443/y", "//cdn.a.test/y"] {
            assert_eq!(ends("https://a.test/x", other).1, 1, "{other}");
        }
        assert_eq!(ends("http://a.test/x", "https://a.test/x").1, 1);
    }

    #[test]
    fn headers_that_were_left_behind_do_not_come_back() {
        let back = ["https://b.test/y", "https://a.test/z"];
        assert_eq!(route("https://a.test/x", &back).unwrap(), ("https://a.test/z".to_owned(), 1));
    }

    #[test]
    fn tls_is_never_left() {
        let error = route("https://a.test/x", &["http://a.test/x?token=hidden"]).unwrap_err();
        assert_eq!(
            error,
            "the server redirects from https to http, to a.test/x, where anybody on the way could read and change it"
        );
        assert!(route("http://a.test/x", &["https://a.test/x", "http://a.test/y"]).is_err());
    }

    #[test]
    fn only_http_is_followed() {
        for to in ["file:///etc/passwd", "ftp://a.test/x", "data:text/csv,a"] {
            let error = route("http://a.test/x", &[to]).unwrap_err();
            assert!(error.ends_with(", which is neither http nor https"), "{error}");
        }
        assert!(route("http://a.test/x", &["http://"]).unwrap_err().contains("to no address"));
    }

    #[test]
    fn a_loop_and_too_many_are_told() {
        let error = route("http://a.test/x", &["/y", "/x"]).unwrap_err();
        assert_eq!(error, "the server redirects in a loop, back to a.test/x");
        let many: Vec<_> = (0..11).map(|n| format!("/{n}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(route("http://a.test/x", &many[..10]).is_ok());
        let error = route("http://a.test/x", &many).unwrap_err();
        assert_eq!(error, "the server redirects more than 10 times, the last time to a.test/10");
    }

    #[test]
    fn a_request_that_is_to_stay_with_its_origin_goes_to_no_other() {
        let call = call("https://a.test/x", Redirects::Within);
        let mut route = Route::new(&call);
        assert_eq!(route.go_on("https://b.test/x"), Ok(false));
        assert_eq!(route.go_on("http://a.test/x"), Ok(false));
        assert_eq!(route.go_on("/y"), Ok(true));
    }
}
