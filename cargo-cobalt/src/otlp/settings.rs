//! Where spans are sent, from the reporter and the `OTEL_*` variables.
//!
//! Sources: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>,
//! <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>.

use std::time::Duration;

use cobalt_core::redact::register_secret;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::http_client::Endpoint;

/// OpenTelemetry's default endpoint: a collector on this machine.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
/// The path below a base URL.
const TRACES_PATH: &str = "v1/traces";
/// OpenTelemetry's default time limit for a response.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of retries after transient failures.
const RETRIES: u32 = 3;

/// How to send spans.
#[derive(Debug)]
pub struct OtlpSettings {
    pub endpoint: Endpoint,
    /// Whether bodies are compressed.
    pub gzip: bool,
    /// The attributes of the resource.
    pub resource: Vec<(String, String)>,
}

impl OtlpSettings {
    /// From the reporter's URL, if it has one, and the variables. Errors do not repeat values of variables, which can be secret.
    pub fn new(url: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        // Those for traces take precedence.
        let option = |name: &str| {
            let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
            names.into_iter().find_map(|name| Some((get(&name)?, name)))
        };
        if let Some((protocol, name)) = option("PROTOCOL")
            && protocol.trim() != "http/protobuf"
        {
            return Err(format!("{name} is not `http/protobuf`, the only protocol that this reporter sends"));
        }
        let url = match url {
            Some(url) => traces_url(url, "its URL")?,
            None => match (get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), get("OTEL_EXPORTER_OTLP_ENDPOINT")) {
                (Some(url), _) => http_url(&url, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")?,
                (None, Some(base)) => traces_url(&base, "OTEL_EXPORTER_OTLP_ENDPOINT")?,
                (None, None) => traces_url(DEFAULT_ENDPOINT, "the default endpoint")?,
            },
        };
        let timeout = match option("TIMEOUT") {
            Some((text, name)) => {
                let milliseconds = text.trim().parse().ok().filter(|milliseconds| *milliseconds > 0);
                let wanted = || format!("{name}: expected milliseconds, such as 10000");
                Duration::from_millis(milliseconds.ok_or_else(wanted)?)
            }
            None => DEFAULT_TIMEOUT,
        };
        let gzip = match option("COMPRESSION") {
            Some((text, _)) if text.trim() == "gzip" => true,
            Some((text, name)) if text.trim() != "none" => {
                return Err(format!("{name}: expected `gzip` or `none`"));
            }
            _ => false,
        };
        let headers = headers(option("HEADERS"), gzip)?;
        let mut resource = match get("OTEL_RESOURCE_ATTRIBUTES") {
            Some(text) => self::pairs(&text, "OTEL_RESOURCE_ATTRIBUTES")?,
            None => Vec::new(),
        };
        let service = get("OTEL_SERVICE_NAME");
        if service.is_some() || resource.iter().all(|(name, _)| name != "service.name") {
            resource.retain(|(name, _)| name != "service.name");
            resource.push(("service.name".to_owned(), service.unwrap_or_else(|| "cobalt".to_owned())));
        }
        Ok(Self { endpoint: Endpoint { url, headers, timeout, retries: RETRIES }, gzip, resource })
    }
}

fn http_url(text: &str, place: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| format!("{place} is not an HTTP URL such as `{DEFAULT_ENDPOINT}`"))
}

/// The URL for traces below a base URL, unless it is one already.
fn traces_url(base: &str, place: &str) -> Result<Url, String> {
    let mut url = http_url(base, place)?;
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with(&format!("/{TRACES_PATH}")) {
        url.set_path(&format!("{path}/{TRACES_PATH}"));
    }
    Ok(url)
}

/// Parses `name=value` pairs, separated by commas and percent-encoded.
fn pairs(text: &str, variable: &str) -> Result<Vec<(String, String)>, String> {
    let decode = |text: &str| percent_decode_str(text.trim()).decode_utf8().ok().map(String::from);
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((decode(name).filter(|name| !name.is_empty())?, decode(value)?))
    };
    let wanted =
        || format!("{variable}: expected `name=value` pairs, separated by commas and percent-encoded");
    text.split(',').filter(|text| !text.trim().is_empty()).map(|text| pair(text).ok_or_else(wanted)).collect()
}

/// The headers of requests. `listed` is the value of a variable, and the variable's name.
fn headers(listed: Option<(String, String)>, gzip: bool) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let (text, variable) = listed.unwrap_or_default();
    for (name, value) in pairs(&text, &variable)? {
        register_secret(&variable, &value);
        let invalid = || format!("{variable} has a name or a value that is not valid in a header");
        let key = HeaderName::try_from(&name).map_err(|_| invalid())?;
        let mut value = HeaderValue::try_from(&value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: Option<&str>, variables: &[(&str, &str)]) -> Result<OtlpSettings, String> {
        let get = |name: &str| variables.iter().find(|(set, _)| *set == name);
        OtlpSettings::new(url, |name| get(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_base_url_gets_the_path_for_traces() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318/");
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/spans");
        for (url, variables, expected) in [
            (Some("http://c/api/public/otel"), &[endpoint][..], "http://c/api/public/otel/v1/traces"),
            (Some("http://c/v1/traces/"), &[], "http://c/v1/traces/"),
            (None, &[endpoint], "http://a:4318/v1/traces"),
            (None, &[endpoint, traces], "http://b/spans"),
            (None, &[], "http://localhost:4318/v1/traces"),
        ] {
            assert_eq!(of(url, variables).unwrap().endpoint.url.as_str(), expected);
        }
    }

    #[test]
    fn headers_and_attributes_are_decoded() {
        let settings = of(
            None,
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20cGs6c2s=, x-tenant=a"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=old,deployment.environment.name=ci"),
                ("OTEL_SERVICE_NAME", "support"),
                ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
            ],
        )
        .unwrap();
        let Endpoint { headers, timeout, .. } = &settings.endpoint;
        let read =
            ["authorization", "x-tenant", "content-encoding"].map(|name| headers[name].to_str().unwrap());
        assert_eq!((read, *timeout), (["Basic cGs6c2s=", "a", "gzip"], Duration::from_millis(2500)));
        let expected = [("deployment.environment.name", "ci"), ("service.name", "support")];
        assert_eq!(settings.resource, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0A"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=s3cret%0A"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "s3cret"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ] {
            let error = of(None, &[(name, value)]).unwrap_err();
            assert!(error.contains(name) && !error.contains("s3cret"), "{error}");
        }
    }
}
