//! The names that the server is asked by: with another one, a page of another server would pass for one of this.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::uri::Authority;

use super::refusal::Refusal;

/// The relation of the page that asks to this server, as browsers tell it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The port that browsers leave out.
const USUAL_PORT: u16 = 80;

/// The names that the server may be asked by.
#[derive(Debug)]
pub(super) enum Names {
    /// These, each with the port; the first is the one to be told.
    Known(Vec<String>),
    /// Any: something else tells who may ask.
    Any,
}

impl Names {
    /// Those of a server that listens there, for this machine alone.
    pub(super) fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
        let mut names: Vec<_> = std::iter::once(address.to_string()).chain(hosts).collect();
        if port == USUAL_PORT {
            let bare: Vec<_> =
                names.iter().filter_map(|name| Some(name.rsplit_once(':')?.0.to_owned())).collect();
            names.extend(bare);
        }
        Self::Known(names)
    }

    /// Refuses a request by another name, and one of a page of another server.
    pub(super) fn check(&self, request: &Request, is_api: bool) -> Result<(), Refusal> {
        let host = self.host(request)?;
        let header = |name| request.headers().get(name).map(|value| value.to_str().unwrap_or_default());
        let is_own = |origin: &str| {
            let (scheme, name) = origin.split_once("://").unwrap_or_default();
            matches!(scheme, "http" | "https") && name.eq_ignore_ascii_case(host)
        };
        // By its address one may come from anywhere to a page, which then asks by itself.
        let is_near = |site: &str| !is_api || matches!(site, "same-origin" | "none");
        match header(ORIGIN).is_none_or(is_own) && header(FETCH_SITE).is_none_or(is_near) {
            true => Ok(()),
            false => {
                Err(Refusal::forbidden("pages of other servers may not ask this one; open its own page"))
            }
        }
    }

    /// The name that a request asks by.
    fn host<'a>(&self, request: &'a Request) -> Result<&'a str, Refusal> {
        let mut hosts = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::bad_request("the header `Host` is to name the server, once"));
        };
        // A proxy is asked by a whole address, which then counts before the header.
        let is_other = |authority: &Authority| !authority.as_str().eq_ignore_ascii_case(host);
        if request.uri().authority().is_some_and(is_other) {
            return Err(Refusal::bad_request("the address and the header `Host` name two servers"));
        }
        match self {
            Self::Any if host.parse::<Authority>().is_ok() => Ok(host),
            Self::Any => Err(Refusal::bad_request("the header `Host` names no server")),
            Self::Known(names) if names.iter().any(|name| name.eq_ignore_ascii_case(host)) => Ok(host),
            Self::Known(names) => Err(Refusal::forbidden(format!(
                "`{host}` is no name of this server; open http://{}, by a tunnel from the same port",
                names[0]
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request {
        let builder = axum::http::Request::builder().uri("/api/runs");
        let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
        builder.body(Body::empty()).unwrap()
    }

    fn passes(names: &Names, headers: &[(&str, &str)]) -> bool {
        names.check(&request(headers), true).is_ok()
    }

    #[test]
    fn the_port_is_part_of_a_name_unless_it_is_that_of_the_web() {
        let names = Names::of("127.0.0.1:4000".parse().unwrap());
        for known in ["localhost:4000", "LocalHost:4000", "127.0.0.1:4000", "[::1]:4000"] {
            assert!(passes(&names, &[("host", known)]), "{known}");
        }
        for other in [
            "localhost",
            "localhost:4001",
            "127.0.0.1",
            "evil.example:4000",
            "localhost.evil.example:4000",
            "",
        ] {
            assert!(!passes(&names, &[("host", other)]), "{other}");
        }
        let names = Names::of("127.0.0.1:80".parse().unwrap());
        assert!(passes(&names, &[("host", "localhost")]) && passes(&names, &[("host", "[::1]:80")]));
        assert!(!passes(&names, &[("host", "evil.example")]));
    }

    #[test]
    fn a_page_of_another_server_is_refused_whoever_it_says_it_is() {
        let names = Names::of("127.0.0.1:4000".parse().unwrap());
        let host = ("host", "127.0.0.1:4000");
        assert!(passes(
            &names,
            &[host, ("origin", "http://127.0.0.1:4000"), ("sec-fetch-site", "same-origin")]
        ));
        assert!(passes(&names, &[host, ("sec-fetch-site", "none")]));
        for origin in ["null", "", "http://evil.example", "http://127.0.0.1:5173", "file://127.0.0.1:4000"] {
            assert!(!passes(&names, &[host, ("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site", "strange"] {
            assert!(!passes(&names, &[host, ("sec-fetch-site", site)]), "{site}");
            assert!(
                names.check(&request(&[host, ("sec-fetch-site", site)]), false).is_ok(),
                "a link to a page"
            );
        }
    }

    #[test]
    fn two_names_are_none() {
        let names = Names::of("127.0.0.1:4000".parse().unwrap());
        assert!(!passes(&names, &[]));
        assert!(!passes(&names, &[("host", "127.0.0.1:4000"), ("host", "evil.example")]));
        let mut request = request(&[("host", "127.0.0.1:4000")]);
        *request.uri_mut() = "http://evil.example/api/runs".parse().unwrap();
        assert!(names.check(&request, true).is_err());
    }
}
