//! Who is let in by a token: with the link once, by its cookie from then on, and programs by a header.

use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use url::form_urlencoded::{self, Serializer};

use super::refusal::Refusal;
use super::token::Token;

/// The parameter of a link that holds the token.
const PARAMETER: &str = "token";

/// What is answered to those who are not let in yet, or come by the link; `None` for the others.
pub(super) fn answer(token: &Token, request: &Request, is_api: bool) -> Option<Response> {
    let uri = request.uri();
    let is_in = token.is_in(request.headers());
    let mut parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let given = parameters.find(|(name, _)| name == PARAMETER).filter(|_| !is_api);
    // A token has no spaces: where there is one, a plus was typed as it is.
    let is_right = given.as_ref().is_some_and(|(_, given)| token.is(&given.replace(' ', "+")));
    match given {
        // The token is not to stay in the address, from where it gets into histories and bookmarks.
        Some(_) if is_right || is_in => Some(onward(uri, is_right.then(|| token.cookie()))),
        _ if is_in => None,
        _ => Some(Refusal::no_token(&without_token(uri)).answer(is_api)),
    }
}

/// Leads to the same address without the token.
fn onward(uri: &Uri, cookie: Option<String>) -> Response {
    let head = [(LOCATION, without_token(uri)), (CACHE_CONTROL, "no-store".to_owned())];
    let mut response = (StatusCode::SEE_OTHER, head).into_response();
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// An address without the token, always one of this server: with two slashes at its front it would be another's.
fn without_token(uri: &Uri) -> String {
    let mut others = Serializer::new(String::new());
    let parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    others.extend_pairs(parameters.filter(|(name, _)| name != PARAMETER));
    let path = uri.path().trim_start_matches(['/', '\\']);
    match others.finish() {
        others if others.is_empty() => format!("/{path}"),
        others => format!("/{path}?{others}"),
    }
}

#[cfg(test)]
mod tests {
    use super::without_token;

    #[test]
    fn only_the_token_is_taken_from_an_address_and_it_stays_one_of_this_server() {
        for (address, expected) in [
            ("/?token=abc", "/"),
            ("/runs?q=a%20b&token=abc&sort=name", "/runs?q=a+b&sort=name"),
            ("//evil.example/?token=abc", "/evil.example/"),
            ("/\\evil.example?token=abc", "/evil.example"),
        ] {
            let uri = address.parse().unwrap();
            assert_eq!(without_token(&uri), expected, "{address}");
        }
    }
}
