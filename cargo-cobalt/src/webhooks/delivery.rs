//! A request that is ready to be sent: its address, its headers, and its body with the signature.

use std::time::{Duration, UNIX_EPOCH};

use cobalt::hash::hex;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

use super::body::{Body, EVENT};

/// A request that is ready to be sent.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) url: Url,
    /// The host, and the port if one is written: what of the address is no secret.
    pub(super) host: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

impl Delivery {
    pub(super) fn new(
        url: &str,
        secret: Option<&str>,
        body: &Body<'_>,
        timeout: Duration,
        retries: u32,
    ) -> Result<Self, String> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // It is not repeated, as it may be a secret.
        let url = url.ok_or("its address is none of HTTP; write it like `https://example.com/hook`")?;
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let seconds = body.timestamp.time().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let text = serde_json::to_vec(body).map_err(|error| format!("its body cannot be made: {error}"))?;
        let signature = secret.map(|secret| signature(secret, seconds, &text));
        let headers = headers(&body.delivery, seconds, signature)?;
        Ok(Self { url, host, headers, body: text, timeout, retries })
    }
}

fn headers(delivery: &str, seconds: u64, signature: Option<String>) -> Result<HeaderMap, String> {
    let value = |text: String| HeaderValue::try_from(text).map_err(|error| error.to_string());
    let mut headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("x-cobalt-event"), HeaderValue::from_static(EVENT)),
        (HeaderName::from_static("x-cobalt-delivery"), value(delivery.to_owned())?),
        (HeaderName::from_static("x-cobalt-timestamp"), value(seconds.to_string())?),
    ]);
    if let Some(signature) = signature {
        headers.insert("x-cobalt-signature-256", value(signature)?);
    }
    Ok(headers)
}

/// The signature of a body: HMAC-SHA-256 over the time in seconds, a full stop, and the body.
///
/// The time is signed, too, so that a request that somebody has recorded is not taken for a new one.
fn signature(secret: &str, seconds: u64, body: &[u8]) -> String {
    let code = hmac(secret.as_bytes(), &[format!("{seconds}.").as_bytes(), body]);
    format!("sha256={}", hex(&code))
}

/// HMAC-SHA-256 over parts of a text.
fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length is taken");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases 1, 2 and 7 of RFC 4231: key, text, HMAC-SHA-256.
    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let long = "This is a test using a larger than block-size key and a larger than block-size data. The key \
                    needs to be hashed before being used by the HMAC algorithm.";
        let cases: [(&[u8], &[u8], &str); 3] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                long.as_bytes(),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (key, text, expected) in cases {
            assert_eq!(hex(&hmac(key, &[text])), expected);
        }
    }

    #[test]
    fn time_and_body_are_signed() {
        let whole = hmac(b"key", &[b"1770301800.{\"schema\":1}"]);
        assert_eq!(signature("key", 1_770_301_800, b"{\"schema\":1}"), format!("sha256={}", hex(&whole)));
        for (seconds, body) in [(1_770_301_801, "{\"schema\":1}"), (1_770_301_800, "{\"schema\":2}")] {
            assert_ne!(
                signature("key", seconds, body.as_bytes()),
                signature("key", 1_770_301_800, b"{\"schema\":1}")
            );
        }
    }
}
