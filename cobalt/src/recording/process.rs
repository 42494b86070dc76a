//! Leads the clients of this process to the gateway, by the variables from which they read base URLs.
//!
//! A running process cannot change its environment safely, so it starts itself again with the variables, and with what it needs to be
//! the gateway that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, TcpListener};

use cobalt_core::recordings::{RecordingFolder, UNATTRIBUTED, additions_path};
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::route::{PROVIDERS, ProviderRoute};
use super::start::{GatewayStart, bind, current_upstreams, random_token, set_start};

/// The variable in which a process tells itself which gateway it is.
pub const GATEWAY: &str = "COBALT_GATEWAY";

/// The value of the variable.
#[derive(Debug, Serialize, Deserialize)]
struct Handover {
    /// The process, where it keeps its number.
    process: Option<u32>,
    port: u16,
    token: String,
    upstreams: BTreeMap<String, String>,
}

/// The value of a key's variable if it is not set and nothing is sent to its provider.
pub const NO_KEY: &str = "replayed-without-a-key";

/// Which clients of this process are led to the gateway.
#[derive(Clone, Copy, Debug)]
pub struct LedClients {
    /// Those of models.
    pub models: bool,
    /// OpenTelemetry's exporters.
    pub exporters: bool,
}

/// The variables with which this process has to start itself again; none if it was started with them. `replayed` are the recordings
/// from which alone it answers: clients of providers in them may need a key even to be built.
///
/// # Errors
///
/// No port is free.
pub fn missing_variables(
    replayed: &[RecordingFolder],
    led: LedClients,
) -> Result<BTreeMap<String, String>, String> {
    let handover = std::env::var(GATEWAY).ok().and_then(|text| serde_json::from_str::<Handover>(&text).ok());
    let (upstreams, ours) = match handover {
        Some(handover) => (handover.upstreams.clone(), Some(handover).filter(is_of_this_process)),
        None => (current_upstreams(), None),
    };
    if let Some(Handover { port, token, .. }) = ours
        && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
    {
        let start = GatewayStart { listener: Some(listener), token: Some(token), upstreams };
        set_start(start);
        return Ok(BTreeMap::new());
    }
    // The port is free again when this process has been replaced. Should another process take it first, the next one is tried.
    let port = bind().and_then(|listener| listener.local_addr());
    let port = port.map_err(|error| format!("the gateway for model traffic finds no port: {error}"))?.port();
    let token = random_token();
    let mut variables = BTreeMap::new();
    let base = format!("http://{}:{port}/{token}", Ipv4Addr::LOCALHOST);
    for provider in PROVIDERS.iter().filter(|_| led.models) {
        for name in led_variables(provider, &upstreams) {
            variables.insert(name.to_owned(), format!("{base}/{}", provider.path()));
        }
    }
    if led.exporters {
        variables.extend(exporter_variables(&base, |name| std::env::var(name).ok()));
    }
    variables.extend(proxy_exceptions());
    for name in missing_keys(if led.models { replayed } else { &[] }) {
        variables.insert(name.to_owned(), NO_KEY.to_owned());
    }
    let process = cfg!(unix).then(std::process::id);
    let handover = Handover { process, port, token, upstreams };
    let handover = serde_json::to_string(&handover).map_err(|error| error.to_string())?;
    variables.insert(GATEWAY.to_owned(), handover);
    Ok(variables)
}

/// Whether a handover is for this process, and not for one that has started this one.
fn is_of_this_process(handover: &Handover) -> bool {
    handover.process.is_none_or(|process| process == std::process::id())
}

/// The variables of a provider that lead to the gateway.
fn led_variables<'a>(
    provider: &'a ProviderRoute,
    upstreams: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'static str> + 'a {
    provider
        .all_variables()
        .filter(|(name, always)| *always || upstreams.contains_key(*name))
        .map(|(name, _)| name)
}

/// The variables that lead OpenTelemetry's exporters of spans to the gateway. Those of metrics and logs stay where they are.
fn exporter_variables(base: &str, variable: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let (endpoint, protocol) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL");
    let (of_traces, protocol_of_traces) =
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
    let mut variables = BTreeMap::from([(of_traces, format!("{base}/otlp/v1/traces"))]);
    if !is_set(endpoint) {
        variables.insert(endpoint, format!("{base}/otlp"));
    }
    let used = [protocol_of_traces, protocol].into_iter().find(|name| is_set(name));
    match used.map(|name| (name, variable(name).unwrap_or_default())) {
        None => drop(variables.insert(protocol, "http/protobuf".to_owned())),
        Some((_, used)) if used.starts_with("http/") => {}
        Some(_) => drop(variables.insert(protocol_of_traces, "http/protobuf".to_owned())),
    }
    // Batch processors otherwise export after five seconds, when the item has ended.
    let delay = "OTEL_BSP_SCHEDULE_DELAY";
    if !is_set(delay) {
        variables.insert(delay, "200".to_owned());
    }
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The variables that keep clients from asking a proxy for the gateway.
fn proxy_exceptions() -> Vec<(String, String)> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if !["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].iter().any(|name| set(name).is_some()) {
        return Vec::new();
    }
    let own = Ipv4Addr::LOCALHOST.to_string();
    let exceptions = |name: &str| match set(name) {
        Some(hosts) if hosts == "*" || hosts.split(',').any(|host| host.trim() == own) => hosts,
        Some(hosts) => format!("{hosts},{own}"),
        None => own.clone(),
    };
    // Clients differ in which of the two they read; most prefer the lower case.
    let current = if set("no_proxy").is_some() { "no_proxy" } else { "NO_PROXY" };
    ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), exceptions(current))).to_vec()
}

/// The variables of keys that are not set, of the providers in recordings.
fn missing_keys(replayed: &[RecordingFolder]) -> Vec<&'static str> {
    let is_missing = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let mut wanted: Vec<_> = PROVIDERS
        .iter()
        .filter(|provider| !provider.keys.is_empty() && provider.keys.iter().all(|name| is_missing(name)))
        .collect();
    let mut missing = Vec::new();
    let roots: BTreeSet<_> = replayed.iter().filter_map(|folder| folder.path().parent()).collect();
    let unattributed = roots.into_iter().map(|root| RecordingFolder::new(root).cassette(UNATTRIBUTED));
    let cassettes = replayed.iter().flat_map(|folder| folder.cassettes().unwrap_or_default());
    for path in cassettes.chain(unattributed) {
        if wanted.is_empty() {
            break;
        }
        // The whole file need not be read as JSON for that.
        let texts = [additions_path(&path), path].map(|path| std::fs::read(path).unwrap_or_default());
        wanted.retain(|provider| {
            let paths = ["", " "].map(|space| format!("\"path\":{space}\"{}/", provider.name));
            let mut found = texts.iter().zip(&paths).map(|(text, path)| memmem::find(text, path.as_bytes()));
            let is_used = found.any(|found| found.is_some());
            missing.extend(provider.keys.first().filter(|_| is_used));
            !is_used
        });
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_in_the_recordings_has_a_key_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path().join("desk"));
        let missing = || missing_keys(std::slice::from_ref(&folder));
        assert!(missing().is_empty());
        std::fs::create_dir(folder.path()).unwrap();
        std::fs::write(folder.cassette("one"), "{\n  \"path\": \"groq/chat/completions\"\n}").unwrap();
        assert_eq!(missing(), ["GROQ_API_KEY"]);
        let unattributed = RecordingFolder::new(dir.path()).cassette(UNATTRIBUTED);
        std::fs::write(unattributed, "{\n  \"path\": \"voyage/embeddings\"\n}").unwrap();
        assert_eq!(missing(), ["GROQ_API_KEY", "VOYAGE_API_KEY"]);
    }

    #[test]
    fn exporters_of_spans_lead_to_the_gateway_with_a_protocol_that_it_reads() {
        let with = |set: &[(&str, &str)]| {
            let get = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let of_otlp = |name: String| name.replace("OTEL_EXPORTER_OTLP_", "");
            let variables = exporter_variables("http://gateway/t", get).into_iter();
            variables.map(|(name, value)| format!("{}={value}", of_otlp(name))).collect::<Vec<_>>()
        };
        let (delay, traces) =
            ("OTEL_BSP_SCHEDULE_DELAY=200", "TRACES_ENDPOINT=http://gateway/t/otlp/v1/traces");
        let own = [
            "OTEL_BSP_SCHEDULE_DELAY=200",
            "ENDPOINT=http://gateway/t/otlp",
            "PROTOCOL=http/protobuf",
            traces,
        ];
        assert_eq!(with(&[]), own);
        let set = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://mine"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        assert_eq!(with(&set), [delay, traces, "TRACES_PROTOCOL=http/protobuf"]);
        assert_eq!(with(&[set[0], ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")]), [delay, traces]);
    }

    #[test]
    fn unset_variables_lead_to_the_gateway() {
        let led_with = |set: &[&str]| {
            let set = set.iter().map(|name| ((*name).to_owned(), "http://mine".to_owned())).collect();
            PROVIDERS.iter().flat_map(|provider| led_variables(provider, &set)).collect::<Vec<_>>()
        };
        assert!(led_with(&["AZURE_ENDPOINT", "ANTHROPIC_API_URL"]).contains(&"AZURE_ENDPOINT"));
        let led = led_with(&[]);
        for name in
            ["OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "GROQ_BASE_URL", "OLLAMA_HOST"]
        {
            assert!(led.contains(&name), "{led:?}");
        }
        assert!(!led.contains(&"ANTHROPIC_API_URL") && !led.contains(&"AZURE_OPENAI_ENDPOINT"), "{led:?}");
    }
}
